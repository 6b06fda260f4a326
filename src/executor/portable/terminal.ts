import { spawnSync } from "node:child_process";
import {
  closeSync,
  constants,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { TerminalSize } from "../../contract/terminal.ts";
import type { LaunchSpec } from "../executor.ts";
import type { Feed } from "./feed.ts";
import { type Listener, masked, type Running } from "./launch.ts";
import { openFolder, StepFailed } from "./place.ts";
import { bornOf, MARK } from "./processes.ts";
import { findProgram } from "./program.ts";
import type { Source } from "./source.ts";

/** What is used of @lydell/node-pty; `fd` and `ptsName` it has where there are files for terminals. */
interface Pty {
  readonly pid: number;
  readonly fd?: number;
  readonly ptsName?: string;
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
const END_OF_INPUT = Buffer.from([4]);
const SIZES_MOST = 1 << 20;
const BUFFER = Buffer.allocUnsafe(64 << 10);

/** Whether terminals can be had here: their opener is an optional part, with a compiled half for each platform. */
export function hasTerminals(): boolean {
  try {
    createRequire(import.meta.url).resolve(OPENER);
    return true;
  } catch {
    return false;
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
  const { columns, rows } = spec.pty as TerminalSize;
  let pty: Pty;
  try {
    const opener = (await import(OPENER)) as Opener;
    const env = { ...spec.env, [MARK]: spec.id };
    const options = { cwd: spec.cwd, env, cols: columns, rows, encoding: null, name: spec.env.TERM };
    pty = masked(umask, () => opener.spawn(file, spec.argv.slice(1), options));
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return /MODULE_NOT_FOUND/.test(code) ? "module" : "open";
  }
  const source = new PtySource(pty, (bytes) => took(0, bytes), atEnd);
  const terminal = new Terminal(pty, { columns, rows }, folder);
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

class PtySource implements Source {
  readonly #pty: Pty;
  readonly #take: (bytes: Uint8Array) => void;
  readonly #atEnd: () => void;
  ended = false;

  constructor(pty: Pty, take: (bytes: Uint8Array) => void, atEnd: () => void) {
    this.#pty = pty;
    this.#take = take;
    this.#atEnd = atEnd;
    pty.onData((bytes) => {
      if (!this.ended) take(bytes);
    });
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

/** The terminal of one command: what is typed into it, and how large it is. */
export class Terminal implements Feed {
  readonly #pty: Pty;
  #size: TerminalSize;
  #sizes: number | null = null;
  #used = 0;
  #lastLine = 0;
  #lastOffset = -1;
  #closed = false;

  constructor(pty: Pty, size: TerminalSize, folder: string) {
    this.#pty = pty;
    this.#size = size;
    try {
      const { O_WRONLY, O_CREAT, O_NOFOLLOW } = constants;
      this.#sizes = openSync(join(folder, "sizes"), O_WRONLY | O_CREAT | (O_NOFOLLOW ?? 0), 0o600);
    } catch {
      // A full disk: the screen is then drawn for the usual size.
    }
    this.#note(0);
  }

  get isOpen(): boolean {
    return !this.#closed;
  }

  /** How many bytes were taken: none while the program does not read what was typed before. */
  async write(bytes: Uint8Array): Promise<number | null> {
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

  /** The end of input is a character here. */
  finish(): void {
    void this.write(END_OF_INPUT);
  }

  /** `offset`: bytes of output so far, which were drawn for the size of so far. */
  resize(size: TerminalSize, offset: number): boolean {
    if (this.#closed || size.columns === 0 || size.rows === 0) return false;
    try {
      this.#pty.resize(size.columns, size.rows);
    } catch {
      return false; // it was hung up meanwhile
    }
    const changed = size.columns !== this.#size.columns || size.rows !== this.#size.rows;
    this.#size = size;
    if (changed) this.#note(offset);
    return true;
  }

  /** Who is in the foreground and how it takes input, as far as programs can tell that are not its parent. */
  inputState(): { reading: null; echo: boolean; canonical: boolean; foreground: number } {
    const flags = this.#pty.ptsName === undefined ? "" : modesOf(this.#pty.ptsName);
    const has = (name: string) => !new RegExp(`(^|\\s)-${name}\\b`).test(flags);
    return { reading: null, echo: has("echo"), canonical: has("icanon"), foreground: foregroundOf(this.#pty.pid) };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#pty.destroy();
    if (this.#sizes !== null) closeSync(this.#sizes);
  }

  /** A resize without output in between replaces the one before it. Bounded, however often a window is dragged about. */
  #note(offset: number): void {
    if (this.#sizes === null) return;
    const line = `${offset} ${this.#size.columns} ${this.#size.rows}\n`;
    const again = this.#used > 0 && (offset === this.#lastOffset || this.#used > SIZES_MOST);
    const at = again ? this.#lastLine : this.#used;
    try {
      writeSync(this.#sizes, line, at);
      if (again) ftruncateSync(this.#sizes, at + line.length);
    } catch {
      return; // a full disk
    }
    this.#lastLine = at;
    this.#lastOffset = offset;
    this.#used = at + line.length;
  }
}

function modesOf(terminal: string): string {
  const which = process.platform === "linux" ? "-F" : "-f";
  return spawnSync("stty", [which, terminal, "-a"], { encoding: "utf8", env: { PATH: "/bin:/usr/bin" } }).stdout ?? "";
}

/** The leader of the terminal's foreground group; 0: it cannot be seen. */
function foregroundOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Math.max(0, Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[5]));
  } catch {
    return 0;
  }
}
