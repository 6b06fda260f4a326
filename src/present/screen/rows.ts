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

/** The runs of each row; of a screen without attributes, one run per line. */
export function drawnRows(screen: Screen): ScreenRun[][] {
  if (screen.attributes) return screen.attributes;
  return screen.lines.map((text) => (text === "" ? [] : [{ start: 0, length: [...text].length, text, ...PLAIN }]));
}
