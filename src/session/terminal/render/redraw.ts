import type { Screen, TerminalSize } from "../../../core/terminal.ts";
import { colouredRows } from "./ansi.ts";

/** What brings another terminal to where this screen is, so that the program's further output goes on from there. */
export function redraw(screen: Screen, { columns, rows }: TerminalSize): string {
  const { modes, cursor, alternate } = screen;
  const shown = colouredRows(screen, columns).slice(0, rows);
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
