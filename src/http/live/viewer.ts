import { randomBytes } from "node:crypto";
import type { WebSocket } from "ws";
import * as z from "zod";
import { SallyportError } from "../../core/error.ts";
import type { SessionHandle } from "../../core/gateway.ts";
import type { LogChunk } from "../../core/session.ts";
import { MIN_DRAWN_COLUMNS, type TerminalSize } from "../../core/terminal.ts";
import { isTerminalReply, QueryFilter } from "../../text/terminal/queries.ts";

/** Maximum number of bytes of input that wait for a program that does not read, or for an approval. */
const MAX_WAITING = 64 * 1024;
const TOO_MUCH_WAITING = "Too much input is pending: the program is not reading its input.";
/** Errors that are not reported, because the input arrived just after the session ended. */
const TOO_LATE: ReadonlySet<string> = new Set(["AlreadyExited", "StdinClosed", "SessionNotFound"]);

interface InputRefusal {
  error: string;
  message: string;
}

/** Sends a viewer's input to a session in order. The amount of pending input is limited. */
class InputQueue {
  readonly #session: SessionHandle;
  readonly #resize: (size: TerminalSize) => Promise<void>;
  readonly #refuse: (refusal: InputRefusal) => void;
  #queue = Promise.resolve();
  #waiting = 0;
  #size: TerminalSize | null = null;

  constructor(
    session: SessionHandle,
    resize: (size: TerminalSize) => Promise<void>,
    refuse: (refusal: InputRefusal) => void,
  ) {
    this.#session = session;
    this.#resize = resize;
    this.#refuse = refuse;
  }

  type(text: string): void {
    const bytes = Buffer.from(text);
    if (this.#waiting + bytes.length > MAX_WAITING) {
      this.#refuse({ error: "TooLarge", message: TOO_MUCH_WAITING });
      return;
    }
    this.#waiting += bytes.length;
    this.#then(() =>
      this.#session.write(bytes).finally(() => {
        this.#waiting -= bytes.length;
      }),
    );
  }

  /** Queues a resize. Of several queued sizes only the last is applied. */
  resize(size: TerminalSize): void {
    const isQueued = this.#size !== null;
    this.#size = size;
    if (isQueued) return;
    this.#then(async () => {
      const last = this.#size ?? size;
      this.#size = null;
      await this.#resize(last);
    });
  }

  #then(step: () => Promise<void>): void {
    this.#queue = this.#queue.then(step).catch((error: Error) => {
      if (error instanceof SallyportError && TOO_LATE.has(error.type)) return;
      const type = error instanceof SallyportError ? error.type : "InternalError";
      this.#refuse({ error: type, message: error.message });
    });
  }
}

/** Maximum number of bytes that a viewer has not acknowledged yet. */
const WINDOW = 256 * 1024;
/** Bytes of output per frame. */
const FRAME = 32 * 1024;
/** A viewer that is more bytes behind than this gets a repaint of the current screen instead of the missed output. */
const MAX_BEHIND = 256 * 1024;
/** A connection with more unsent bytes than this is terminated, because its client does not read. */
const MAX_UNREAD = 4 * 1024 * 1024;
const PING_BYTES = 8;
/** How often the size of the terminal is checked while there is output. */
const SIZE_CHECK_MS = 250;
/** How often the size of the terminal is checked without output. */
const IDLE_SIZE_CHECK_MS = 1000;

/** Cancels an incomplete escape sequence and resets the terminal before a repaint. */
const RESET = Buffer.from("\x18\x1bc");

const CLOSE = { ended: 1000, wrongFrame: 1003, notAllowed: 1008, failed: 1011, restarting: 1012 } as const;

interface ViewerOptions {
  mayType: boolean;
  isGood: () => boolean;
  resize: (size: TerminalSize) => Promise<void>;
  onfailure: (error: Error) => void;
}

