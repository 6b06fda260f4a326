import { readFileSync } from "node:fs";

/**
 * Known ways to make bash run something that the text does not plainly show, or to hand over arguments that are hard to
 * tell, with NAME for a stand-in. Kept as lines of shell, since quoting them again for TypeScript would hide them.
 */
export const tricks: readonly string[] = readFileSync(new URL("differential-tricks.txt", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => (line.startsWith("json:") ? JSON.parse(line.slice("json:".length)) : line));
