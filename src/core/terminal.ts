import type { SessionInfo } from "./session.ts";

/** What a session on a terminal offers besides its log. Plain data, no logic. */

export interface TerminalSize {
  columns: number;
  rows: number;
}

/** A narrower terminal is drawn with this many columns: one could not hold a wide character. */
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

/** What to wait for besides the exit, which is always waited for. */
export interface WaitConditions {
  /**
   * In output that came since this gateway last typed something (else from now on), or after `offset`; escape sequences
   * do not get in its way.
   */
  pattern?: RegExp | undefined;
  offset?: number | undefined;
  /** Nothing was written for so long. */
  quietMs?: number | undefined;
  /** A process of the terminal's foreground group is blocked reading from it. */
  input?: boolean | undefined;
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface WaitOutcome {
  /** Which came first. */
  reason: "exit" | "pattern" | "quiet" | "input" | "timeout";
  /** What the pattern matched, and where in the log its match ends. */
  match: string | null;
  offset: number;
  info: SessionInfo;
}
