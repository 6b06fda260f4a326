import type { IBuffer, IBufferCell, IBufferLine } from "@xterm/headless";
import type { ScreenRun } from "../../core/terminal.ts";

// Control characters and invisible characters that affect others: bidirectional overrides, tags, zero-width characters.
// Without them a person and a model read the same text. Joiners are kept, because emoji sequences need them.
const HIDDEN =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
const PLAIN = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u2500-\u25ff]*$/;

/** Removes hidden characters from the text of cells. */
export function seen(text: string): string {
  return PLAIN.test(text) ? text : text.replace(HIDDEN, "");
}

/** Returns the visible rows of a terminal's screen. Concealed text is blank. */
export function screenLines(buffer: IBuffer, rows: number): string[] {
  const cell = buffer.getNullCell();
  return Array.from({ length: rows }, (_, row) => {
    const line = buffer.getLine(buffer.baseY + row);
    return line === undefined ? "" : lineText(line, cell);
  });
}

function lineText(line: IBufferLine, cell: IBufferCell): string {
  let text = "";
  for (let column = 0; column < line.length; column++) {
    line.getCell(column, cell);
    if (cell.getWidth() > 0) text += cellText(cell);
  }
  return text.trimEnd();
}

function cellText(cell: IBufferCell): string {
  const blank = cell.getWidth() === 2 ? "  " : " ";
  return cell.isInvisible() ? blank : seen(cell.getChars()) || blank;
}

/** Returns, for each row, runs of cells with the same attributes. Trailing blanks without attributes are omitted. */
export function screenRuns(buffer: IBuffer, rows: number): ScreenRun[][] {
  const cell = buffer.getNullCell();
  return Array.from({ length: rows }, (_, row) => {
    const line = buffer.getLine(buffer.baseY + row);
    return line === undefined ? [] : lineRuns(line, cell);
  });
}

function lineRuns(line: IBufferLine, cell: IBufferCell): ScreenRun[] {
  const runs: ScreenRun[] = [];
  let open: ScreenRun | null = null;
  for (let column = 0; column < line.length; column++) {
    line.getCell(column, cell);
    const width = cell.getWidth();
    if (width === 0) continue;
    const text = cellText(cell);
    const look = lookOf(cell);
    // A wide or combined character gets a separate run, so that all other runs have one character per cell.
    const alone = width > 1 || text.length > 1;
    if (open !== null && !alone && sameLook(open, look) && open.start + open.length === column) {
      open.text += text;
      open.length++;
      continue;
    }
    const run: ScreenRun = { start: column, length: width, text, ...look };
    runs.push(run);
    open = alone ? null : run;
  }
  return runs.map(trimmed).filter(({ length }) => length > 0);
}

type Look = Omit<ScreenRun, "start" | "length" | "text">;

function lookOf(cell: IBufferCell): Look {
  return {
    foreground: cell.isFgDefault() ? null : cell.isFgRGB() ? hexColor(cell.getFgColor()) : cell.getFgColor(),
    background: cell.isBgDefault() ? null : cell.isBgRGB() ? hexColor(cell.getBgColor()) : cell.getBgColor(),
    bold: cell.isBold() !== 0,
    dim: cell.isDim() !== 0,
    italic: cell.isItalic() !== 0,
    underline: cell.isUnderline() !== 0,
    inverse: cell.isInverse() !== 0,
    strikethrough: cell.isStrikethrough() !== 0,
  };
}

function hexColor(value: number): string {
  return `#${value.toString(16).padStart(6, "0")}`;
}

function sameLook(a: Look, b: Look): boolean {
  return (
    a.foreground === b.foreground &&
    a.background === b.background &&
    a.bold === b.bold &&
    a.dim === b.dim &&
    a.italic === b.italic &&
    a.underline === b.underline &&
    a.inverse === b.inverse &&
    a.strikethrough === b.strikethrough
  );
}

/** Removes trailing blanks that look like the empty screen. A run of several cells has one character per cell. */
function trimmed(run: ScreenRun): ScreenRun {
  if (run.background !== null || run.inverse || run.underline || run.strikethrough) return run;
  const text = run.text.trimEnd();
  return text.length === run.text.length ? run : { ...run, text, length: text.length };
}

/** Yields the rows before `end` as lines, starting with the oldest row in the buffer. Wrapped rows are joined. */
export function* logicalLines(buffer: IBuffer, end: number): Generator<string> {
  let text: string | null = null;
  for (let row = 0; row < end; row++) {
    const line = buffer.getLine(row);
    if (line === undefined) continue;
    const piece = seen(line.translateToString(false));
    if (line.isWrapped && text !== null) text += piece;
    else {
      if (text !== null) yield text.trimEnd();
      text = piece;
    }
  }
  if (text !== null) yield text.trimEnd();
}
