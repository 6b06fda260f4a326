import type { Screen, ScreenRun } from "../../../core/terminal.ts";

/**
 * The rows of a screen with their colours, for another terminal: every character was taken from a cell and every
 * sequence is written here, so that nothing the program sent reaches that terminal as it was. Rows and columns that
 * do not fit are cut off.
 */
export function colouredRows(screen: Screen, columns: number): string[] {
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

/** A character of two cells is shown whole or not at all. */
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
  if (run.foreground !== null) codes.push(colour(38, run.foreground));
  if (run.background !== null) codes.push(colour(48, run.background));
  return codes.length === 0 ? "" : `\x1b[${codes.join(";")}m`;
}

function colour(kind: 38 | 48, value: number | string): string {
  if (typeof value === "number") return `${kind};5;${value}`;
  const rgb = Number.parseInt(value.slice(1), 16);
  return `${kind};2;${(rgb >> 16) & 0xff};${(rgb >> 8) & 0xff};${rgb & 0xff}`;
}
