import { uptimeMs } from "../core/clock.ts";
import { SallyportError } from "../core/error.ts";
import type { FleetConnection } from "../fleet/connection.ts";
import { tooManyReaders } from "../fleet/errors.ts";
import { CREDIT_BYTES, chunkFrame, endFrame, errorFrame, valueFrames } from "../fleet/response-stream.ts";
import type { Address } from "../fleet/wire.ts";

/** Converts an error to the form in which it is sent to gateways. */
export function serializeError(error: unknown): {
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

/** Time without credit after which the stream of a reader is closed. */
const READER_TIMEOUT_MS = 30_000;

const MAX_STREAMS = 1000;

/** One item of a response: a JSON value, or bytes with a JSON head. */
export type ResponseItem = { value: unknown } | { head: object; bytes: Uint8Array };

interface OpenStream {
  credit: number;
  seenMs: number;
  more: () => void;
  stop: AbortController;
}

/** Sends streamed responses, at most one window ahead of the reader (invariant 6). */
export class ResponseStreams {
  readonly #connection: FleetConnection;
  readonly #host: string;
  readonly #open = new Map<string, OpenStream>();
  readonly #timer: NodeJS.Timeout;

  constructor(connection: FleetConnection, host: string) {
    this.#connection = connection;
    this.#host = host;
    this.#timer = setInterval(() => this.#dropIdle(), READER_TIMEOUT_MS / 3).unref();
  }

  /** Sends `items` as a stream. Their signal is aborted when the reader cancels or times out. */
  async run(to: Address, flow: string, items: (signal: AbortSignal) => AsyncIterable<ResponseItem>): Promise<void> {
    if (this.#open.has(flow)) return;
    if (this.#open.size >= MAX_STREAMS) {
      return this.#send(
        to,
        flow,
        errorFrame(serializeError(new SallyportError("HostSilent", ...tooManyReaders(this.#host)))),
      );
    }
    const stream: OpenStream = {
      credit: CREDIT_BYTES,
      seenMs: uptimeMs(),
      more: () => {},
      stop: new AbortController(),
    };
    this.#open.set(flow, stream);
    const { signal } = stream.stop;
    let chunks = 0;
    try {
      for await (const item of items(signal)) {
        if (signal.aborted) return;
        const frames = "bytes" in item ? [chunkFrame(item.head, item.bytes, chunks++)] : valueFrames(item.value);
        for (const frame of frames) {
          await this.#waitForCredit(stream);
          if (signal.aborted) return;
          stream.credit -= frame.length;
          this.#send(to, flow, frame);
        }
      }
      this.#send(to, flow, endFrame(chunks));
    } catch (error) {
      if (!signal.aborted) this.#send(to, flow, errorFrame(serializeError(error)));
    } finally {
      this.#open.delete(flow);
    }
  }

  credit(flow: string, bytes: number): void {
    const stream = this.#open.get(flow);
    if (!stream) return;
    stream.seenMs = uptimeMs();
    // The credit never exceeds one window, no matter how much the reader claims to have read.
    if (Number.isFinite(bytes)) stream.credit = Math.min(CREDIT_BYTES, stream.credit + Math.max(0, bytes));
    stream.more();
  }

  cancel(flow: string): void {
    const stream = this.#open.get(flow);
    stream?.stop.abort();
    stream?.more();
  }

  close(): void {
    clearInterval(this.#timer);
    for (const flow of [...this.#open.keys()]) this.cancel(flow);
  }

  async #waitForCredit(stream: OpenStream): Promise<void> {
    while (stream.credit <= 0 && !stream.stop.signal.aborted) {
      await new Promise<void>((resolve) => {
        stream.more = resolve;
      });
    }
  }

  #send({ gateway, process }: Address, flow: string, frame: Uint8Array): void {
    if (this.#connection.nc.isClosed()) return;
    this.#connection.nc.publish(this.#connection.subjects.result(gateway, this.#host, process, flow), frame);
  }

  #dropIdle(): void {
    const before = uptimeMs() - READER_TIMEOUT_MS;
    for (const [flow, { seenMs }] of this.#open) if (seenMs < before) this.cancel(flow);
  }
}
