import { spawnSync } from "node:child_process";
import { appendFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Terminal as Emulator } from "@xterm/headless";
import type { TerminalSize } from "../../core/terminal.ts";
import { guard } from "../../text/terminal/xterm-guards.ts";
import { allProcesses, findProcess } from "../processes.ts";
import { PTY_MODULE } from "./connect.ts";
import { drain, type Output, type Stdin } from "./stdio.ts";

/** Limits on the emulator's rows and columns, regardless of the terminal's size, because each cell takes memory. */
const SIDE_MIN = 2;
const SIDE_MAX = 1000;
/** The maximum number of bytes waiting to be parsed (invariant 6). Output beyond it is skipped. */
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

const PROCESSES_MAX = 32;
/** The maximum length of a line that a terminal accepts, in bytes. */
const LINE_MAX = 4096;

/** Returns the input modes of a terminal, as `stty` reports them. Without `stty`, the defaults are assumed. */
function inputModes(terminal: string): { echo: boolean; canonical: boolean } {
  const args = [process.platform === "linux" ? "-F" : "-f", terminal, "-a"];
  const text = spawnSync("stty", args, { encoding: "utf8", env: { PATH: "/bin:/usr/bin" } }).stdout ?? "";
  const isOff = (name: string) => new RegExp(`(^|\\s)-${name}\\b`).test(text);
  return { echo: !isOff("echo"), canonical: !isOff("icanon") };
}

/** Returns the foreground process group of a process's terminal, or 0 if it is unknown. */
function foregroundGroup(pid: number): number {
  return findProcess(pid)?.foreground ?? 0;
}

/** Returns the processes on the terminal of a process, parents first, and the foreground process and group. */
function terminalProcesses(pid: number): { foreground: number; group: number; on: number[] } {
  const { terminal, foreground } = findProcess(pid) ?? { terminal: 0, foreground: 0 };
  const on = allProcesses()
    .filter((each) => terminal !== 0 && each.terminal === terminal)
    .sort((a, b) => Number(a.born) - Number(b.born) || a.pid - b.pid);
  const front = on.find(({ group }) => group === foreground);
  return { foreground: front?.pid ?? 0, group: foreground, on: on.slice(0, PROCESSES_MAX).map((each) => each.pid) };
}

/** The input of all clients since the last end of line, which is needed to check the next key. */
class TypedLine {
  #bytes: number[] = [];
  #group = 0;
  overlong = false;
  #before = 0;

  /** Adds input to the line. `group` is the foreground process group at the time of the input. */
  add(bytes: Uint8Array, group: number): void {
    if (group !== this.#group) this.#before = this.#bytes.length;
    this.#group = group;
    for (const byte of bytes) {
      if (byte === 10 || byte === 13) this.clear();
      else if (this.#bytes.length < LINE_MAX) this.#bytes.push(byte);
      else this.overlong = true;
    }
  }

  clear(): void {
    this.#bytes = [];
    this.overlong = false;
    this.#before = 0;
  }

  get isEmpty(): boolean {
    return this.#bytes.length === 0;
  }

  get hex(): string {
    return Buffer.from(this.#bytes).toString("hex");
  }

  /** Returns the number of bytes that were typed while a group other than this one was in the foreground. */
  typedBefore(group: number): number {
    return group === this.#group ? this.#before : this.#bytes.length;
  }
}

/** The part of @lydell/node-pty that is used here, including undocumented fields. */
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

  /** Writes input. Accepts no bytes while the program does not read earlier input. */
  async write(bytes: Uint8Array): Promise<number | null> {
    const taken = this.#write(bytes);
    if (taken !== null && taken > 0) this.#typed.add(bytes.subarray(0, taken), foregroundGroup(this.#pty.pid));
    return taken;
  }

  /** Writes a reply of the terminal itself, which does not count as typed. */
  respond(text: string): void {
    this.#write(Buffer.from(text));
  }

  /** Sends end of input. In the middle of a line, the first such character only submits the line. */
  finish(): void {
    this.#write(Buffer.alloc(this.#typed.isEmpty ? 1 : 2, END_OF_INPUT));
    this.#typed.clear();
  }

  /** Resizes the terminal. `offset` is the size of the output so far, which was written for the previous size. */
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

  /** Whether the terminal does not show typed text, as for a password. */
  get hidesInput(): boolean {
    const { echo, canonical } = inputModes(this.#pty.ptsName);
    return canonical && !echo;
  }

  /** Returns the input state. `reading` is null, because Node cannot detect whether the program waits for input. */
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

/** Writes the file `sizes`: the terminal's sizes and the output offset of each change, for rendering the screen. */
class SizesFile {
  readonly #path: string;
  #length = 0;

  constructor(folder: string) {
    this.#path = join(folder, SIZES_FILE);
  }

  /** Adds a size. Best effort: without the file, the screen is rendered with the default size. */
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
    // The disk is full. The command runs without the record.
  }
}
