import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** Server-Sent Events as text. Data is JSON, which has no line ends of its own. */

export const EVENT_STREAM = "text/event-stream";

/** How soon a browser comes back by itself. */
const RETRY_MS = 1000;

/** The first thing on a stream: something at once, so that whoever waits for the headers has them. */
const OPENING = `retry: ${RETRY_MS}\n\n`;
/** A comment: shows both ends that the other is there. */
const HEARTBEAT = ":\n\n";

/** Without an id, the position of whoever reads stays where it was. */
export function eventText(type: string, data: unknown, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

const STREAM_HEADERS: Readonly<Record<string, string>> = {
  "content-type": EVENT_STREAM,
  // Proxies in between are not to collect events, nor to compress them.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};

/** So much, and one event, waits here for somebody who reads slowly; then the stream ends, and they resume. */
const MAX_QUEUED = 1 << 20;
/** From here on nothing is added that can wait. */
const HIGH_WATER_MARK = 64 * 1024;
/** Who takes nothing of what waits for so many heartbeats is not there. */
const MAX_BEATS_STUCK = 4;

interface EventStreamOptions {
  /** The connection, to be cut when it takes too little. */
  socket: Pick<Socket, "destroy">;
  /** Whoever reads is still who they were. */
  isGood: () => boolean;
  onClose: () => void;
  /** It was ended because its reader took too little. */
  onCut?: () => void;
}

/** One answer of events that is written as they come. Never more than a bounded amount waits for its reader. */
export class EventStream {
  readonly response: Response;
  readonly #options: EventStreamOptions;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #hasRoom = Promise.withResolvers<void>();
  #closed = false;
  #beatsStuck = 0;
  #queuedAtBeat = 0;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          this.#hasRoom.resolve();
        },
        cancel: () => this.#end(),
      },
      { highWaterMark: HIGH_WATER_MARK, size: (bytes) => bytes?.byteLength ?? 0 },
    );
    this.response = new Response(body, { headers: STREAM_HEADERS });
    this.push(OPENING);
  }

  get isOpen(): boolean {
    return !this.#closed;
  }

  /** False: it is closed, perhaps just now because its reader is too slow. */
  push(text: string): boolean {
    if (this.#closed) return false;
    if (this.#queued > MAX_QUEUED) {
      this.cut();
      return false;
    }
    this.#controller?.enqueue(Buffer.from(text));
    return true;
  }

  get #queued(): number {
    return HIGH_WATER_MARK - (this.#controller?.desiredSize ?? HIGH_WATER_MARK);
  }

  /** Resolves when more may be added that can wait. */
  async room(): Promise<void> {
    while (!this.#closed && this.#queued >= HIGH_WATER_MARK) {
      this.#hasRoom = Promise.withResolvers();
      await this.#hasRoom.promise;
    }
  }

  /** Shows both sides that the other is there, and ends the stream of somebody who was signed out meanwhile. */
  beat(): void {
    if (!this.#options.isGood()) {
      this.close();
      return;
    }
    const queued = this.#queued;
    if (queued === 0) this.push(HEARTBEAT);
    this.#beatsStuck = queued > 0 && queued >= this.#queuedAtBeat ? this.#beatsStuck + 1 : 0;
    this.#queuedAtBeat = queued;
    if (this.#beatsStuck >= MAX_BEATS_STUCK) this.cut();
  }

  /** What is queued is still sent. */
  close(): void {
    if (this.#closed) return;
    this.#controller?.close();
    this.#end();
  }

  /** Nothing more is sent. */
  cut(): void {
    if (this.#closed) return;
    this.#options.onCut?.();
    this.#end();
    this.#options.socket.destroy();
  }

  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#hasRoom.resolve();
    this.#options.onClose();
  }
}

/** Where the reader of an earlier stream was; null: they come for the first time. */
export function lastEventId({ headers }: Pick<IncomingMessage, "headers">): string | null {
  const given = headers["last-event-id"];
  return typeof given === "string" && given !== "" ? given : null;
}

/** What stays open and is looked after from time to time. */
export interface OpenStream {
  beat(): void;
  close(): void;
}

const HEARTBEAT_MS = 15_000;

/** All streams of a kind: one timer for all, and a way to end them. */
export class Streams {
  readonly #kept = new Set<OpenStream>();
  readonly #timer: NodeJS.Timeout;

  constructor(everyMs: number = HEARTBEAT_MS) {
    this.#timer = setInterval(() => {
      for (const each of [...this.#kept]) each.beat();
    }, everyMs);
    this.#timer.unref();
  }

  /** Of those that were ended because their reader was too slow. */
  cut = 0;

  get count(): number {
    return this.#kept.size;
  }

  /** Returns how to let go of it. */
  add(kept: OpenStream): () => void {
    this.#kept.add(kept);
    return () => this.#kept.delete(kept);
  }

  close(): void {
    clearInterval(this.#timer);
    for (const each of [...this.#kept]) each.close();
  }
}
