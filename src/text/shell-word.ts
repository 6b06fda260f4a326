import { NAME_LENGTH } from "../core/output-limits.ts";
import { visible } from "./visible.ts";

const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** A name that a caller chose, fit for a message: on one visible line and of bounded length (promise 6). */
export function shownName(name: string): string {
  const start = visible(name.slice(0, NAME_LENGTH));
  return name.length > NAME_LENGTH ? `${start}…` : start;
}

/** The same as a word that can be pasted into a shell. */
export function shellWord(name: string): string {
  const shown = shownName(name);
  return PLAIN_WORD.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`;
}
