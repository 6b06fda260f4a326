import { SallyportError } from "../core/error.ts";
import { silent, type Ties } from "./client.ts";

/**
 * Answers that may be long or many travel as a row of messages: one byte that says what it is, then the rest. Each chunk
 * says its number, and the end how many there were: what is lost with a server is missed.
 */
const KIND = { value: 1, part: 2, chunk: 3, end: 4, error: 5 } as const;

/** Well below what a server lets pass (1 MiB unless its operator changed that). */
const MAX_FRAME_BYTES = 256 * 1024;
const MAX_VALUE_BYTES = 64 << 20;
export type Frame =
  | { kind: "value"; value: unknown }
  | { kind: "chunk"; head: unknown; bytes: Uint8Array }
  /** Some of it never came. */
  | { kind: "gap" }
  | { kind: "end" }
  | { kind: "error"; error: unknown };

function framed(kind: number, body: Uint8Array): Uint8Array {
  const out = Buffer.allocUnsafe(1 + body.length);
  out[0] = kind;
  out.set(body, 1);
  return out;
}

/** One value, in as many messages as it takes. */
export function* valueFrames(value: unknown): Generator<Uint8Array> {
  const bytes = Buffer.from(JSON.stringify(value ?? null));
  let at = 0;
  for (; bytes.length - at > MAX_FRAME_BYTES; at += MAX_FRAME_BYTES)
    yield framed(KIND.part, bytes.subarray(at, at + MAX_FRAME_BYTES));
  yield framed(KIND.value, bytes.subarray(at));
}

/** Bytes as they are, with a little about them before. `n`: of which as many came before. */
export function chunkFrame(head: object, bytes: Uint8Array, n: number): Uint8Array {
  const about = Buffer.from(JSON.stringify({ ...head, n }));
  const body = Buffer.allocUnsafe(4 + about.length + bytes.length);
  body.writeUInt32LE(about.length, 0);
  body.set(about, 4);
  body.set(bytes, 4 + about.length);
  return framed(KIND.chunk, body);
}

export const endFrame = (chunks: number): Uint8Array => framed(KIND.end, Buffer.from(JSON.stringify({ n: chunks })));
export const errorFrame = (error: unknown): Uint8Array => framed(KIND.error, Buffer.from(JSON.stringify(error)));

/** Puts together what came in parts. Throws on what is none of ours. */
export class FrameReader {
  #parts: Buffer[] = [];
  #length = 0;
  #chunks = 0;
  readonly #longest: number;

  constructor(longest = MAX_VALUE_BYTES) {
    this.#longest = longest;
  }

  /** Null: more of it is to come. */
  read(message: Uint8Array): Frame | null {
    const body = Buffer.from(message.buffer, message.byteOffset + 1, message.length - 1);
    switch (message[0]) {
      case KIND.part:
        this.#parts.push(body);
        this.#length += body.length;
        // Nothing anybody asks for is that long: who sends more means harm (promise 6).
        if (this.#length > this.#longest) throw new RangeError("an answer without an end");
        return null;
      case KIND.value:
        return { kind: "value", value: JSON.parse(this.#whole(body)) };
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
        throw new RangeError("not a message of ours");
    }
  }

  #whole(last: Buffer): string {
    const text = this.#parts.length === 0 ? last.toString() : Buffer.concat([...this.#parts, last]).toString();
    this.#parts = [];
    this.#length = 0;
    return text;
  }
}

/** So many bytes may be on their way before what was read is told. */
export const CREDIT_BYTES = 1 << 20;
const TELL_EVERY_BYTES = 256 * 1024;
/** A worker drops a flow that nobody has asked to go on for a while. */
const STILL_THERE_MS = 10_000;
const MAX_ATTEMPTS = 3;

interface Asked {
  id: string;
  /** Null: about every agent's sessions. */
  agent: string | null;
  args: unknown;
  /** Bytes of one answer at most; left out: as much as any may have. */
  longest?: number;
  /** Who is not there now is not waited for. */
  now?: boolean;
}

/**
 * What a worker answers an operation with, value by value or chunk by chunk, as fast as it is read (promise 6). Ends
 * when the worker says so; throws HostSilent when it has gone or was started anew, and when some of it was lost on its
 * way, or may have been since the line to the servers was down.
 */
export async function* flow(
  ties: Ties,
  host: string,
  operation: string,
  { id, agent, args, longest, now }: Asked,
  signal?: AbortSignal,
): AsyncGenerator<Exclude<Frame, { kind: "end" | "error" | "gap" }>, void, undefined> {
  const reader = new FrameReader(longest);
  const queue: { frame: Frame; bytes: number }[] = [];
  let wake = () => {};
  let failed: Error | null = null;
  const fail = (error: Error) => {
    failed ??= error;
    wake();
  };
  const tell = (what: "credit" | "cancel", bytes?: number) =>
    ties.tell(host, agent, what, { id, args: { bytes }, flow: name, to: ties.address });
  const { name, close } = ties.openFlow((message) => {
    if (message === null) return fail(silent(host));
    try {
      const frame = reader.read(message);
      // A part waits for no reader: the rest of its value must come first.
      if (frame) queue.push({ frame, bytes: message.length });
      else tell("credit", message.length);
    } catch (error) {
      fail(error as Error);
    }
    wake();
  });
  let boot: string | null = null;
  const unwatch = ties.hosts.watch(host, (worker) => {
    if (worker === null || (boot !== null && worker.boot !== boot)) fail(silent(host));
    else boot ??= worker.boot;
  });
  const stillThere = setInterval(() => tell("credit", 0), STILL_THERE_MS).unref();
  const abort = () => wake();
  signal?.addEventListener("abort", abort, { once: true });
  let over = false;
  let read = 0;
  try {
    void ties.ask(host, operation, { id, agent, args, flow: name, now }).catch(fail);
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
      over = frame.kind === "end" || frame.kind === "error";
      if (frame.kind === "end") return;
      if (frame.kind === "gap") throw silent(host);
      if (frame.kind === "error") throw asError(frame.error);
      yield frame;
      read += bytes;
      if (read >= TELL_EVERY_BYTES) {
        tell("credit", read);
        read = 0;
      }
    }
  } finally {
    clearInterval(stillThere);
    signal?.removeEventListener("abort", abort);
    unwatch();
    close();
    if (!over && !failed) tell("cancel");
  }
}

/** The one value an operation answers with. It changes nothing, so one whose answer was lost is asked for again. */
export async function answerOf(
  ties: Ties,
  host: string,
  operation: string,
  asked: Asked,
  signal?: AbortSignal,
): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    try {
      for await (const frame of flow(ties, host, operation, asked, signal)) {
        if (frame.kind === "value") return frame.value;
      }
      signal?.throwIfAborted();
      throw silent(host);
    } catch (error) {
      const unheard = error instanceof SallyportError && error.type === "HostSilent";
      const again = unheard && !asked.now && !signal?.aborted && tries < MAX_ATTEMPTS;
      if (!again || !(await ties.hosts.look(host).catch(() => null))) throw error;
    }
  }
}

function asError(given: unknown): SallyportError {
  const { type, message, recovery } = given as { type: string; message: string; recovery: [] };
  return new SallyportError(
    String(type) as SallyportError["type"],
    String(message),
    Array.isArray(recovery) ? recovery : [],
  );
}
