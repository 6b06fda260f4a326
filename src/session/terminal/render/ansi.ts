import type { Screen, ScreenRun, TerminalSize } from "../../../core/terminal.ts";

/**
 * Returns the rows of a screen with their colors, for another terminal. Characters are taken from cells and all escape
 * sequences are generated here, so that none from the program reaches that terminal. Rows are cut to `columns`.
 */
export function ansiRows(screen: Screen, columns: number): string[] {
  if (!screen.attributes) return screen.lines;
  return screen.attributes.map((runs) => {
    let text = "";
    let column = 0;
    for (const run of runs) {
      const shown = cut(run, columns);
      if (shown === null) break;
      text += " ".repeat(run.start - column) + sequence(run) + shown.text;
      if (sequence(run) !== "") text += "\x1b[0m";
      column = shown.start + shown.length;
    }
    return text;
  });
}

/** Cuts a run to the columns. A wide character that does not fit is omitted. */
function cut(run: ScreenRun, columns: number): ScreenRun | null {
  const room = columns - run.start;
  if (room >= run.length) return run;
  const perCell = [...run.text].length === run.length;
  return room > 0 && perCell ? { ...run, text: [...run.text].slice(0, room).join(""), length: room } : null;
}

function sequence(run: ScreenRun): string {
  const codes: string[] = [];
  if (run.bold) codes.push("1");
  if (run.dim) codes.push("2");
  if (run.italic) codes.push("3");
  if (run.underline) codes.push("4");
  if (run.inverse) codes.push("7");
  if (run.strikethrough) codes.push("9");
  if (run.foreground !== null) codes.push(color(38, run.foreground));
  if (run.background !== null) codes.push(color(48, run.background));
  return codes.length === 0 ? "" : `\x1b[${codes.join(";")}m`;
}

function color(kind: 38 | 48, value: number | string): string {
  if (typeof value === "number") return `${kind};5;${value}`;
  const rgb = Number.parseInt(value.slice(1), 16);
  return `${kind};2;${(rgb >> 16) & 0xff};${(rgb >> 8) & 0xff};${rgb & 0xff}`;
}

/**
 * Returns output that draws this screen on another terminal, so that the program's further output continues from it.
 */
export function redrawSequence(screen: Screen, { columns, rows }: TerminalSize): string {
  const { modes, cursor, alternate } = screen;
  const shown = ansiRows(screen, columns).slice(0, rows);
  const row = Math.min(cursor.row, rows - 1);
  const column = Math.min(cursor.column, columns - 1);
  return [
    alternate ? "\x1b[?1049h" : "",
    "\x1b[m\x1b[2J\x1b[H",
    shown.join("\x1b[m\r\n"),
    `\x1b[m\x1b[${row + 1};${column + 1}H`,
    modes.applicationCursor ? "\x1b[?1h" : "",
    modes.bracketedPaste ? "\x1b[?2004h" : "",
    cursor.visible ? "" : "\x1b[?25l",
  ].join("");
}

/** Returns the range of rows to show when not all of them fit; it contains the cursor. */
export function visibleRows({ rows, cursor }: Pick<Screen, "rows" | "cursor">, room: number) {
  const height = Math.max(1, Math.min(rows, room));
  const from = Math.max(0, Math.min(cursor.row - height + 1, rows - height));
  return { from, to: from + height };
}
