import type { Terminal as Emulator } from "@xterm/headless";
import type { TerminalSize } from "../../core/terminal.ts";
import { guard } from "../../text/terminal/xterm-guards.ts";

/** Every cell of the emulator takes memory, so its size is limited, whatever size the terminal has. */
const SIDE_MIN = 2;
const SIDE_MAX = 1000;
/** Output beyond this is skipped (promise 6): a flood does not contain queries. */
const PENDING_MAX = 4 << 20;

function clampSide(length: number): number {
  return Math.min(SIDE_MAX, Math.max(SIDE_MIN, length));
}

/**
 * Replies to terminal queries, such as for the cursor position. A program may wait for the reply forever, and a session
 * runs without an attached client, so the keeper replies through a headless emulator.
 */
export class TerminalResponder {
  readonly #emulator: Emulator;
  #pending = 0;

  private constructor(emulator: Emulator) {
    this.#emulator = emulator;
  }

  static async open(size: TerminalSize, respond: (text: string) => void): Promise<TerminalResponder> {
    const { default: headless } = await import("@xterm/headless");
    const options = { scrollback: 0, allowProposedApi: true, logLevel: "off" as const };
    const dimensions = { cols: clampSide(size.columns), rows: clampSide(size.rows) };
    const emulator = new headless.Terminal({ ...dimensions, ...options });
    guard(emulator);
    emulator.onData(respond);
    return new TerminalResponder(emulator);
  }

  /** Processes output of the command. */
  read(bytes: Uint8Array): void {
    if (this.#pending + bytes.length > PENDING_MAX) return;
    this.#pending += bytes.length;
    const copy = Buffer.from(bytes); // the emulator parses it later, when the buffer has been reused
    this.#emulator.write(copy, () => {
      this.#pending -= copy.length;
    });
  }

  resize({ columns, rows }: TerminalSize): void {
    this.#emulator.resize(clampSide(columns), clampSide(rows));
  }

  get modes(): { applicationCursor: boolean; bracketedPaste: boolean } {
    const { applicationCursorKeysMode, bracketedPasteMode } = this.#emulator.modes;
    return { applicationCursor: applicationCursorKeysMode, bracketedPaste: bracketedPasteMode };
  }

  close(): void {
    this.#emulator.dispose();
  }
}
