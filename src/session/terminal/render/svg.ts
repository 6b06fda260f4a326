import type { Screen, ScreenRun, TerminalSize } from "../../../core/terminal.ts";

type Rgb = readonly [red: number, green: number, blue: number];

/** The default colors of a picture. */
const FOREGROUND: Rgb = [0xd6, 0xd9, 0xdd];
const BACKGROUND: Rgb = [0x16, 0x19, 0x1d];
const CURSOR: Rgb = [0xd6, 0xd9, 0xdd];

/** The sixteen basic colors, chosen to be readable on the background. */
const NAMED = [
  "2b3036",
  "e0565b",
  "7fc06a",
  "d9b25f",
  "6ca4e0",
  "bf86d8",
  "5fb9bd",
  "c3c8ce",
  "5f6873",
  "f27d80",
  "a2d88f",
  "f0cf86",
  "92c0f2",
  "d7a9ea",
  "8ad5d8",
  "f4f6f8",
].map(fromHex);

/** Steps of the 6 x 6 x 6 color cube. */
const STEPS = [0, 0x5f, 0x87, 0xaf, 0xd7, 0xff];

function paletteColor(index: number): Rgb {
  const named = NAMED[index];
  if (named) return named;
  if (index >= 232) {
    const gray = 8 + 10 * (Math.min(255, index) - 232);
    return [gray, gray, gray];
  }
  const place = Math.max(0, index - 16);
  const step = (divisor: number) => STEPS[Math.floor(place / divisor) % 6] ?? 0;
  return [step(36), step(6), step(1)];
}

/** Returns the colors of a run, after applying inverse and dim. */
function colorsOf(run: Pick<ScreenRun, "foreground" | "background" | "inverse" | "dim">): {
  text: Rgb;
  behind: Rgb | null;
} {
  const own = run.foreground === null ? FOREGROUND : color(run.foreground);
  const back = run.background === null ? null : color(run.background);
  const text = run.inverse ? (back ?? BACKGROUND) : own;
  const behind = run.inverse ? own : back;
  return { text: run.dim ? mix(text, behind ?? BACKGROUND, 0.45) : text, behind };
}

function toHex(rgb: Rgb): string {
  return `#${rgb.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

function color(value: number | string): Rgb {
  return typeof value === "number" ? paletteColor(value) : fromHex(value.replace("#", ""));
}

function fromHex(hex: string): Rgb {
  const value = Number.parseInt(hex, 16) || 0;
  return [(value >> 16) & 0xff, (value >> 8) & 0xff, value & 0xff];
}

function mix(from: Rgb, to: Rgb, share: number): Rgb {
  const part = (index: 0 | 1 | 2) => Math.round(from[index] + (to[index] - from[index]) * share);
  return [part(0), part(1), part(2)];
}

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

// Characters that XML forbids even as character references.
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters
const NOT_XML = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

/** Renders a screen as SVG with real text. Without attributes, all text has the default colors. */
export function screenSvg(screen: Screen): string {
  return picture(screen, screen.title, contentOf(screen));
}

/** Renders frames as an animated SVG that repeats. With reduced motion, only the last frame is shown. */
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

/** Encloses content in an SVG document. Newer browsers preserve blanks by the style, other programs by `xml:space`. */
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

/** Returns the runs of each row; one run per line if the screen has no attributes. */
function drawnRows(screen: Screen): ScreenRun[][] {
  if (screen.attributes) return screen.attributes;
  return screen.lines.map((text) => (text === "" ? [] : [{ start: 0, length: [...text].length, text, ...PLAIN }]));
}

function behind(run: ScreenRun, row: number): string {
  const { behind } = colorsOf(run);
  if (behind === null) return "";
  return `<rect ${place(run, row, CELL_HEIGHT)} fill="${toHex(behind)}"/>\n`;
}

function text(run: ScreenRun, row: number): string {
  if (run.text.trim() === "" && !run.underline && !run.strikethrough) return "";
  const color = toHex(colorsOf(run).text);
  const lines = [run.underline ? "underline" : "", run.strikethrough ? "line-through" : ""].filter(Boolean).join(" ");
  const attributes = [
    `x="${left(run.start)}" y="${top(row) + BASELINE}"`,
    // Keeps each character in its cell with any font.
    `textLength="${run.length * CELL_WIDTH}" lengthAdjust="spacingAndGlyphs"`,
    color === toHex(FOREGROUND) ? "" : `fill="${color}"`,
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
