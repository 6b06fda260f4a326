import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { newId } from "../../core/id.ts";
import type { Io } from "../command.ts";
import { wantsColor } from "../io.ts";
import { missingNote } from "../notes.ts";
import {
  type ClientRequest,
  decodeRequest,
  encode,
  FROM_CLIENT,
  type Message,
  Messages,
  STARTED,
  TO_CLIENT,
} from "./protocol.ts";

/** How long a client may take to send its request. */
const REQUEST_WITHIN_MS = 5000;
/** The maximum number of bytes of output that wait for a client to read them before the command is paused. */
const MOST_UNREAD_BYTES = 1 << 20;

/** A connection to one native client, which sends one command line. */
export class ClientConnection {
  /** The ID of the session, if the command starts one. The client knows it even if this process is killed. */
  readonly id = newId();
  /** The name that the client takes to prove which process it is. */
  readonly challenge = randomBytes(11).toString("base64url");
  readonly #socket: Socket;
  readonly #messages = new Messages();
  readonly #closed = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #requested = false;
  #answered = false;
  #input: Readable | null = null;
  #wantsInput = false;
  #signals: number[] = [];
  onRequest: (request: ClientRequest | null) => void = () => {};
  /** Called for each signal that the client has received, also for those that arrived before it was set. */
  #onSignal: ((signal: number) => void) | null = null;
  onStop: () => void = () => {};

  constructor(socket: Socket, build: string) {
    this.#socket = socket;
    this.#timer = setTimeout(() => socket.destroy(), REQUEST_WITHIN_MS);
    socket.on("error", () => {});
    socket.on("close", () => this.#close());
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#send(TO_CLIENT.hello, Buffer.from(`${build}\0${this.challenge}\0${this.id}\0`));
  }

  /** Aborted when the client is gone. */
  get gone(): AbortSignal {
    return this.#closed.signal;
  }

  get pendingBytes(): number {
    return this.#messages.pending;
  }

  set onSignal(listener: (signal: number) => void) {
    this.#onSignal = listener;
    for (const signal of this.#signals.splice(0)) listener(signal);
  }

  useNode(): void {
    this.#send(TO_CLIENT.useNode, Buffer.alloc(0));
    this.#socket.end();
  }

  started(folder: string, options: Record<keyof typeof STARTED, boolean>): void {
    const { merged, inMessages } = options;
    const flags = Buffer.from([(merged ? STARTED.merged : 0) | (inMessages ? STARTED.inMessages : 0)]);
    this.#send(TO_CLIENT.started, Buffer.concat([flags, Buffer.from(`${folder}\0`)]));
  }

  /** Tells up to which position of each stream the output has been sent, where Node would continue. */
  printed(first: number, second: number): void {
    const payload = Buffer.alloc(16);
    payload.writeBigUInt64LE(BigInt(first), 0);
    payload.writeBigUInt64LE(BigInt(second), 8);
    this.#send(TO_CLIENT.printed, payload);
  }

  /** Called when the client is gone before its command line has been answered, also if that was before it was set. */
  set onGone(listener: () => void) {
    const listen = () => {
      if (!this.#answered) listener();
    };
    if (this.gone.aborted) listen();
    else this.gone.addEventListener("abort", listen);
  }

  /** Ends the answer. `notes` is printed to stderr after the output of the command. */
  done(code: number, notes: string): void {
    this.#answered = true;
    // The client counts the bytes that are missing.
    const note = missingNote(0).replace(/^\D*0/, "");
    this.#send(TO_CLIENT.done, Buffer.concat([Buffer.from([code]), Buffer.from(`${note}\n\0${notes}`)]));
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Returns the streams of the client. */
  io({ isTTY, stdinIsDevice, isDiscarded, columns, rows, env }: ClientRequest): Io {
    const stdin = () => Object.assign(this.#stdin(), { isDevice: stdinIsDevice });
    return {
      out: (text) => this.#print(TO_CLIENT.stdout, text),
      err: (text) => this.#print(TO_CLIENT.stderr, text),
      drained: () => this.#drained(),
      get stdin() {
        return stdin();
      },
      isTTY,
      isDiscarded,
      columns: columns || Number(env.COLUMNS) || 80,
      size: { columns: columns || 80, rows: rows || 24 },
      color: wantsColor(isTTY.stdout, env),
    };
  }

  #stdin(): Readable {
    this.#input ??= new Readable({
      highWaterMark: 0,
      read: () => {
        this.#wantsInput = true;
        this.#send(TO_CLIENT.wantInput, Buffer.alloc(0));
      },
    });
    return this.#input;
  }

  #print(type: number, text: string | Uint8Array): void {
    const bytes = Buffer.from(text as Uint8Array);
    for (let at = 0; at < bytes.length; at += PRINT_BYTES) this.#send(type, bytes.subarray(at, at + PRINT_BYTES));
  }

  async #drained(): Promise<void> {
    while (this.#socket.writableLength > MOST_UNREAD_BYTES && !this.gone.aborted) {
      await new Promise<void>((resolve) => {
        const done = () => {
          this.#socket.off("drain", done).off("close", done);
          resolve();
        };
        this.#socket.once("drain", done).once("close", done);
      });
    }
  }

  /** Sends a message, in one write with the others of the same turn of the event loop. */
  #send(type: number, payload: Uint8Array): void {
    const socket = this.#socket;
    if (!socket.writable) return;
    if (socket.writableCorked === 0) {
      socket.cork();
      process.nextTick(() => socket.uncork());
    }
    socket.write(encode(type, payload));
  }

  #take(chunk: Buffer): void {
    try {
      for (const message of this.#messages.add(chunk)) this.#handle(message);
    } catch {
      this.#socket.destroy(); // not a client
    }
  }

  #handle({ type, payload }: Message): void {
    if (type === FROM_CLIENT.request && !this.#requested) {
      this.#requested = true;
      clearTimeout(this.#timer);
      this.onRequest(decodeRequest(payload));
    } else if (!this.#requested) {
      throw new RangeError("no request");
    } else if (type === FROM_CLIENT.input && this.#wantsInput) {
      this.#wantsInput = false;
      this.#input?.push(payload.length === 0 ? null : Buffer.from(payload));
    } else if (type === FROM_CLIENT.lastInput && this.#wantsInput) {
      this.#wantsInput = false;
      this.#input?.push(Buffer.from(payload));
      this.#input?.push(null);
    } else if (type === FROM_CLIENT.signal && payload.length === 1) {
      const signal = payload[0] as number;
      if (this.#onSignal) this.#onSignal(signal);
      else if (this.#signals.length < MOST_SIGNALS) this.#signals.push(signal);
    } else if (type === FROM_CLIENT.stop) {
      this.onStop();
    } else {
      throw new RangeError(`unexpected message ${type}`);
    }
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#closed.abort();
    this.#input?.destroy();
  }
}

const PRINT_BYTES = 64 << 10;
const MOST_SIGNALS = 3;
