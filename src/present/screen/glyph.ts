import { block } from "./blocks.ts";
import { boxDrawing } from "./box-drawing.ts";
import { type Mask, type Pen, type Point, penFor } from "./pen.ts";
import { STROKES } from "./strokes.ts";

export interface Style {
  bold: boolean;
  italic: boolean;
}

/** Accents above (and below) a letter, in the same units as the letters; small letters have them lower. */
const ACCENTS: Readonly<Record<string, readonly (readonly Point[])[]>> = {
  "\u0300": [[[2, -2.4], [4, -1]]], // biome-ignore format: grave
  "\u0301": [[[4, -2.4], [2, -1]]], // biome-ignore format: acute
  "\u0302": [[[1.5, -1], [3, -2.4], [4.5, -1]]], // biome-ignore format: circumflex
  "\u0303": [[[1, -1.2], [2, -2], [4, -1.2], [5, -2]]], // biome-ignore format: tilde
  "\u0304": [[[1.5, -1.5], [4.5, -1.5]]], // biome-ignore format: macron
  "\u0308": [[[1.7, -1.6]], [[4.3, -1.6]]], // biome-ignore format: diaeresis
  "\u030a": [[[3, -2.6], [3.8, -1.8], [3, -1], [2.2, -1.8], [3, -2.6]]], // biome-ignore format: ring
  "\u030c": [[[1.5, -2.4], [3, -1], [4.5, -2.4]]], // biome-ignore format: caron
  "\u0327": [[[3, 9], [3.6, 10], [2.4, 11.2]]], // biome-ignore format: cedilla
};
const LOWERED = 2.6;

/** Letters of other scripts that look the same. */
const LOOKS_LIKE: Readonly<Record<string, string>> = Object.fromEntries(
  [..."АAВBЕEКKМMНHОOРPСCТTХXаaеeоoрpсcуyхxіiјjѕsΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXοoνv‐-‑-"]
    .join("")
    .match(/../gu)
    ?.map((pair) => [...pair] as [string, string]) ?? [],
);

const cache = new Map<string, Mask>();
const MOST_CACHED = 2048;

/** A character as it covers its cell (or cells) of so many pixels. */
export function glyph(text: string, width: number, height: number, style: Style): Mask {
  const key = `${width}x${height}${style.bold ? "b" : ""}${style.italic ? "i" : ""} ${text}`;
  const known = cache.get(key);
  if (known) return known;
  if (cache.size >= MOST_CACHED) cache.clear();
  const mask = draw(text, width, height, style);
  cache.set(key, mask);
  return mask;
}

function draw(text: string, width: number, height: number, style: Style): Mask {
  const codepoint = text.codePointAt(0) ?? 0x20;
  const drawn = boxDrawing(codepoint, width, height) ?? block(codepoint, width, height);
  if (drawn) return drawn;
  const pen = penFor(width, height);
  const [base = " ", ...marks] = text.normalize("NFD").replace(/[\ufe0e\ufe0f]/g, "");
  const letter = LOOKS_LIKE[base] ?? base;
  // An accent takes the place of the dot.
  const strokes = STROKES[marks.length > 0 && letter === "i" ? "ı" : letter];
  if (strokes === undefined && letter.trim() !== "") drawCode(pen, codepoint, width, height);
  else if (strokes !== undefined) drawLetter(pen, strokes, marks, /^[a-zı]$/.test(letter), style);
  return pen.mask;
}

function drawLetter(pen: Pen, strokes: string, marks: string[], isSmall: boolean, { bold, italic }: Style): void {
  const { width, height } = pen.mask;
  const thickness = (bold ? 0.125 : 0.08) * height;
  const place = ([x, y]: Point): Point => {
    const lean = italic ? (9 - y) * 0.018 * width : 0;
    return [width * (0.2 + x * 0.1) + lean, height * (0.19 + y * 0.06)];
  };
  for (const line of parse(strokes)) pen.stroke(line.map(place), thickness);
  for (const mark of marks) {
    const lowered = isSmall && mark !== "\u0327" ? LOWERED : 0;
    for (const line of ACCENTS[mark] ?? []) {
      pen.stroke(line.map(([x, y]) => place([x, y + lowered])), thickness * 0.85); // biome-ignore format: one call
    }
  }
}

function parse(strokes: string): Point[][] {
  return strokes
    .split(",")
    .map((line) =>
      (line.match(/../g) ?? []).map((point): Point => [parseInt(point, 16) >> 4, parseInt(point, 16) & 15]),
    );
}

/** A character there is no drawing of is a box with its number in it, so that one can be told from another. */
function drawCode(pen: Pen, codepoint: number, width: number, height: number): void {
  const left = width * 0.08;
  const right = width * 0.92;
  const top = height * 0.14;
  const bottom = height * 0.86;
  pen.stroke([[left, top], [right, top], [right, bottom], [left, bottom], [left, top]], height * 0.04); // biome-ignore format: a box
  const digits = codepoint.toString(16).toUpperCase().padStart(4, "0");
  const perRow = Math.ceil(digits.length / 2);
  const cell = { width: (right - left) / (perRow + 0.4), height: (bottom - top) / 2.2 };
  for (const [index, digit] of [...digits].entries()) {
    const x = left + cell.width * (0.2 + (index % perRow));
    const y = top + cell.height * (0.1 + Math.floor(index / perRow));
    for (const line of parse(STROKES[digit] ?? "")) {
      const points = line.map(
        ([px, py]): Point => [x + ((px + 1.4) / 8.8) * cell.width, y + ((py + 1.2) / 11) * cell.height],
      );
      pen.stroke(points, height * 0.04);
    }
  }
}
