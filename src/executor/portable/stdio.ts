import { spawnSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { step } from "./launch-paths.ts";

interface Pipe {
  read: number;
  write: number;
}

/** An output of a command. */
export interface Output {
  /** Whether the output has ended. */
  readonly ended: boolean;
  /** Reads everything that is available now. */
  drain(): void;
  close(): void;
}

/** The standard input of a command. */
export interface Stdin {
  readonly isOpen: boolean;
  /** Resolves with the number of accepted bytes, or null if stdin is closed. */
  write(bytes: Uint8Array): Promise<number | null>;
  /** Closes stdin after the command has read everything. */
  finish(): void;
  close(): void;
}

const PIPES_AT_ONCE = 16;
const STDIN_QUEUE_MAX = 1 << 20;
/** A read buffer for all outputs. Bytes are stored before the next read. */
const BUFFER = Buffer.allocUnsafe(256 << 10);
/** The maximum number of bytes per drain: more than a pipe holds, but bounded if the command keeps writing. */
const DRAIN_MAX = 2 << 20;
const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;

/**
 * Pipes for stdout and stderr. Node connects children through sockets, which commands cannot open by name (`echo x >
 * /dev/stderr` fails) and which stdout and stderr cannot share. A FIFO that is open at both ends and unlinked is
 * equivalent to pipe(2). Creating a FIFO requires running `mkfifo`, so several are created at once.
 */
export class PipePool {
  readonly #state: string;
  #ready: Pipe[] = [];

  constructor(state: string) {
    this.#state = state;
  }

  /** Returns `count` new pipes. Throws `LaunchStepError`. */
  take(count: number): Pipe[] {
    step("pipe", () => {
      try {
        if (this.#ready.length < count) this.#create();
      } catch (error) {
        if (this.#ready.length < count) throw error;
      }
    });
    return this.#ready.splice(0, count);
  }

  #create(): void {
    const folder = mkdtempSync(join(this.#state, "pipes-"));
    try {
      const paths = Array.from({ length: PIPES_AT_ONCE }, (_, i) => join(folder, String(i)));
      const env = { PATH: "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin" };
      const { status, error } = spawnSync("mkfifo", ["-m", "600", ...paths], { stdio: "ignore", env });
      if (status !== 0) throw error ?? new Error(`mkfifo ended with code ${status}`);
      for (const path of paths) this.#ready.push(openBothEnds(path));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

function openBothEnds(path: string): Pipe {
  const read = openSync(path, O_RDONLY | O_NONBLOCK); // a blocking open would wait for the other end
  try {
    return { read, write: openSync(path, O_WRONLY) };
  } catch (error) {
    closeSync(read);
    throw error;
  }
}

/** Reads the available bytes of a non-blocking descriptor. Returns true at its end. */
export function drain(fd: number, store: (bytes: Uint8Array) => void): boolean {
  try {
    for (let drained = 0; drained < DRAIN_MAX; ) {
      const length = readSync(fd, BUFFER);
      if (length === 0) return true;
      store(BUFFER.subarray(0, length));
      drained += length;
    }
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "EAGAIN";
  }
}

/** The reading end of a pipe. */
export class PipeOutput implements Output {
  readonly #fd: number;
  readonly #socket: Socket;
  readonly #store: (bytes: Uint8Array) => void;
  readonly #onEnd: () => void;
  ended = false;

  constructor(fd: number, store: (bytes: Uint8Array) => void, onEnd: () => void) {
    this.#fd = fd;
    this.#store = store;
    this.#onEnd = onEnd;
    const callback = (length: number) => {
      store(BUFFER.subarray(0, length));
      return true;
    };
    this.#socket = new Socket({ fd, readable: true, writable: false, onread: { buffer: BUFFER, callback } });
    this.#socket.on("error", () => this.close());
    this.#socket.once("end", () => this.close());
    this.#socket.resume();
  }

  drain(): void {
    if (!this.ended && drain(this.#fd, this.#store)) this.close();
  }

  close(): void {
    if (this.ended) return;
    this.ended = true;
    this.#socket.destroy();
    this.#onEnd();
  }
}

/** Queues input until the command reads it, up to a limit (invariant 6). */
export class StreamStdin implements Stdin {
  #stream: Writable | null;
  #finishing = false;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on("error", () => this.close()); // the command closed its stdin or has ended
  }

  get isOpen(): boolean {
    return this.#stream !== null && !this.#finishing;
  }

  write(bytes: Uint8Array): Promise<number | null> {
    const stream = this.#stream;
    if (stream === null || this.#finishing) return Promise.resolve(null);
    const taken = Math.min(bytes.length, STDIN_QUEUE_MAX - stream.writableLength);
    if (taken > 0) stream.write(bytes.subarray(0, taken));
    // A closed stdin is detected in the next iteration of the event loop.
    return new Promise((resolve) => setImmediate(() => resolve(this.#stream === null ? null : taken)));
  }

  finish(): void {
    this.#finishing = true;
    this.#stream?.end(() => this.close());
  }

  close(): void {
    this.#stream?.destroy();
    this.#stream = null;
  }
}
