import { visible } from "./visible.ts";

const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** An argv as a person would type it, or shell text as it was given; always one visible line. */
export function commandLine(command: string, args: readonly string[] | null): string {
  return visible(args === null ? command : [command, ...args].map(quote).join(" "));
}

function quote(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
