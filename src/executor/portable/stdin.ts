import type { Writable } from "node:stream";

const QUEUE_MOST = 1 << 20;

/** A command's stdin. */
export interface Feed {
  readonly isOpen: boolean;
  /** How many bytes were taken; null: stdin is closed. Answers when the system has seen them, not the command. */
  write(bytes: Uint8Array): Promise<number | null>;
  /** Ends it when everything was read. */
  finish(): void;
  close(): void;
}

/** What is written waits here until the command reads, up to a bound (promise 6). */
export class StreamFeed implements Feed {
  #stream: Writable | null;
  #closing = false;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on("error", () => this.close()); // the command closed its stdin, or has ended
  }

  get isOpen(): boolean {
    return this.#stream !== null && !this.#closing;
  }

  write(bytes: Uint8Array): Promise<number | null> {
    const stream = this.#stream;
    if (stream === null || this.#closing) return Promise.resolve(null);
    const taken = Math.min(bytes.length, QUEUE_MOST - stream.writableLength);
    if (taken > 0) stream.write(bytes.subarray(0, taken));
    // A stdin that nobody reads any more shows on the first write, but a turn later.
    return new Promise((resolve) => setImmediate(() => resolve(this.#stream === null ? null : taken)));
  }

  finish(): void {
    this.#closing = true;
    this.#stream?.end(() => this.close());
  }

  close(): void {
    this.#stream?.destroy();
    this.#stream = null;
  }
}
