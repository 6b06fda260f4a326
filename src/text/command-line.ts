import { NAME_LENGTH } from "../text/output-limits.ts";
import { visible } from "./visible.ts";

const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** Returns an argv with shell quoting, or shell text unchanged, as one visible line. */
export function commandLine(command: string, args: readonly string[] | null): string {
  return visible(args === null ? command : [command, ...args].map(quote).join(" "));
}

export function quote(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Returns a name from a request for use in a message: one visible line of bounded length (invariant 6). */
export function shownName(name: string): string {
  const start = visible(name.slice(0, NAME_LENGTH));
  return name.length > NAME_LENGTH ? `${start}…` : start;
}

/** Like `shownName`, quoted for the shell. */
export function quotedName(name: string): string {
  return quote(shownName(name));
}
