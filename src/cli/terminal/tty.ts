import type { ReadStream, WriteStream } from "node:tty";
import type { TerminalSize } from "../../core/terminal.ts";
import type { Io } from "../command.ts";

/** The terminal the person sits at. */
export interface LocalTerminal {
  size(): TerminalSize;
  /** Returns how to stop. */
  onResize(listener: () => void): () => void;
  /** Every key goes to whoever reads, and none is shown or acted upon here. Returns how to undo it. */
  raw(): () => void;
}

/** Null: there is none, or only half of one. */
export function localTerminal(io: Io): LocalTerminal | null {
  if (!io.isTTY.stdin || !io.isTTY.stdout) return null;
  const input = io.stdin as ReadStream;
  const output: WriteStream = process.stdout;
  return {
    size: () => ({ columns: bounded(output.columns), rows: bounded(output.rows) }),
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

function bounded(count: number | undefined): number {
  return Math.min(Math.max(count ?? 80, 1), 1000);
}
