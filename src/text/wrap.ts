import { graphemesOf } from "./graphemes.ts";
import { displayWidth } from "./width.ts";

const PLAIN = /^[\x20-\x7e]*$/;

/**
 * Lines of at most `room` cells, broken at spaces where there are any. Nothing is cut. By cells, not characters: a line
 * that is wider than it seems would go on at a terminal's left edge, where it could pass for another one (promise 2).
 */
export function wrap(text: string, room: number): string[] {
  const lines: string[] = [];
  let left = text;
  for (let fits = fitting(left, room); fits < left.length; fits = fitting(left, room)) {
    const space = left.lastIndexOf(" ", fits);
    const end = space > 0 ? space : fits;
    lines.push(left.slice(0, end));
    left = left.slice(end).trimStart();
  }
  lines.push(left);
  return lines;
}

/** How many characters of the text fit, at least one. Looks at no more of it than could: a text may be long. */
function fitting(text: string, room: number): number {
  const near = text.slice(0, room + 1);
  if (PLAIN.test(near)) return Math.min(text.length, room);
  let cells = 0;
  for (const { segment, index } of graphemesOf(near)) {
    cells += displayWidth(segment);
    if (cells > room && index > 0) return index;
  }
  return near.length;
}
