import type { Screen, ScreenRun } from "../../contract/terminal.ts";
import { glyph } from "./glyph.ts";
import { BACKGROUND, CURSOR, coloursOf, type Rgb } from "./palette.ts";
import { drawnRows } from "./rows.ts";

const CELL_WIDTH = 10;
const CELL_HEIGHT = 20;
const MARGIN = 10;

/** A screen of a thousand by a thousand is drawn smaller, not refused: no picture takes more memory than this. */
const MOST_PIXELS = 12_000_000;

export interface Picture {
  width: number;
  height: number;
  /** Red, green and blue of each, row by row. */
  pixels: Uint8Array;
}

interface Canvas extends Picture {
  cellWidth: number;
  cellHeight: number;
}

export function paint(screen: Screen): Picture {
  const canvas = emptyCanvas(screen);
  for (const [row, runs] of drawnRows(screen).entries()) for (const run of runs) paintRun(canvas, run, row);
  if (screen.cursor.visible) paintCursor(canvas, screen);
  const { width, height, pixels } = canvas;
  return { width, height, pixels };
}

function emptyCanvas({ columns, rows }: Screen): Canvas {
  const scale = Math.min(1, Math.sqrt(MOST_PIXELS / (columns * CELL_WIDTH * rows * CELL_HEIGHT)));
  const cellWidth = Math.max(1, Math.floor(CELL_WIDTH * scale));
  const cellHeight = Math.max(2, Math.floor(CELL_HEIGHT * scale));
  const width = columns * cellWidth + 2 * MARGIN;
  const height = rows * cellHeight + 2 * MARGIN;
  const pixels = new Uint8Array(width * height * 3);
  for (let at = 0; at < pixels.length; at += 3) pixels.set(BACKGROUND, at);
  return { width, height, pixels, cellWidth, cellHeight };
}

function paintRun(canvas: Canvas, run: ScreenRun, row: number): void {
  const { text, behind } = coloursOf(run);
  const { cellWidth, cellHeight } = canvas;
  const x = MARGIN + run.start * cellWidth;
  const y = MARGIN + row * cellHeight;
  const width = run.length * cellWidth;
  if (behind) fill(canvas, x, y, width, cellHeight, behind);
  const characters = isOneCharacter(run) ? [run.text] : [...run.text];
  const each = characters.length === 0 ? 0 : Math.floor(width / characters.length);
  for (const [index, character] of characters.entries()) {
    if (character !== " ") paintGlyph(canvas, character, x + index * each, y, each, run, text);
  }
  const line = Math.max(1, Math.round(cellHeight / 16));
  if (run.underline) fill(canvas, x, y + Math.round(cellHeight * 0.86), width, line, text);
  if (run.strikethrough) fill(canvas, x, y + Math.round(cellHeight * 0.5), width, line, text);
}

/** A character of two cells, or made of several: else there is one for each cell. */
function isOneCharacter({ text, length }: ScreenRun): boolean {
  return [...text].length !== length;
}

function paintGlyph(
  canvas: Canvas,
  character: string,
  left: number,
  top: number,
  each: number,
  run: ScreenRun,
  rgb: Rgb,
) {
  const { alpha, width, height } = glyph(character, each, canvas.cellHeight, run);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const cover = (alpha[y * width + x] ?? 0) / 255;
      if (cover > 0) blend(canvas, left + x, top + y, rgb, cover);
    }
  }
}

function paintCursor(canvas: Canvas, { cursor, columns }: Screen): void {
  const { cellWidth, cellHeight } = canvas;
  const left = MARGIN + Math.min(cursor.column, columns - 1) * cellWidth;
  const top = MARGIN + cursor.row * cellHeight;
  for (let y = 0; y < cellHeight; y++)
    for (let x = 0; x < cellWidth; x++) blend(canvas, left + x, top + y, CURSOR, 0.6);
}

function fill(canvas: Canvas, left: number, top: number, width: number, height: number, rgb: Rgb): void {
  for (let y = top; y < top + height; y++) for (let x = left; x < left + width; x++) blend(canvas, x, y, rgb, 1);
}

function blend({ width, height, pixels }: Canvas, x: number, y: number, rgb: Rgb, cover: number): void {
  if (x < 0 || y < 0 || x >= width || y >= height) return;
  const at = (y * width + x) * 3;
  for (const index of [0, 1, 2] as const) {
    const old = pixels[at + index] as number;
    pixels[at + index] = Math.round(old + (rgb[index] - old) * cover);
  }
}
