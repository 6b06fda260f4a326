import type { Terminal as Emulator } from "@xterm/headless";
import type { TerminalSize } from "../../core/terminal.ts";
import { guard } from "../../text/terminal/xterm-guards.ts";

/** Every cell takes memory: a size is asked for, not needed. */
const LEAST_SIDE = 2;
const MOST_SIDE = 1000;

function side(length: number): number {
  return Math.min(MOST_SIDE, Math.max(LEAST_SIDE, length));
}

/** More than this is not looked through at a time: a flood asks nothing, and memory is bounded (promise 6). */
const PENDING_MOST = 4 << 20;

/**
 * Programs ask their terminal what it is and where the cursor stands, and may wait for the answer for ever. Nobody need
 * be attached for a session to go on, so its keeper answers, through an emulator without a screen.
 */
export class Answers {
  readonly #emulator: Emulator;
  #pending = 0;

  private constructor(emulator: Emulator) {
    this.#emulator = emulator;
  }

  static async open(size: TerminalSize, say: (text: string) => void): Promise<Answers> {
    const { default: headless } = await import("@xterm/headless");
    const options = { scrollback: 0, allowProposedApi: true, logLevel: "off" as const };
    const emulator = new headless.Terminal({ cols: side(size.columns), rows: side(size.rows), ...options });
    guard(emulator);
    emulator.onData(say);
    return new Answers(emulator);
  }

  /** What the command wrote. */
  read(bytes: Uint8Array): void {
    if (this.#pending + bytes.length > PENDING_MOST) return;
    this.#pending += bytes.length;
    const copy = Buffer.from(bytes); // it is looked through later, and the bytes are overwritten by then
    this.#emulator.write(copy, () => {
      this.#pending -= copy.length;
    });
  }

  resize({ columns, rows }: TerminalSize): void {
    this.#emulator.resize(side(columns), side(rows));
  }

  get modes(): { applicationCursor: boolean; bracketedPaste: boolean } {
    const { applicationCursorKeysMode, bracketedPasteMode } = this.#emulator.modes;
    return { applicationCursor: applicationCursorKeysMode, bracketedPaste: bracketedPasteMode };
  }

  close(): void {
    this.#emulator.dispose();
  }
}
