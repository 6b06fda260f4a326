import { NAME_LENGTH } from "../core/output-limits.ts";
import { visible } from "./visible.ts";

const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** An argv as a person would type it, or shell text as it was given; always one visible line. */
export function commandLine(command: string, args: readonly string[] | null): string {
  return visible(args === null ? command : [command, ...args].map(quote).join(" "));
}

export function quote(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A name that a caller chose, fit for a message: on one visible line and of bounded length (promise 6). */
export function shownName(name: string): string {
  const start = visible(name.slice(0, NAME_LENGTH));
  return name.length > NAME_LENGTH ? `${start}…` : start;
}

/** The same as a word that can be pasted into a shell. */
export function quotedName(name: string): string {
  return quote(shownName(name));
}
