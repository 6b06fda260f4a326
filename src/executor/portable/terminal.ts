import { readSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import type { LaunchSpec } from "../../core/launch.ts";
import type { TerminalSize } from "../../core/terminal.ts";
import { bornOf, MARK } from "../process-table.ts";
import { type Listener, masked, type Running } from "./launch.ts";
import { openFolder, StepFailed } from "./launch-paths.ts";
import { findProgram } from "./program.ts";
import { Sizes } from "./sizes.ts";
import type { Feed } from "./stdin.ts";
import type { Source } from "./stdio.ts";
import { groupInFront, modesOf, usersOf } from "./terminal-input.ts";
import { Answers } from "./terminal-responder.ts";
import { Typed } from "./typed.ts";

/** What is used of @lydell/node-pty; `fd`, `ptsName` and `_socket` it has where there are files for terminals. */
interface Pty {
  readonly pid: number;
  readonly fd?: number;
  readonly ptsName?: string;
  readonly _socket?: { destroy(error?: Error): unknown };
  onData(listener: (data: Buffer) => void): void;
  onExit(listener: (end: { exitCode: number; signal?: number }) => void): void;
  write(data: Buffer): void;
  resize(columns: number, rows: number): void;
  destroy(): void;
}

interface Opener {
  spawn(file: string, args: string[], options: object): Pty;
}

const OPENER = "@lydell/node-pty";
const END_OF_INPUT = 4;
const BUFFER = Buffer.allocUnsafe(64 << 10);

let openerFound: boolean | null = null;

/** Whether terminals can be had here: their opener is an optional part, with a compiled half for each platform. */
export function hasTerminals(): boolean {
  openerFound ??= canResolve(OPENER);
  return openerFound;
}

function canResolve(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** What failed, in a word, when there is no terminal to be had. */
export async function onTerminal(
  spec: LaunchSpec,
  umask: number,
  folder: string,
  { took, atEnd }: Listener,
): Promise<Running | string> {
  const file = findProgram(spec.file, spec.path);
  if (typeof file === "number") throw new StepFailed("execve", file);
  openFolder(spec).close();
  const size = spec.pty as TerminalSize;
  let terminal: Terminal | null = null;
  let answers: Answers;
  let pty: Pty;
  try {
    answers = await Answers.open(size, (text) => terminal?.answer(text));
    pty = await spawn(spec, umask, file, size);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return /MODULE_NOT_FOUND/.test(code) ? "module" : "open";
  }
  terminal = new Terminal(pty, size, folder, answers);
  const source = new PtySource(pty, atEnd, (bytes) => {
    took(0, bytes);
    answers.read(bytes);
  });
  return {
    root: { pid: pty.pid, born: bornOf(pty.pid) ?? "", group: process.platform !== "win32" },
    sources: [source],
    feed: terminal,
    terminal,
    notes: [],
    onExit: (tell) =>
      pty.onExit(({ exitCode, signal = 0 }) => {
        source.close();
        tell(signal > 0 ? null : exitCode, signal);
      }),
  };
}

async function spawn(spec: LaunchSpec, umask: number, file: string, { columns, rows }: TerminalSize): Promise<Pty> {
  const opener = (await import(OPENER)) as Opener;
  const env = { ...spec.env, [MARK]: spec.id };
  const options = { cwd: spec.cwd, env, cols: columns, rows, encoding: null, name: spec.env.TERM };
  return masked(umask, () => opener.spawn(file, spec.argv.slice(1), options));
}

class PtySource implements Source {
  readonly #pty: Pty;
  readonly #take: (bytes: Uint8Array) => void;
  readonly #atEnd: () => void;
  ended = false;

  constructor(pty: Pty, atEnd: () => void, take: (bytes: Uint8Array) => void) {
    this.#pty = pty;
    this.#take = take;
    this.#atEnd = atEnd;
    pty.onData((bytes) => {
      if (!this.ended) take(bytes);
    });
    this.#readBeforeItIsClosed();
  }

  /** A process that gets no processor for 200 ms after a command's end has its terminal closed, read to the end or not. */
  #readBeforeItIsClosed(): void {
    const { fd, _socket: socket } = this.#pty;
    if (fd === undefined || !socket) return;
    const destroy = socket.destroy.bind(socket);
    socket.destroy = (error) => {
      socket.destroy = destroy;
      this.drain();
      return destroy(error);
    };
  }

  drain(): boolean {
    if (this.ended) return true;
    const { fd } = this.#pty;
    if (fd === undefined) return false;
    try {
      for (let length = 1; length > 0; ) {
        length = readSync(fd, BUFFER);
        if (length > 0) this.#take(BUFFER.subarray(0, length));
      }
    } catch {
      // Nothing there now, or hung up: its end is told by the main process's.
    }
    return true;
  }

  close(): void {
    if (this.ended) return;
    this.ended = true;
    this.#atEnd();
  }
}

/** The terminal of one command: what is typed into it, who reads that, and how large it is. */
export class Terminal implements Feed {
  readonly #pty: Pty;
  readonly #answers: Answers;
  readonly #sizes: Sizes;
  readonly #typed = new Typed();
  #size: TerminalSize;
  #closed = false;

  constructor(pty: Pty, size: TerminalSize, folder: string, answers: Answers) {
    this.#pty = pty;
    this.#size = size;
    this.#answers = answers;
    this.#sizes = new Sizes(folder, size);
  }

  get isOpen(): boolean {
    return !this.#closed;
  }

  /** How many bytes were taken: none while the program does not read what was typed before. */
  async write(bytes: Uint8Array): Promise<number | null> {
    const taken = this.#put(bytes);
    if (taken !== null && taken > 0) this.#typed.note(bytes.subarray(0, taken), groupInFront(this.#pty.pid));
    return taken;
  }

  /** What the emulator says on the terminal's behalf: nobody typed it. */
  answer(text: string): void {
    this.#put(Buffer.from(text));
  }

  /** In the middle of a line the first one only sends off what was typed; the second, on nothing, is the end. */
  finish(): void {
    this.#put(Buffer.alloc(this.#typed.isEmpty ? 1 : 2, END_OF_INPUT));
    this.#typed.clear();
  }

  /** `offset`: bytes of output so far, which were drawn for the size of so far. */
  resize(size: TerminalSize, offset: number): boolean {
    if (this.#closed || size.columns === 0 || size.rows === 0) return false;
    try {
      this.#pty.resize(size.columns, size.rows);
      this.#answers.resize(size);
    } catch {
      return false; // it was hung up meanwhile
    }
    if (size.columns !== this.#size.columns || size.rows !== this.#size.rows) this.#sizes.note(size, offset);
    this.#size = size;
    return true;
  }

  /** Whether what is typed is not to be seen: a password is asked for. */
  get hides(): boolean {
    const { echo, canonical } = modesOf(this.#pty.ptsName);
    return canonical && !echo;
  }

  /** Who is in front and how it takes input. Whether it waits for any, only its parent's kernel could tell. */
  inputState(): object {
    const { group, ...users } = usersOf(this.#pty.pid);
    return {
      reading: null,
      ...modesOf(this.#pty.ptsName),
      ...users,
      ...this.#answers.modes,
      typed: this.#typed.hex,
      overlong: this.#typed.overlong,
      before: this.#typed.before(group),
    };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#pty.destroy();
    this.#answers.close();
    this.#sizes.close();
  }

  #put(bytes: Uint8Array): number | null {
    if (this.#closed) return null;
    const { fd } = this.#pty;
    if (fd === undefined) {
      this.#pty.write(Buffer.from(bytes));
      return bytes.length;
    }
    try {
      return writeSync(fd, bytes);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "EAGAIN" ? 0 : null;
    }
  }
}
