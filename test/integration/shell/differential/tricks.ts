import { readFileSync } from "node:fs";

/**
 * Known ways to make bash run a command that the text does not plainly show, or to pass arguments that are hard to
 * determine. NAME is replaced with the name of a stand-in program. The file has lines of shell, because quoting them
 * for TypeScript would obscure them.
 */
export const tricks: readonly string[] = lines("tricks.txt");

function lines(file: string): string[] {
  return readFileSync(new URL(file, import.meta.url), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => (line.startsWith("json:") ? JSON.parse(line.slice("json:".length)) : line));
}
