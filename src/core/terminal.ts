/** The state of a session's terminal. Plain data, no logic. */

export interface TerminalSize {
  columns: number;
  rows: number;
}

/** The fewest columns that are rendered: one column cannot hold a wide character. */
export const MIN_DRAWN_COLUMNS = 2;

/** What a person sitting at the terminal would see now. */
export interface Screen extends TerminalSize {
  /** One text per row, blanks at the end cut off. */
  lines: string[];
  cursor: { column: number; row: number; visible: boolean };
  title: string;
  /** A full-screen program has taken the screen over. */
  alternate: boolean;
  /** The program switched these on; keys are sent accordingly. */
  modes: { applicationCursor: boolean; bracketedPaste: boolean };
  /** Bytes of the log this picture stands for. */
  offset: number;
  /** Where asked for: per row, runs of cells that look the same. */
  attributes?: ScreenRun[][];
  /** Where asked for: the last lines that scrolled off above, wrapped ones joined; none of a full-screen program. */
  scrollback?: string[];
}

/** What brings a new terminal of this size to where another one is. */
export interface Repaint extends TerminalSize {
  output: Uint8Array;
  /** The byte of the log from which what follows is to be written on top of it. */
  offset: number;
}

/**
 * Colours are a palette index, `#rrggbb`, or null for the terminal's own. A character that takes two cells, or is made
 * of several, is a run of its own; in every other run there is one character per cell.
 */
export interface ScreenRun {
  /** The first cell and how many, counted from 0. */
  start: number;
  length: number;
  text: string;
  foreground: number | string | null;
  background: number | string | null;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  inverse: boolean;
  strikethrough: boolean;
}
