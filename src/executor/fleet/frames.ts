/** Answers that may be long or many travel as a row of messages: one byte that says what it is, then the rest. */
const KIND = { value: 1, part: 2, chunk: 3, end: 4, error: 5 } as const;
/** Well below what a server lets pass (1 MiB unless its operator changed that). */
const MOST_BYTES = 256 * 1024;
const LONGEST = 64 << 20;

export type Frame =
  | { kind: "value"; value: unknown }
  | { kind: "chunk"; head: unknown; bytes: Uint8Array }
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

/** Bytes as they are, with a little about them before. */
export function chunkFrame(head: unknown, bytes: Uint8Array): Uint8Array {
  const about = Buffer.from(JSON.stringify(head));
  const body = Buffer.allocUnsafe(4 + about.length + bytes.length);
  body.writeUInt32LE(about.length, 0);
  body.set(about, 4);
  body.set(bytes, 4 + about.length);
  return framed(KIND.chunk, body);
}

export const endFrame = (): Uint8Array => framed(KIND.end, new Uint8Array());
export const errorFrame = (error: unknown): Uint8Array => framed(KIND.error, Buffer.from(JSON.stringify(error)));

/** Puts together what came in parts. Throws on what is none of ours. */
export class FrameReader {
  #parts: Buffer[] = [];
  #length = 0;

  /** Null: more of it is to come. */
  read(message: Uint8Array): Frame | null {
    const body = Buffer.from(message.buffer, message.byteOffset + 1, message.length - 1);
    switch (message[0]) {
      case KIND.part:
        this.#parts.push(body);
        this.#length += body.length;
        // Nothing anybody asks for is that long: who sends more means harm (promise 6).
        if (this.#length > LONGEST) throw new RangeError("an answer without an end");
        return null;
      case KIND.value:
        return { kind: "value", value: JSON.parse(this.#whole(body)) };
      case KIND.chunk: {
        const length = body.readUInt32LE(0);
        return {
          kind: "chunk",
          head: JSON.parse(body.toString("utf8", 4, 4 + length)),
          bytes: body.subarray(4 + length),
        };
      }
      case KIND.end:
        return { kind: "end" };
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
