import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

// Server-Sent Events. The data of an event is JSON, which contains no line breaks.

export const EVENT_STREAM = "text/event-stream";

/** How long a browser waits before it reconnects. */
const RETRY_MS = 1000;

/** Sent first, so that the headers reach the client immediately. */
const OPENING = `retry: ${RETRY_MS}\n\n`;
/** A comment that keeps the connection alive. */
const HEARTBEAT = ":\n\n";

/** Serializes an event. An event without an ID does not change the client's position. */
export function eventText(type: string, data: unknown, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

const STREAM_HEADERS: Readonly<Record<string, string>> = {
  "content-type": EVENT_STREAM,
  // Keeps proxies from buffering or compressing events.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};

/** Maximum number of bytes queued for a slow client. Beyond this the stream is cut, and the client resumes it. */
const MAX_QUEUED = 1 << 20;
/** Number of queued bytes at which `room` starts to wait. */
const HIGH_WATER_MARK = 64 * 1024;
/** A client that has read nothing for this many heartbeats is considered gone. */
const MAX_BEATS_STUCK = 4;

interface EventStreamOptions {
  /** The connection, which is destroyed when the client reads too slowly. */
  socket: Pick<Socket, "destroy">;
  /** Reports whether the client's token or sign-in is still valid. */
  isGood: () => boolean;
  onClose: () => void;
  /** Called when the stream is cut because the client reads too slowly. */
  onCut?: () => void;
}

/** An event stream response. A bounded amount of data is queued for its client. */
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

  /** Queues text. Returns false when the stream is closed, including when it is cut by this call. */
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

  /** Resolves when the queue is below the high-water mark, or the stream is closed. */
  async room(): Promise<void> {
    while (!this.#closed && this.#queued >= HIGH_WATER_MARK) {
      this.#hasRoom = Promise.withResolvers();
      await this.#hasRoom.promise;
    }
  }

  /** Sends a heartbeat. Closes the stream when the caller was signed out, and cuts it when the client reads nothing. */
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

  /** Ends the stream after the queued data. */
  close(): void {
    if (this.#closed) return;
    this.#controller?.close();
    this.#end();
  }

  /** Ends the stream immediately. Queued data is discarded. */
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

/** Returns the position at which the client wants to resume; null for a new stream. */
export function lastEventId({ headers }: Pick<IncomingMessage, "headers">): string | null {
  const given = headers["last-event-id"];
  return typeof given === "string" && given !== "" ? given : null;
}

/** A connection that stays open and is checked periodically. */
export interface OpenStream {
  beat(): void;
  close(): void;
}

const HEARTBEAT_MS = 15_000;

/** A set of open streams that share one heartbeat timer. */
export class Streams {
  readonly #kept = new Set<OpenStream>();
  readonly #timer: NodeJS.Timeout;

  constructor(everyMs: number = HEARTBEAT_MS) {
    this.#timer = setInterval(() => {
      for (const each of [...this.#kept]) each.beat();
    }, everyMs);
    this.#timer.unref();
  }

  /** Number of streams that were cut because their client was too slow. */
  cut = 0;

  get count(): number {
    return this.#kept.size;
  }

  /** Adds a stream. Returns a function that removes it. */
  add(kept: OpenStream): () => void {
    this.#kept.add(kept);
    return () => this.#kept.delete(kept);
  }

  close(): void {
    clearInterval(this.#timer);
    for (const each of [...this.#kept]) each.close();
  }
}
