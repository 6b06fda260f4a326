import type { Span } from "../../../src/core/facts.ts";

export interface Mark extends Span {
  /** One or more CSS classes: `risky`, `hidden-char`, `unknown`. */
  kind: string;
  why?: string;
}

interface Stretch {
  text: string;
  kinds: string[];
  why: string | undefined;
}

/** Splits the text at the start and end of every mark. Marks may overlap and may extend beyond the text. */
export function stretches(text: string, marks: readonly Mark[]): Stretch[] {
  const inside = marks
    .map((mark) => ({ ...mark, start: Math.max(0, mark.start), end: Math.min(text.length, mark.end) }))
    .filter(({ start, end }) => end > start);
  const cuts = [...new Set([0, text.length, ...inside.flatMap(({ start, end }) => [start, end])])].sort(
    (a, b) => a - b,
  );
  return cuts.slice(0, -1).map((start, index) => {
    const end = cuts[index + 1] as number;
    const here = inside.filter((mark) => mark.start <= start && mark.end >= end);
    return {
      text: text.slice(start, end),
      kinds: [...new Set(here.map(({ kind }) => kind))],
      why: here.find(({ why }) => why !== undefined)?.why,
    };
  });
}
