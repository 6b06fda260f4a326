let segmenter: Intl.Segmenter | null = null;

/** Splits a text into grapheme clusters. The segmenter is created on first use, because creating it is slow. */
export function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}

// Characters that terminals draw two cells wide (the East Asian Wide and Fullwidth blocks, and emoji).
const WIDE =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]|\ufe0f/u;
/** Spacing marks, such as vowel signs of Devanagari, take a cell after their letter. */
const SPACING_MARK = /^\p{Mc}/u;
export const PLAIN = /^[\x20-\x7e]*$/;

/**
 * Returns the number of cells the text takes on a terminal. The text must not contain control characters (see
 * `visible`). The emulator uses the tables of @xterm/addon-unicode-graphemes, which take 20 ms to load: too long for a
 * command line.
 */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let cells = 0;
  for (const { segment } of graphemesOf(text)) cells += cellsOf(segment);
  return cells;
}

/** Returns the text if it fits, or as much of it as fits with `…` at the end. */
export function fit(text: string, cells: number): string {
  if (displayWidth(text) <= cells) return text;
  let kept = "";
  let used = 0;
  for (const { segment } of graphemesOf(text)) {
    used += cellsOf(segment);
    if (used > cells - 1) break;
    kept += segment;
  }
  return cells > 0 ? `${kept}…` : "";
}

function cellsOf(grapheme: string): number {
  const [first = "", ...others] = grapheme;
  const marks = others.filter((character) => SPACING_MARK.test(character)).length;
  if (/^[\p{Mn}\p{Me}]/u.test(first)) return marks;
  return (WIDE.test(grapheme) ? 2 : 1) + marks;
}

/**
 * Wraps a text into lines of at most `room` cells, at spaces if possible. Nothing is cut. Counts cells, not characters:
 * a line that is too wide would continue at the terminal's left edge and could be mistaken for another line (invariant
 * 2).
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

/**
 * Returns how many characters of the text fit, at least one. Examines only the start of the text, which may be long.
 */
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
