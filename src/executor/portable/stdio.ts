import { readSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";

/** Where a command's output comes from. */
export interface Source {
  /** Nothing more can come. */
  readonly ended: boolean;
  /** Takes what is there at this moment. False: that cannot be known here. */
  drain(): boolean;
  close(): void;
}

type Taker = (bytes: Uint8Array) => void;

/** What comes is written out before the next read, so one buffer serves all. */
const BUFFER = Buffer.allocUnsafe(256 << 10);
/** More than a pipe holds, in case somebody writes as fast as it is read here. */
const MOST_DRAINED = 2 << 20;

/** The reading end of a pipe. */
export class PipeSource implements Source {
  readonly #fd: number;
  readonly #socket: Socket;
  readonly #take: Taker;
  readonly #atEnd: () => void;
  ended = false;

  constructor(fd: number, take: Taker, atEnd: () => void) {
    this.#fd = fd;
    this.#take = take;
    this.#atEnd = atEnd;
    const onread = {
      buffer: BUFFER,
      callback: (length: number) => {
        take(BUFFER.subarray(0, length));
        return true;
      },
    };
    this.#socket = new Socket({ fd, readable: true, writable: false, onread });
    this.#socket.on("error", () => this.close());
    this.#socket.once("end", () => this.close());
    this.#socket.resume();
  }

  drain(): boolean {
    let drained = 0;
    try {
      while (!this.ended && drained < MOST_DRAINED) {
        const length = readSync(this.#fd, BUFFER);
        if (length === 0) this.close();
        else this.#take(BUFFER.subarray(0, length));
        drained += length;
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") this.close();
    }
    return true;
  }

  close(): void {
    if (this.ended) return;
    this.ended = true;
    this.#socket.destroy();
    this.#atEnd();
  }
}

/** A stream of Node's own: what it has not told of yet cannot be asked for. */
export class StreamSource implements Source {
  readonly #stream: Readable;
  readonly #atEnd: () => void;
  ended = false;

  constructor(stream: Readable, take: Taker, atEnd: () => void) {
    this.#stream = stream;
    this.#atEnd = atEnd;
    stream.on("data", take);
    stream.on("error", () => this.close());
    stream.once("end", () => this.close());
    stream.once("close", () => this.close());
  }

  drain(): boolean {
    return this.ended;
  }

  close(): void {
    if (this.ended) return;
    this.ended = true;
    this.#stream.destroy();
    this.#atEnd();
  }
}
