import { readFileSync } from "node:fs";

/**
 * Known ways to make bash run something that the text does not plainly show, or to hand over arguments that are hard to
 * tell, with NAME for a stand-in. Kept as lines of shell, since quoting them again for TypeScript would hide them.
 */
export const tricks: readonly string[] = lines("tricks.txt");

function lines(file: string): string[] {
  return readFileSync(new URL(file, import.meta.url), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => (line.startsWith("json:") ? JSON.parse(line.slice("json:".length)) : line));
}
