import type { Screen, ScreenRun } from "../../contract/terminal.ts";
import { BACKGROUND, CURSOR, coloursOf, FOREGROUND, toHex } from "./palette.ts";
import { drawnRows } from "./rows.ts";

const CELL_WIDTH = 9;
const CELL_HEIGHT = 18;
const BASELINE = 14;
const MARGIN = 9;
const FONTS = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,'Liberation Mono',monospace";

// What XML has no place for, even written out.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
const NOT_XML = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

/** The screen as a picture of text: it can be searched, scaled, and holds any script. Best with attributes. */
export function screenSvg(screen: Screen): string {
  const width = screen.columns * CELL_WIDTH + 2 * MARGIN;
  const height = screen.rows * CELL_HEIGHT + 2 * MARGIN;
  const parts: string[] = [];
  for (const [row, runs] of drawnRows(screen).entries()) {
    for (const run of runs) parts.push(behind(run, row), text(run, row));
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>${escaped(screen.title)}</title>
<rect width="100%" height="100%" rx="6" fill="${toHex(BACKGROUND)}"/>
<g font-family="${FONTS}" font-size="15" fill="${toHex(FOREGROUND)}" xml:space="preserve">
${parts.join("")}</g>
${cursor(screen)}</svg>
`;
}

function behind(run: ScreenRun, row: number): string {
  const { behind } = coloursOf(run);
  if (behind === null) return "";
  return `<rect ${place(run, row, CELL_HEIGHT)} fill="${toHex(behind)}"/>\n`;
}

function text(run: ScreenRun, row: number): string {
  if (run.text.trim() === "" && !run.underline && !run.strikethrough) return "";
  const colour = toHex(coloursOf(run).text);
  const lines = [run.underline ? "underline" : "", run.strikethrough ? "line-through" : ""].filter(Boolean).join(" ");
  const attributes = [
    `x="${left(run.start)}" y="${top(row) + BASELINE}"`,
    // Whatever font is at hand, each character stands in its cell.
    `textLength="${run.length * CELL_WIDTH}" lengthAdjust="spacingAndGlyphs"`,
    colour === toHex(FOREGROUND) ? "" : `fill="${colour}"`,
    run.bold ? 'font-weight="bold"' : "",
    run.italic ? 'font-style="italic"' : "",
    lines === "" ? "" : `text-decoration="${lines}"`,
  ];
  return `<text ${attributes.filter(Boolean).join(" ")}>${escaped(run.text)}</text>\n`;
}

function cursor({ cursor, columns }: Screen): string {
  if (!cursor.visible) return "";
  const run = { start: Math.min(cursor.column, columns - 1), length: 1 };
  return `<rect ${place(run, cursor.row, CELL_HEIGHT)} fill="${toHex(CURSOR)}" fill-opacity="0.6"/>\n`;
}

function place(run: Pick<ScreenRun, "start" | "length">, row: number, height: number): string {
  return `x="${left(run.start)}" y="${top(row)}" width="${run.length * CELL_WIDTH}" height="${height}"`;
}

function left(column: number): number {
  return MARGIN + column * CELL_WIDTH;
}

function top(row: number): number {
  return MARGIN + row * CELL_HEIGHT;
}

function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(NOT_XML, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
