import { closeSync, constants, ftruncateSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { TerminalSize } from "../../core/terminal.ts";

const MOST = 1 << 20;
const { O_WRONLY, O_CREAT, O_NOFOLLOW } = constants;

/** The file `sizes` of a session: how large its terminal was when, so that its screen can be drawn again. */
export class Sizes {
  #fd: number | null = null;
  #used = 0;
  #lastLine = 0;
  #lastOffset = -1;

  constructor(folder: string, size: TerminalSize) {
    try {
      this.#fd = openSync(join(folder, "sizes"), O_WRONLY | O_CREAT | (O_NOFOLLOW ?? 0), 0o600);
    } catch {
      // A full disk: the screen is then drawn for the usual size.
    }
    this.note(size, 0);
  }

  /** A size without output since the one before replaces that. Bounded, however often a window is dragged about. */
  note({ columns, rows }: TerminalSize, offset: number): void {
    if (this.#fd === null) return;
    const line = `${offset} ${columns} ${rows}\n`;
    const again = this.#used > 0 && (offset === this.#lastOffset || this.#used > MOST);
    const at = again ? this.#lastLine : this.#used;
    try {
      writeSync(this.#fd, line, at);
      if (again) ftruncateSync(this.#fd, at + line.length);
    } catch {
      return; // a full disk
    }
    this.#lastLine = at;
    this.#lastOffset = offset;
    this.#used = at + line.length;
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }
}

/** Readers learn from it why a command that wanted a terminal runs on pipes. */
export function noteNoTerminal(folder: string, step: string): void {
  try {
    writeFileSync(join(folder, "sizes"), `pipes ${step} 0\n`, { mode: 0o600 });
  } catch {
    // A full disk: the command runs all the same.
  }
}