/** A client that watches a terminal. Output is not queued for it: a slow client skips ahead to a repaint. */
export class Viewer {
  readonly #socket: WebSocket;
  readonly #session: SessionHandle;
  readonly #options: ViewerOptions;
  readonly #over = new AbortController();
  readonly #input: InputQueue;
  #unacknowledged = 0;
  #acknowledged = Promise.withResolvers<void>();
  #passage = new QueryFilter({ raw: true });
  #size: TerminalSize = { columns: 0, rows: 0 };
  #sizeCheckedMs = 0;
  #resized = new AbortController();
  /** Payload of the last ping; null once it is answered. It is random, so that only a client that reads can answer. */
  #ping: Buffer | null = null;

  constructor(socket: WebSocket, session: SessionHandle, options: ViewerOptions) {
    this.#socket = socket;
    this.#session = session;
    this.#options = options;
    const refuse = (refusal: InputRefusal) => this.#sendMessage({ type: "refused", ...refusal });
    this.#input = new InputQueue(session, options.resize, refuse);
    socket.on("message", (data, isBinary) => this.#receive(isBinary ? null : parseMessage(String(data))));
    socket.on("pong", (data) => {
      if (this.#ping?.equals(data)) this.#ping = null;
    });
    socket.on("ping", () => this.#isRead()); // ws has already responded
    socket.on("close", () => this.#stop());
    socket.on("error", () => socket.terminate()); // an invalid or too large frame; ws has already responded
  }

  /** Shows the terminal until its session ends or the client disconnects. */
  async show(): Promise<void> {
    this.#sendMessage({ type: "hello", input: this.#options.mayType });
    const sizeTimer = setInterval(() => this.#checkSize(), IDLE_SIZE_CHECK_MS);
    try {
      for (let skipped: number | null = 0; skipped !== null; ) {
        skipped = await this.#follow(await this.#repaint(skipped));
      }
      this.#finish();
    } catch (error) {
      if (this.#over.signal.aborted) return;
      if (!(error instanceof SallyportError)) this.#options.onfailure(error as Error);
      this.#socket.close(CLOSE.failed);
    } finally {
      clearInterval(sizeTimer);
    }
  }

  /** Checks that the client is still connected and still signed in. */
  beat(): void {
    if (!this.#options.isGood()) this.#socket.close(CLOSE.notAllowed, "signed out");
    else if (this.#ping !== null) this.#socket.terminate();
    else {
      this.#ping = randomBytes(PING_BYTES);
      this.#socket.ping(this.#ping);
    }
  }

  close(): void {
    this.#socket.close(CLOSE.restarting, "the service is stopping");
    this.#stop();
  }

  #stop(): void {
    this.#over.abort();
    this.#acknowledged.resolve();
  }

  /** Sends the current screen when the window allows it. Returns the offset at which output continues. */
  async #repaint(skipped: number): Promise<number> {
    await this.#waitForWindow(FRAME);
    const { output, offset, columns, rows } = await this.#session.repaint();
    this.#size = { columns, rows };
    this.#passage = new QueryFilter({ raw: true });
    this.#sendMessage({ type: "repaint", columns, rows, skipped });
    const whole = Buffer.concat([RESET, output]);
    for (let at = 0; at < whole.length && !this.#over.signal.aborted; at += FRAME) {
      const frame = whole.subarray(at, at + FRAME);
      await this.#waitForWindow(frame.length);
      this.#send(frame);
    }
    return offset;
  }

  /**
   * Sends output from an offset. Returns null at the end of the session. Otherwise a repaint is needed, and the
   * result is the number of bytes that the viewer skips.
   */
  async #follow(offset: number): Promise<number | null> {
    const over = this.#over.signal;
    this.#resized = new AbortController();
    const signal = AbortSignal.any([over, this.#resized.signal]);
    for await (const chunk of this.#session.follow({ offset, signal })) {
      // Dropped output, or output for another terminal size, requires a repaint.
      if (chunk.dropped > 0 || this.#isResized()) return 0;
      const behind = await this.#pass(chunk);
      if (behind !== 0) return behind;
    }
    return this.#resized.signal.aborted && !over.aborted ? 0 : null;
  }

  /**
   * Sends a chunk. Returns 0 when all of it was sent, null when the client is gone, or how far behind it is in bytes.
   */
  async #pass({ offset, bytes }: LogChunk): Promise<number | null> {
    for (let at = 0; at < bytes.length; at += FRAME) {
      const frame = bytes.subarray(at, at + FRAME);
      const waited = await this.#waitForWindow(frame.length);
      if (this.#over.signal.aborted) return null;
      const behind = waited ? (this.#session.info().streams.output?.bytes ?? 0) - offset - at : 0;
      if (behind > MAX_BEHIND) return behind;
      this.#send(this.#passage.filter(frame));
    }
    return 0;
  }

  /** Waits until the window has room for more bytes. Reports whether it had to wait. */
  async #waitForWindow(bytes: number): Promise<boolean> {
    const isFull = () => this.#unacknowledged + bytes > WINDOW && this.#unacknowledged > 0;
    if (!isFull()) return false;
    while (isFull() && !this.#over.signal.aborted) {
      this.#acknowledged = Promise.withResolvers();
      await this.#acknowledged.promise;
    }
    return true;
  }

  #checkSize(): void {
    try {
      if (this.#isResized()) this.#resized.abort();
    } catch {
      // The session was removed, which also ends `#follow`.
    }
  }

  #isResized(): boolean {
    if (performance.now() - this.#sizeCheckedMs < SIZE_CHECK_MS) return false;
    this.#sizeCheckedMs = performance.now();
    const { columns, rows } = this.#session.info().pty ?? this.#size;
    return Math.max(columns, MIN_DRAWN_COLUMNS) !== this.#size.columns || rows !== this.#size.rows;
  }

  #receive(message: ViewerMessage | null): void {
    if (message === null) this.#socket.close(CLOSE.wrongFrame, "unknown message");
    else if (message.type === "ack") this.#acknowledge(message.bytes);
    else if (!this.#options.mayType) this.#socket.close(CLOSE.notAllowed, "read-only");
    else if (message.type === "resize") this.#input.resize({ columns: message.columns, rows: message.rows });
    // Replies to terminal queries are dropped: the keeper has already answered the program's queries.
    else if (!isTerminalReply(message.data)) this.#input.type(message.data);
  }

  #acknowledge(bytes: number): void {
    this.#unacknowledged = Math.max(0, this.#unacknowledged - bytes);
    this.#acknowledged.resolve();
  }

  #send(bytes: Uint8Array): void {
    if (bytes.length === 0 || !this.#isRead()) return;
    this.#unacknowledged += bytes.length;
    this.#socket.send(bytes, { binary: true });
  }

  #sendMessage(message: object): void {
    if (this.#socket.readyState === this.#socket.OPEN && this.#isRead()) this.#socket.send(JSON.stringify(message));
  }

  /** Reports whether the client reads. Terminates the connection if it does not. */
  #isRead(): boolean {
    if (this.#socket.bufferedAmount <= MAX_UNREAD) return true;
    this.#socket.terminate();
    return false;
  }

  /** Closes the connection. If the session is still running, only the gateway is closing and the client reconnects. */
  #finish(): void {
    if (this.#over.signal.aborted) return;
    const info = this.#session.info();
    if (info.status === "running" || info.lingering) this.close();
    else {
      this.#sendMessage({ type: "ended", info });
      this.#socket.close(CLOSE.ended, "ended");
    }
  }
}

const Message = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("input"), data: z.string() }),
  z.strictObject({ type: z.literal("resize"), columns: z.int().min(1).max(1000), rows: z.int().min(1).max(1000) }),
  z.strictObject({ type: z.literal("ack"), bytes: z.int().min(0) }),
]);

/** A message from the client. */
type ViewerMessage = z.infer<typeof Message>;

/** Parses a message; returns null when it is invalid. */
function parseMessage(text: string): ViewerMessage | null {
  try {
    return Message.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
