import { SallyportError } from "../core/error.ts";
import type { Link } from "../fleet/connection.ts";
import { tooManyReaders } from "../fleet/errors.ts";
import { CREDIT_BYTES, chunkFrame, endFrame, errorFrame, valueFrames } from "../fleet/response-stream.ts";
import type { Address } from "../fleet/wire.ts";

/** An error as it travels. */
export function asFailure(error: unknown): {
  type: string;
  message: string;
  recovery: { action: string; hint: string }[];
} {
  if (error instanceof SallyportError) {
    return { type: error.type, message: error.message, recovery: error.recovery.map((each) => ({ ...each })) };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { type: "SpawnFailed", message, recovery: [{ action: "retry", hint: "Try again." }] };
}

/** Who has not said for so long that it still reads is gone. */
const GONE_AFTER_MS = 30_000;

/** So many answers are sent at a time, to all who read here. */
const MOST_FLOWS = 1000;

/** What an operation gives, piece by piece: plain data, or bytes with a little about them. */
export type Piece = { value: unknown } | { head: object; bytes: Uint8Array };

interface Running {
  credit: number;
  seenMs: number;
  more: () => void;
  stop: AbortController;
}

/** Answers that are sent as they are read: nobody is sent more than a window ahead (promise 6). */
export class Flows {
  readonly #link: Link;
  readonly #host: string;
  readonly #running = new Map<string, Running>();
  readonly #timer: NodeJS.Timeout;

  constructor(link: Link, host: string) {
    this.#link = link;
    this.#host = host;
    this.#timer = setInterval(() => this.#dropGone(), GONE_AFTER_MS / 3).unref();
  }

  /** `pieces` is told by a signal when nobody reads any more. */
  async run(to: Address, flow: string, pieces: (signal: AbortSignal) => AsyncIterable<Piece>): Promise<void> {
    if (this.#running.has(flow)) return;
    if (this.#running.size >= MOST_FLOWS) {
      return this.#send(
        to,
        flow,
        errorFrame(asFailure(new SallyportError("HostSilent", ...tooManyReaders(this.#host)))),
      );
    }
    const running: Running = { credit: CREDIT_BYTES, seenMs: Date.now(), more: () => {}, stop: new AbortController() };
    this.#running.set(flow, running);
    const { signal } = running.stop;
    let chunks = 0;
    try {
      for await (const piece of pieces(signal)) {
        if (signal.aborted) return;
        const frames = "bytes" in piece ? [chunkFrame(piece.head, piece.bytes, chunks++)] : valueFrames(piece.value);
        for (const frame of frames) {
          await this.#room(running);
          if (signal.aborted) return;
          running.credit -= frame.length;
          this.#send(to, flow, frame);
        }
      }
      this.#send(to, flow, endFrame(chunks));
    } catch (error) {
      if (!signal.aborted) this.#send(to, flow, errorFrame(asFailure(error)));
    } finally {
      this.#running.delete(flow);
    }
  }

  credit(flow: string, bytes: number): void {
    const running = this.#running.get(flow);
    if (!running) return;
    running.seenMs = Date.now();
    // Nobody is ever further ahead than a window, whatever is claimed to have been read.
    if (Number.isFinite(bytes)) running.credit = Math.min(CREDIT_BYTES, running.credit + Math.max(0, bytes));
    running.more();
  }

  cancel(flow: string): void {
    const running = this.#running.get(flow);
    running?.stop.abort();
    running?.more();
  }

  close(): void {
    clearInterval(this.#timer);
    for (const flow of [...this.#running.keys()]) this.cancel(flow);
  }

  async #room(running: Running): Promise<void> {
    while (running.credit <= 0 && !running.stop.signal.aborted) {
      await new Promise<void>((resolve) => {
        running.more = resolve;
      });
    }
  }

  #send({ gateway, process }: Address, flow: string, frame: Uint8Array): void {
    if (this.#link.nc.isClosed()) return;
    this.#link.nc.publish(this.#link.subjects.result(gateway, this.#host, process, flow), frame);
  }

  #dropGone(): void {
    const before = Date.now() - GONE_AFTER_MS;
    for (const [flow, { seenMs }] of this.#running) if (seenMs < before) this.cancel(flow);
  }
}
