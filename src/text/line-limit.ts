/** Back to a line's beginning costs at most this share of what could be kept; a longer line is cut inside. */
const MOST_GIVEN_UP = 0.5;

/** Where the first `lines` lines before `limit` end; the limit itself where a giant line would cost too much. */
export function lineEnd(text: string, limit: number, lines: number): number {
  const end = afterLines(text, lines, limit);
  if (end < limit || end === text.length || text[end - 1] === "\n") return end;
  const boundary = end === 0 ? 0 : text.lastIndexOf("\n", end - 1) + 1;
  return boundary >= end * (1 - MOST_GIVEN_UP) ? boundary : end;
}

/** Where the last `lines` lines from `limit` on begin; the limit itself where a giant line would cost too much. */
export function lineStart(text: string, limit: number, lines: number): number {
  const start = beforeLines(text, lines, limit);
  if (start > limit || start === 0 || text[start - 1] === "\n") return start;
  const feed = text.indexOf("\n", start);
  const boundary = feed === -1 ? text.length : feed + 1;
  return boundary - start <= (text.length - start) * MOST_GIVEN_UP ? boundary : start;
}

/** Whether there are at most so many. What follows the last line feed is a line too. */
export function linesWithin(text: string, lines: number): boolean {
  return afterLines(text, lines, text.length) === text.length;
}

function afterLines(text: string, lines: number, limit: number): number {
  if (lines >= limit) return limit;
  let at = 0;
  for (let line = 0; line < lines && at < limit; line++) {
    const feed = text.indexOf("\n", at);
    at = feed === -1 || feed >= limit ? limit : feed + 1;
  }
  return at;
}

function beforeLines(text: string, lines: number, limit: number): number {
  if (lines <= 0) return text.length;
  if (lines >= text.length - limit) return limit;
  // The line feed that ends the last line does not begin another.
  let at = text.endsWith("\n") ? text.length - 1 : text.length;
  for (let line = 0; line < lines; line++) {
    const feed = at === 0 ? -1 : text.lastIndexOf("\n", at - 1);
    if (feed < limit) return limit;
    at = feed;
  }
  return at + 1;
}
