import type { ReadStream, WriteStream } from "node:tty";
import type { TerminalSize } from "../../core/terminal.ts";
import type { Io } from "../command.ts";

/** The terminal this process runs on. */
export interface LocalTerminal {
  size(): TerminalSize;
  /** Calls `listener` when the terminal is resized. Returns a function that removes the listener. */
  onResize(listener: () => void): () => void;
  /** Switches to raw mode: keys are neither echoed nor interpreted. Returns a function that switches back. */
  raw(): () => void;
}

/** Returns the terminal of this process, or null unless both stdin and stdout are terminals. */
export function localTerminal(io: Io): LocalTerminal | null {
  if (!io.isTTY.stdin || !io.isTTY.stdout) return null;
  const input = io.stdin as ReadStream;
  const output: WriteStream = process.stdout;
  return {
    size: () => io.size ?? { columns: bounded(output.columns || 80), rows: bounded(output.rows || 24) },
    onResize: (listener) => {
      output.on("resize", listener);
      return () => output.off("resize", listener);
    },
    raw: () => {
      input.setRawMode(true);
      return () => {
        input.setRawMode(false);
        input.pause();
      };
    },
  };
}

/** Bounds a number of columns or rows. A serial line reports 0, for which callers pass the usual size. */
function bounded(count: number): number {
  return Math.min(Math.max(count, 1), 1000);
}
