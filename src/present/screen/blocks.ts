import { type Mask, type Point, penFor } from "./pen.ts";

/** Quarters of a cell that are filled, U+2596 to U+259F: 1 upper left, 2 upper right, 4 lower left, 8 lower right. */
const QUARTERS = [4, 8, 1, 13, 9, 7, 11, 2, 6, 14];

/** Shapes that are filled, with corners in parts of the cell. */
const SHAPES: Record<number, Point[]> = {
  9632: [[0.1, 0.3], [0.9, 0.3], [0.9, 0.7], [0.1, 0.7]], // biome-ignore format: a square
  9642: [[0.25, 0.38], [0.75, 0.38], [0.75, 0.62], [0.25, 0.62]], // biome-ignore format: a small square
  9650: [[0.5, 0.25], [0.95, 0.72], [0.05, 0.72]], // biome-ignore format: a triangle
  9654: [[0.1, 0.25], [0.95, 0.5], [0.1, 0.75]], // biome-ignore format: a triangle
  9656: [[0.2, 0.32], [0.8, 0.5], [0.2, 0.68]], // biome-ignore format: a triangle
  9660: [[0.05, 0.28], [0.95, 0.28], [0.5, 0.75]], // biome-ignore format: a triangle
  9664: [[0.9, 0.25], [0.05, 0.5], [0.9, 0.75]], // biome-ignore format: a triangle
  9670: [[0.5, 0.22], [0.95, 0.5], [0.5, 0.78], [0.05, 0.5]], // biome-ignore format: a diamond
  57520: [[0, 0], [1, 0.5], [0, 1]], // biome-ignore format: the wedges of prompts
  57522: [[1, 0], [0, 0.5], [1, 1]], // biome-ignore format: and the other way
};

/** Radius in widths of a cell. */
const CIRCLES: Record<number, number> = { 8226: 0.24, 9679: 0.42, 9210: 0.42, 11044: 0.5 };

/** Bars, shades, quarters, braille dots and filled shapes; null: not one of them. */
export function block(codepoint: number, width: number, height: number): Mask | null {
  const pen = penFor(width, height);
  const shape = SHAPES[codepoint];
  const radius = CIRCLES[codepoint];
  if (shape) pen.polygon(shape.map(([x, y]) => [x * width, y * height]));
  else if (radius) pen.stroke([[width / 2, height * 0.52]], 2 * radius * width);
  else if (codepoint >= 0x2800 && codepoint <= 0x28ff) {
    for (const [x, y] of brailleDots(codepoint - 0x2800)) pen.stroke([[x * width, y * height]], width / 4);
  } else if (codepoint >= 0x2580 && codepoint <= 0x259f) {
    for (const [x, y, w, h, alpha] of bars(codepoint)) pen.fill(x * width, y * height, w * width, h * height, alpha);
  } else return null;
  return pen.mask;
}

type Bar = [x: number, y: number, width: number, height: number, alpha?: number];

function bars(codepoint: number): Bar[] {
  const n = codepoint - 0x2580;
  if (n === 0) return [[0, 0, 1, 0.5]];
  if (n <= 8) return [[0, 1 - n / 8, 1, n / 8]];
  if (n <= 15) return [[0, 0, (16 - n) / 8, 1]];
  if (n === 16) return [[0.5, 0, 0.5, 1]];
  if (n <= 19) return [[0, 0, 1, 1, (n - 16) * 64]];
  if (n === 20) return [[0, 0, 1, 1 / 8]];
  if (n === 21) return [[7 / 8, 0, 1 / 8, 1]];
  const quarters = QUARTERS[n - 22] ?? 0;
  const places: [number, number, number][] = [
    [1, 0, 0],
    [2, 0.5, 0],
    [4, 0, 0.5],
    [8, 0.5, 0.5],
  ];
  return places.flatMap(([bit, x, y]): Bar[] => (quarters & bit ? [[x, y, 0.5, 0.5]] : []));
}

/** Dots 1 to 3 and 7 on the left, 4 to 6 and 8 on the right. */
function brailleDots(bits: number): Point[] {
  const places: Point[] = [
    [0.28, 0.15],
    [0.28, 0.38],
    [0.28, 0.62],
    [0.72, 0.15],
    [0.72, 0.38],
    [0.72, 0.62],
    [0.28, 0.85],
    [0.72, 0.85],
  ];
  return places.filter((_, bit) => bits & (1 << bit));
}
