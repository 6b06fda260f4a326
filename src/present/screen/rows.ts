import type { Screen, ScreenRun } from "../../contract/terminal.ts";

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

/** The runs of each row, blanks at the end of a plain one cut off; of a screen without attributes, one run per line. */
export function drawnRows(screen: Screen): ScreenRun[][] {
  if (!screen.attributes) {
    return screen.lines.map((text) => (text === "" ? [] : [{ start: 0, length: [...text].length, text, ...PLAIN }]));
  }
  return screen.attributes.map((runs) => runs.map(trimmed));
}

function trimmed(run: ScreenRun): ScreenRun {
  if (run.background !== null || run.inverse || run.underline || run.strikethrough) return run;
  const text = run.text.trimEnd();
  // In a run of several cells there is a character per cell; one of its own has nothing to trim.
  if (text === "" || text.length === run.text.length) return run;
  return { ...run, text, length: run.length - (run.text.length - text.length) };
}
