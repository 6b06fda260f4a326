import { visible } from "./visible.ts";

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

function wrap(text: string, room: number): string[] {
  const lines: string[] = [];
  for (let left = text; left.length > 0 || lines.length === 0; ) {
    const space = left.length > room ? left.lastIndexOf(" ", room) : -1;
    const end = left.length <= room ? left.length : space > 0 ? space : room;
    lines.push(left.slice(0, end));
    left = left.slice(end).trimStart();
  }
  return lines;
}
