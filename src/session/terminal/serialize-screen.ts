import type { IBuffer, IBufferCell, IBufferLine, Terminal } from "@xterm/headless";
import type { ModeTracker } from "./mode-tracker.ts";

/**
 * Returns output that puts a new terminal of the same size into the state of this one: both screens, the cursor, the
 * modes and at most `scrolledOff` rows of scrollback. A saved cursor position and custom tab stops are not restored.
 */
export function serializeScreen(
  terminal: Terminal,
  tracker: ModeTracker,
  scrolledOff = Number.POSITIVE_INFINITY,
): string {
  const { active, normal } = terminal.buffer;
  const parts = [rowsOf(normal, Math.max(0, normal.baseY - scrolledOff)), at(normal.cursorY, normal.cursorX)];
  if (active.type === "alternate") parts.push("\x1b[m\x1b[?1049h\x1b[2J\x1b[H", rowsOf(active));
  parts.push(cursorAndModes(terminal, tracker));
  return parts.join("");
}

function cursorAndModes(terminal: Terminal, tracker: ModeTracker): string {
  const { active } = terminal.buffer;
  const { originMode } = terminal.modes;
  const margins = tracker.margins === "" ? "" : `\x1b[${tracker.margins}r`;
  const top = originMode ? Math.max(1, Number(/^\d+/.exec(tracker.margins)?.[0] ?? 1)) - 1 : 0;
  return [
    margins,
    originMode ? "\x1b[?6h" : "",
    active.cursorX < terminal.cols ? at(active.cursorY - top, active.cursorX) : pastTheEdge(active, top),
    ...tracker.modes().filter((mode) => mode !== "\x1b[?6h" && mode !== "\x1b[?6l"),
    tracker.charsets(),
    "\x1b[m",
    ...tracker.colors(),
    Buffer.from(tracker.title(), "latin1").toString(),
  ].join("");
}

/** Returns output that puts the cursor past the last column, by writing the character in that column again. */
function pastTheEdge(buffer: IBuffer, top: number): string {
  const line = buffer.getLine(buffer.baseY + buffer.cursorY);
  let column = buffer.cursorX - 1;
  const cell = buffer.getNullCell();
  line?.getCell(column, cell);
  if (cell.getWidth() === 0) line?.getCell(--column, cell);
  return at(buffer.cursorY - top, column) + styleOf(cell) + (cell.getChars() || " ");
}

function at(row: number, column: number): string {
  return `\x1b[${row + 1};${column + 1}H`;
}

function rowsOf(buffer: IBuffer, from = 0): string {
  const cell = buffer.getNullCell();
  const parts: string[] = [];
  for (let row = from; row < buffer.length; row++) {
    const line = buffer.getLine(row);
    if (line === undefined) continue;
    const { text, isFull } = rowOf(line, cell);
    // A wrapped row is written up to the edge, so that the terminal wraps to the next row by itself.
    const goesOn = isFull && buffer.getLine(row + 1)?.isWrapped;
    parts.push(text, goesOn || row === buffer.length - 1 ? "" : "\x1b[m\r\n");
  }
  return parts.join("");
}

function rowOf(line: IBufferLine, cell: IBufferCell): { text: string; isFull: boolean } {
  let text = "\x1b[m";
  let style = "\x1b[m";
  let blanks = 0;
  const fill = () => {
    // Empty cells are erased and skipped instead of written as spaces, because they differ from spaces.
    if (blanks > 0) text += `\x1b[${blanks}X\x1b[${blanks}C`;
    blanks = 0;
  };
  for (let column = 0; column < line.length; column++) {
    line.getCell(column, cell);
    if (cell.getWidth() === 0) continue;
    const next = styleOf(cell);
    if (next !== style) {
      fill();
      text += next;
      style = next;
    }
    if (cell.getChars() === "") {
      blanks++;
      continue;
    }
    fill();
    text += cell.getChars();
  }
  const isFull = blanks === 0;
  if (blanks > 0 && style !== "\x1b[m") text += `\x1b[${blanks}X`;
  return { text, isFull };
}

function styleOf(cell: IBufferCell): string {
  if (cell.isAttributeDefault()) return "\x1b[m";
  const codes: (number | string)[] = [0];
  if (cell.isBold()) codes.push(1);
  if (cell.isDim()) codes.push(2);
  if (cell.isItalic()) codes.push(3);
  if (cell.isUnderline()) codes.push(4);
  if (cell.isBlink()) codes.push(5);
  if (cell.isInverse()) codes.push(7);
  if (cell.isInvisible()) codes.push(8);
  if (cell.isStrikethrough()) codes.push(9);
  if (!cell.isFgDefault()) codes.push(color(38, cell.isFgRGB(), cell.getFgColor()));
  if (!cell.isBgDefault()) codes.push(color(48, cell.isBgRGB(), cell.getBgColor()));
  return `\x1b[${codes.join(";")}m`;
}

function color(kind: 38 | 48, isRgb: boolean, value: number): string {
  if (!isRgb) return `${kind};5;${value}`;
  return `${kind};2;${(value >> 16) & 0xff};${(value >> 8) & 0xff};${value & 0xff}`;
}
