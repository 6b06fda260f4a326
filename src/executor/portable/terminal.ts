import { appendFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { TerminalSize } from "../../core/terminal.ts";
import { PTY_MODULE } from "./connect.ts";
import { drain, type Output, type Stdin } from "./stdio.ts";
import { foregroundGroup, inputModes, TypedLine, terminalProcesses } from "./terminal-input.ts";
import type { TerminalResponder } from "./terminal-responder.ts";

/** The part of @lydell/node-pty that is used here, including fields it does not document. */
export interface Pty {
  readonly pid: number;
  readonly fd: number;
  readonly ptsName: string;
  readonly _socket: { destroy(error?: Error): unknown };
  onData(listener: (data: Buffer) => void): void;
  onExit(listener: (end: { exitCode: number; signal?: number }) => void): void;
  resize(columns: number, rows: number): void;
  destroy(): void;
}

interface PtyModule {
  spawn(file: string, args: string[], options: object): Pty;
}

const END_OF_INPUT = 4;
const SIZES_FILE = "sizes";
const SIZES_MAX = 1 << 20;

export async function loadPty(): Promise<PtyModule> {
  return (await import(PTY_MODULE)) as PtyModule;
}

/** The output of a terminal. It ends when the main process ends. */
export class PtyOutput implements Output {
  readonly #fd: number;
  readonly #store: (bytes: Uint8Array) => void;
  readonly #onEnd: () => void;
  ended = false;

  constructor(pty: Pty, onEnd: () => void, store: (bytes: Uint8Array) => void) {
    this.#fd = pty.fd;
    this.#store = store;
    this.#onEnd = onEnd;
    pty.onData((bytes) => {
      if (!this.ended) store(bytes);
    });
    // node-pty closes the terminal 200 ms after the command's end, even if not all of its output has been read.
    const { _socket: socket } = pty;
    const destroy = socket.destroy.bind(socket);
    socket.destroy = (error) => {
      socket.destroy = destroy;
      this.drain();
      return destroy(error);
    };
  }

  drain(): void {
    if (!this.ended) drain(this.#fd, this.#store);
  }

  close(): void {
    if (this.ended) return;
    this.ended = true;
    this.#onEnd();
  }
}

/** The terminal of one command, which is also its stdin. */
export class Terminal implements Stdin {
  readonly #pty: Pty;
  readonly #responder: TerminalResponder;
  readonly #sizes: SizesFile;
  readonly #typed = new TypedLine();
  #size: TerminalSize;
  #closed = false;

  constructor(pty: Pty, size: TerminalSize, folder: string, responder: TerminalResponder) {
    this.#pty = pty;
    this.#size = size;
    this.#responder = responder;
    this.#sizes = new SizesFile(folder);
    this.#sizes.add(size, 0);
  }

  get isOpen(): boolean {
    return !this.#closed;
  }

  /** Accepts no bytes while the program does not read what was typed before. */
  async write(bytes: Uint8Array): Promise<number | null> {
    const taken = this.#write(bytes);
    if (taken !== null && taken > 0) this.#typed.add(bytes.subarray(0, taken), foregroundGroup(this.#pty.pid));
    return taken;
  }

  /** Writes a reply of the terminal itself, which does not count as typed. */
  respond(text: string): void {
    this.#write(Buffer.from(text));
  }

  /** In the middle of a line, the first end-of-input character only submits the line. */
  finish(): void {
    this.#write(Buffer.alloc(this.#typed.isEmpty ? 1 : 2, END_OF_INPUT));
    this.#typed.clear();
  }

  /** `offset`: the output so far, which was drawn for the previous size. */
  resize(size: TerminalSize, offset: number): boolean {
    if (this.#closed || size.columns === 0 || size.rows === 0) return false;
    try {
      this.#pty.resize(size.columns, size.rows);
      this.#responder.resize(size);
    } catch {
      return false; // the terminal has been closed
    }
    if (size.columns !== this.#size.columns || size.rows !== this.#size.rows) this.#sizes.add(size, offset);
    this.#size = size;
    return true;
  }

  /** Whether typed text is not shown, as for a password. */
  get hidesInput(): boolean {
    const { echo, canonical } = inputModes(this.#pty.ptsName);
    return canonical && !echo;
  }

  /** `reading` is null: Node cannot tell whether the program waits for input. */
  inputState(): object {
    const { group, ...processes } = terminalProcesses(this.#pty.pid);
    return {
      reading: null,
      ...inputModes(this.#pty.ptsName),
      ...processes,
      ...this.#responder.modes,
      typed: this.#typed.hex,
      overlong: this.#typed.overlong,
      before: this.#typed.typedBefore(group),
    };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#pty.destroy();
    this.#responder.close();
  }

  #write(bytes: Uint8Array): number | null {
    if (this.#closed) return null;
    try {
      return writeSync(this.#pty.fd, bytes);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "EAGAIN" ? 0 : null;
    }
  }
}

/** The file `sizes`: the terminal's sizes and the output offset of each change, for redrawing the screen. */
class SizesFile {
  readonly #path: string;
  #length = 0;

  constructor(folder: string) {
    this.#path = join(folder, SIZES_FILE);
  }

  /** Best effort: without it, the screen is drawn for the default size. */
  add({ columns, rows }: TerminalSize, offset: number): void {
    const line = `${offset} ${columns} ${rows}\n`;
    if (this.#length + line.length > SIZES_MAX) return;
    try {
      appendFileSync(this.#path, line, { mode: 0o600 });
      this.#length += line.length;
    } catch {
      // The disk is full.
    }
  }
}

/** Records why a command that requested a terminal runs on pipes. */
export function recordNoTerminal(folder: string, step: string): void {
  try {
    writeFileSync(join(folder, SIZES_FILE), `pipes ${step} 0\n`, { mode: 0o600 });
  } catch {
    // The disk is full; the command runs without the record.
  }
}
