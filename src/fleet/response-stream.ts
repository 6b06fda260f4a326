import { SallyportError } from "../core/error.ts";
import { type FleetClient, hostSilentError } from "./client.ts";

/**
 * Long responses are sent as a sequence of frames: one byte for the kind, then the body. Chunks are numbered and the
 * end frame contains their count, so that the reader detects lost frames.
 */
const KIND = { value: 1, part: 2, chunk: 3, end: 4, error: 5 } as const;

/** Well below the maximum message size of a server (1 MiB by default). */
const MAX_FRAME_BYTES = 256 * 1024;
const MAX_VALUE_BYTES = 64 << 20;
export type Frame =
  | { kind: "value"; value: unknown }
  | { kind: "chunk"; head: unknown; bytes: Uint8Array }
  /** A frame was lost. */
  | { kind: "gap" }
  | { kind: "end" }
  | { kind: "error"; error: unknown };

function encodeFrame(kind: number, body: Uint8Array): Uint8Array {
  const out = Buffer.allocUnsafe(1 + body.length);
  out[0] = kind;
  out.set(body, 1);
  return out;
}

/** Encodes one JSON value as one or more frames. */
export function* valueFrames(value: unknown): Generator<Uint8Array> {
  const bytes = Buffer.from(JSON.stringify(value ?? null));
  let at = 0;
  for (; bytes.length - at > MAX_FRAME_BYTES; at += MAX_FRAME_BYTES)
    yield encodeFrame(KIND.part, bytes.subarray(at, at + MAX_FRAME_BYTES));
  yield encodeFrame(KIND.value, bytes.subarray(at));
}

/** Encodes raw bytes after a JSON head. `n` is the number of the chunk, starting at 0. */
export function chunkFrame(head: object, bytes: Uint8Array, n: number): Uint8Array {
  const about = Buffer.from(JSON.stringify({ ...head, n }));
  const body = Buffer.allocUnsafe(4 + about.length + bytes.length);
  body.writeUInt32LE(about.length, 0);
  body.set(about, 4);
  body.set(bytes, 4 + about.length);
  return encodeFrame(KIND.chunk, body);
}

export const endFrame = (chunks: number): Uint8Array =>
  encodeFrame(KIND.end, Buffer.from(JSON.stringify({ n: chunks })));
export const errorFrame = (error: unknown): Uint8Array => encodeFrame(KIND.error, Buffer.from(JSON.stringify(error)));

/** Decodes frames and joins values that were sent in parts. */
export class FrameReader {
  #parts: Buffer[] = [];
  #length = 0;
  #chunks = 0;
  readonly #maxBytes: number;

