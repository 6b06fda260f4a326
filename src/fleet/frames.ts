/**
 * Answers that may be long or many travel as a row of messages: one byte that says what it is, then the rest. Each chunk
 * says its number, and the end how many there were: what is lost with a server is missed.
 */
const KIND = { value: 1, part: 2, chunk: 3, end: 4, error: 5 } as const;
/** Well below what a server lets pass (1 MiB unless its operator changed that). */
const MOST_BYTES = 256 * 1024;
const LONGEST = 64 << 20;

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
  for (; bytes.length - at > MOST_BYTES; at += MOST_BYTES) yield framed(KIND.part, bytes.subarray(at, at + MOST_BYTES));
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

  constructor(longest = LONGEST) {
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
