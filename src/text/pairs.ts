import { visible } from "./visible.ts";
import { wrap } from "./wrap.ts";

export type Pair = [label: string, value: string];

/** One `label  value` line each; a long value goes on below itself. Nothing is cut. */
export function alignedPairs(pairs: Pair[], width: number): string {
  const column = Math.max(...pairs.map(([label]) => label.length)) + 2;
  const room = Math.max(20, width - column);
  return pairs
    .map(([label, value]) => label.padEnd(column) + wrap(visible(value), room).join(`\n${" ".repeat(column)}`))
    .map((line) => `${line}\n`)
    .join("");
}

export function tabbedPairs(pairs: Pair[]): string {
  return pairs.map(([label, value]) => `${label}\t${visible(value)}\n`).join("");
}
