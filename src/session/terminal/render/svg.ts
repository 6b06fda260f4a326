import type { Screen, ScreenRun, TerminalSize } from "../../../core/terminal.ts";
import { BACKGROUND, CURSOR, coloursOf, FOREGROUND, toHex } from "./palette.ts";

const CELL_WIDTH = 9;
const CELL_HEIGHT = 18;
const BASELINE = 14;
const MARGIN = 9;
const FONTS = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,'Liberation Mono',monospace";

const PLAIN = {
  foreground: null,
  background: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
  strikethrough: false,
};

// What XML has no place for, even written out.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
const NOT_XML = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

/** The screen as a picture of text: it can be searched, scaled, and holds any script. Best with attributes. */
export function screenSvg(screen: Screen): string {
  return picture(screen, screen.title, contentOf(screen));
}

/** Screens one after the other, over and over. Who wants no motion sees the last. */
export function movieSvg(frames: readonly { screen: Screen; lastsMs: number }[]): string {
  const wholeMs = frames.reduce((sum, { lastsMs }) => sum + lastsMs, 0);
  const columns = Math.max(...frames.map(({ screen }) => screen.columns));
  const rows = Math.max(...frames.map(({ screen }) => screen.rows));
  const styles: string[] = [];
  const groups: string[] = [];
  let atMs = 0;
  for (const [index, { screen, lastsMs }] of frames.entries()) {
    const last = index === frames.length - 1;
    const [from, to] = [atMs, atMs + lastsMs].map((ms) => ((100 * ms) / wholeMs).toFixed(3));
    styles.push(
      `@keyframes f${index}{0%{visibility:hidden}${from}%{visibility:visible}${last ? "" : `${to}%{visibility:hidden}`}100%{visibility:${last ? "visible" : "hidden"}}}`,
      `#f${index}{visibility:${last ? "visible" : "hidden"};animation:f${index} ${wholeMs}ms step-end infinite}`,
    );
    groups.push(`<g id="f${index}">${contentOf(screen)}</g>`);
    atMs += lastsMs;
  }
  const style = `<style>${styles.join("")}@media (prefers-reduced-motion:reduce){g{animation:none!important}}</style>`;
  return picture({ columns, rows }, frames.at(-1)?.screen.title ?? "", `${style}\n${groups.join("\n")}`);
}

/** Newer browsers want the style to keep blanks, other programs `xml:space`. */
function picture({ columns, rows }: TerminalSize, title: string, content: string): string {
  const width = columns * CELL_WIDTH + 2 * MARGIN;
  const height = rows * CELL_HEIGHT + 2 * MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>${escaped(title || "terminal")}</title>
<style>text{white-space:pre}</style>
<rect width="100%" height="100%" rx="6" fill="${toHex(BACKGROUND)}"/>
${content}</svg>
`;
}

function contentOf(screen: Screen): string {
  const parts: string[] = [];
  for (const [row, runs] of drawnRows(screen).entries()) {
    for (const run of runs) parts.push(behind(run, row), text(run, row));
  }
  return `<g font-family="${FONTS}" font-size="15" fill="${toHex(FOREGROUND)}" xml:space="preserve">
${parts.join("")}</g>
${cursor(screen)}`;
}

/** The runs of each row; of a screen without attributes, one run per line. */
function drawnRows(screen: Screen): ScreenRun[][] {
  if (screen.attributes) return screen.attributes;
  return screen.lines.map((text) => (text === "" ? [] : [{ start: 0, length: [...text].length, text, ...PLAIN }]));
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