  constructor(maxBytes = MAX_VALUE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Decodes one frame. Returns null when more parts of the value follow, and throws when the frame is malformed. */
  read(message: Uint8Array): Frame | null {
    const body = Buffer.from(message.buffer, message.byteOffset + 1, message.length - 1);
    switch (message[0]) {
      case KIND.part:
        this.#parts.push(body);
        this.#length += body.length;
        // A worker must not exhaust the memory of the gateway (invariant 6).
        if (this.#length > this.#maxBytes) throw new RangeError(`response exceeds ${this.#maxBytes} bytes`);
        return null;
      case KIND.value:
        return { kind: "value", value: JSON.parse(this.#joinParts(body)) };
      case KIND.chunk: {
        const length = body.readUInt32LE(0);
        const { n, ...head } = JSON.parse(body.toString("utf8", 4, 4 + length)) as { n?: number };
        if (n !== undefined && n !== this.#chunks++) return { kind: "gap" };
        return { kind: "chunk", head, bytes: body.subarray(4 + length) };
      }
      case KIND.end: {
        const { n } = (body.length > 0 ? JSON.parse(body.toString()) : {}) as { n?: number };
        return { kind: n !== undefined && n !== this.#chunks ? "gap" : "end" };
      }
      case KIND.error:
        return { kind: "error", error: JSON.parse(body.toString()) };
      default:
        throw new RangeError("unknown frame kind");
    }
  }

  #joinParts(last: Buffer): string {
    const text = this.#parts.length === 0 ? last.toString() : Buffer.concat([...this.#parts, last]).toString();
    this.#parts = [];
    this.#length = 0;
    return text;
  }
}

/** Maximum number of bytes that a worker sends ahead of the reader. */
export const CREDIT_BYTES = 1 << 20;
const CREDIT_STEP_BYTES = 256 * 1024;
/** Interval of empty credits: a worker closes a stream whose reader has sent no credit for a while. */
const KEEPALIVE_MS = 10_000;
const MAX_TRIES = 3;

interface StreamRequest {
  id: string;
  /** Null addresses the sessions of all agents. */
  agent: string | null;
  args: unknown;
  /** Maximum size of one value in bytes. */
  maxBytes?: number;
  /** Whether to fail immediately when no worker listens, instead of waiting for a restart. */
  now?: boolean;
}

/**
 * Streams the response to an operation, value by value or chunk by chunk, at the speed of the reader (invariant 6).
 * Throws HostSilent when the worker is down or has restarted, when a frame was lost, and after a reconnect, which may
 * lose frames.
 */
export async function* streamResponse(
  client: FleetClient,
  host: string,
  operation: string,
  { id, agent, args, maxBytes, now }: StreamRequest,
  signal?: AbortSignal,
): AsyncGenerator<Exclude<Frame, { kind: "end" | "error" | "gap" }>, void, undefined> {
  const reader = new FrameReader(maxBytes);
  const queue: { frame: Frame; bytes: number }[] = [];
  let wake = () => {};
  let failed: Error | null = null;
  const fail = (error: Error) => {
    failed ??= error;
    wake();
  };
  const sendControl = (what: "credit" | "cancel", bytes?: number) =>
    client.notify(host, agent, what, { id, args: { bytes }, flow: name, to: client.address });
  const { name, close } = client.openStream((message) => {
    if (message === null) return fail(hostSilentError(host));
    try {
      const frame = reader.read(message);
      // A part is credited at once, because the reader receives nothing before the value is complete.
      if (frame) queue.push({ frame, bytes: message.length });
      else sendControl("credit", message.length);
    } catch (error) {
      fail(error as Error);
    }
    wake();
  });
  let boot: string | null = null;
  const unwatch = client.hosts.watch(host, (worker) => {
    if (worker === null || (boot !== null && worker.boot !== boot)) fail(hostSilentError(host));
    else boot ??= worker.boot;
  });
  const keepalive = setInterval(() => sendControl("credit", 0), KEEPALIVE_MS).unref();
  const abort = () => wake();
  signal?.addEventListener("abort", abort, { once: true });
  let ended = false;
  let read = 0;
  try {
    void client.request(host, operation, { id, agent, args, flow: name, now }).catch(fail);
    for (;;) {
      if (signal?.aborted) return;
      const next = queue.shift();
      if (next === undefined) {
        if (failed) throw failed;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      const { frame, bytes } = next;
      ended = frame.kind === "end" || frame.kind === "error";
      if (frame.kind === "end") return;
      if (frame.kind === "gap") throw hostSilentError(host);
      if (frame.kind === "error") throw deserializeError(frame.error);
      yield frame;
      read += bytes;
      if (read >= CREDIT_STEP_BYTES) {
        sendControl("credit", read);
        read = 0;
      }
    }
  } finally {
    clearInterval(keepalive);
    signal?.removeEventListener("abort", abort);
    unwatch();
    close();
    if (!ended && !failed) sendControl("cancel");
  }
}

/** Requests a single value. These operations are read-only, so a request whose response was lost is repeated. */
export async function requestValue(
  client: FleetClient,
  host: string,
  operation: string,
  request: StreamRequest,
  signal?: AbortSignal,
): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    try {
      for await (const frame of streamResponse(client, host, operation, request, signal)) {
        if (frame.kind === "value") return frame.value;
      }
      signal?.throwIfAborted();
      throw hostSilentError(host);
    } catch (error) {
      const isSilent = error instanceof SallyportError && error.type === "HostSilent";
      const retry = isSilent && !request.now && !signal?.aborted && tries < MAX_TRIES;
      if (!retry || !(await client.hosts.get(host).catch(() => null))) throw error;
    }
  }
}

function deserializeError(given: unknown): SallyportError {
  const { type, message, recovery } = given as { type: string; message: string; recovery: [] };
  return new SallyportError(
    String(type) as SallyportError["type"],
    String(message),
    Array.isArray(recovery) ? recovery : [],
  );
}
