/** The state of a session's terminal. Plain data, no logic. */

/**
 * The size of a terminal, in character cells.
 *
 * @example
 * ```ts
 * const session = await gateway.start({ command: "cat", args: [], pty: true, size: { columns: 80, rows: 24 } });
 * console.log(session.info().pty); // { columns: 80, rows: 24 }
 * await session.kill();
 * ```
 */
export interface TerminalSize {
  /** The width. */
  columns: number;
  /** The height. */
  rows: number;
}

/** The minimum number of columns that are rendered: one column cannot hold a wide character. */
export const MIN_DRAWN_COLUMNS = 2;

/**
 * The visible content of a terminal.
 *
 * @example
 * ```ts
 * const session = await gateway.start({ command: "echo ready; cat", pty: true });
 * await session.waitFor({ offset: 0, pattern: /ready/, timeoutMs: 10_000 });
 * const screen = await session.screen();
 * console.log(screen.lines[0], screen.cursor.row); // ready 1
 * await session.kill();
 * ```
 */
export interface Screen extends TerminalSize {
  /** The text of each row, without trailing blanks. */
  lines: string[];
  /** The position of the cursor, counted from 0, and whether it is visible. */
  cursor: { column: number; row: number; visible: boolean };
  /** The window title set by the program. Empty when it has set none. */
  title: string;
  /** True while a full-screen program uses the alternate screen. */
  alternate: boolean;
  /** Terminal modes that the program has enabled. `sendKeys` and `paste` take them into account. */
  modes: { applicationCursor: boolean; bracketedPaste: boolean };
  /** The number of bytes of the log that the screen includes. */
  offset: number;
  /** With the option `attributes`: for each row, runs of cells with the same appearance. */
  attributes?: ScreenRun[][];
  /** With the option `scrollback`: the last lines that scrolled off the screen, with wrapped lines joined. */
  scrollback?: string[];
}

/**
 * Output that brings another terminal of the same size to the state of the session's terminal. After writing it,
 * continue with the log from `offset`.
 *
 * @example
 * ```ts
 * const session = await gateway.start({ command: "echo ready; cat", pty: true });
 * await session.waitFor({ offset: 0, pattern: /ready/, timeoutMs: 10_000 });
 * const { output, offset } = await session.repaint();
 * process.stdout.write(output);
 * const signal = AbortSignal.timeout(100);
 * for await (const chunk of session.follow({ offset, signal })) process.stdout.write(chunk.bytes);
 * await session.kill();
 * ```
 */
export interface Repaint extends TerminalSize {
  /** The bytes to write to the other terminal. */
  output: Uint8Array;
  /** The offset in the log at which the output that follows starts. */
  offset: number;
}

/**
 * A run of cells with the same appearance. Colors are a palette index, `#rrggbb`, or null for the terminal's default. A
 * character that is two cells wide or consists of several code points is a run of its own; in all other runs, each cell
 * has one character.
 *
 * @example
 * ```ts
 * const session = await gateway.start({ command: "printf '\\033[1mbold\\033[0m plain'; cat", pty: true });
 * await session.waitFor({ offset: 0, pattern: /plain/, timeoutMs: 10_000 });
 * const { attributes } = await session.screen({ attributes: true });
 * const run = attributes?.[0]?.[0];
 * console.log(run?.text, run?.bold); // bold true
 * await session.kill();
 * ```
 */
export interface ScreenRun {
  /** The column of the first cell, counted from 0. */
  start: number;
  /** The number of cells. */
  length: number;
  /** The characters. */
  text: string;
  /** The text color. */
  foreground: number | string | null;
  /** The background color. */
  background: number | string | null;
  /** Whether the text is bold. */
  bold: boolean;
  /** Whether the text is dim. */
  dim: boolean;
  /** Whether the text is italic. */
  italic: boolean;
  /** Whether the text is underlined. */
  underline: boolean;
  /** Whether the colors are swapped. */
  inverse: boolean;
  /** Whether the text is struck through. */
  strikethrough: boolean;
}
