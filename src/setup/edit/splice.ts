/** A replacement of `text.slice(start, end)`. */
export interface Splice {
  start: number;
  end: number;
  text: string;
}

/** Applies replacements, which must not overlap. Insertions at the same offset are applied in their order. */
export function applySplices(text: string, splices: readonly Splice[]): string {
  const ordered = splices
    .map((splice, index) => ({ splice, index }))
    .sort((a, b) => a.splice.start - b.splice.start || a.index - b.index)
    .map(({ splice }) => splice);
  let out = "";
  let at = 0;
  for (const { start, end, text: added } of ordered) {
    out += text.slice(at, start) + added;
    at = end;
  }
  return out + text.slice(at);
}

/** Returns the offset at which the line of an offset starts. */
export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** Returns the white space at the beginning of the line of an offset. */
export function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset), offset))?.[0] ?? "";
}

/** Returns the line break that a text uses. */
export function lineBreakOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}
