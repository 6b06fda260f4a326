/**
 * The protocol between the relay (`native/relay/`) and the gateway of an agent. A frame is a type, the length of its
 * content in 4 bytes, most significant first, and the content. The first frame of the relay is a `hello`.
 */

/** The types of frames, by meaning. */
export const FRAME = {
  hello: 0x48,
  stdin: 0x49,
  end: 0x45,
  signal: 0x53,
  size: 0x57,
  stdout: 0x4f,
  stderr: 0x52,
  exit: 0x58,
  /** The last frame with input was handled, and the next one may follow. */
  accepted: 0x41,
} as const;

const HEADER = 5;
/** The content that the relay accepts in one frame. */
const MAX_SENT = 64 * 1024;
/** The arguments and the environment of one program, which the kernel limits to less than this. */
const MAX_HELLO = 8 << 20;
const MAX_OTHER = 64 * 1024;

export interface Frame {
  type: number;
  content: Buffer;
}

export class ProtocolError extends Error {}

/** Splits a stream of bytes into frames. Holds at most one incomplete frame (invariant 6). */
export class FrameReader {
  #bytes: Buffer = Buffer.alloc(0);
  #chunks: Buffer[] = [];
  #waiting = 0;
  #needed = HEADER;

  /** Yields the frames that end in this chunk. Throws ProtocolError for a frame that is too long. */
  *push(chunk: Buffer): Generator<Frame> {
    this.#chunks.push(chunk);
    this.#waiting += chunk.length;
    while (this.#waiting >= this.#needed) {
      this.#bytes = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
      this.#chunks = [this.#bytes];
      const type = this.#bytes[0] as number;
      const length = this.#bytes.readUInt32BE(1);
      if (length > (type === FRAME.hello ? MAX_HELLO : MAX_OTHER)) throw new ProtocolError("the frame is too long");
      const end = HEADER + length;
      if (this.#waiting < end) {
        this.#needed = end;
        return;
      }
      const content = this.#bytes.subarray(HEADER, end);
      const rest = this.#bytes.subarray(end);
      this.#chunks = rest.length > 0 ? [rest] : [];
      this.#waiting = rest.length;
      this.#needed = HEADER;
      yield { type, content };
    }
  }
}

/** Returns the bytes of the frames that carry some content, split where it is too long for one frame. */
export function encodeFrames(type: number, content: Uint8Array): Buffer {
  const frames: Buffer[] = [];
  for (let at = 0; at === 0 || at < content.length; at += MAX_SENT) {
    const piece = content.subarray(at, at + MAX_SENT);
    const header = Buffer.alloc(HEADER);
    header[0] = type;
    header.writeUInt32BE(piece.length, 1);
    frames.push(header, Buffer.from(piece.buffer, piece.byteOffset, piece.length));
  }
  return Buffer.concat(frames);
}

/** What the relay was started with. */
export interface Hello {
  mode: "shell" | "mcp";
  cwd: string;
  /** What the relay's stdin is. A terminal has a size. */
  input: "none" | "stream" | { columns: number; rows: number };
  argv: string[];
  env: Record<string, string>;
}

const VERSION = "sallyport-relay 1";
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Decodes the first frame. Throws ProtocolError when it is not valid. */
export function decodeHello(content: Buffer): Hello {
  const [version, mode, cwd, input, count, ...texts] = textsOf(content);
  if (version !== VERSION) throw new ProtocolError("the relay has another version than this gateway");
  const size = parseSize(input ?? "");
  const argc = Number(count);
  const known = size !== null || input === "none" || input === "stream";
  if ((mode !== "shell" && mode !== "mcp") || !cwd || !known || !(argc >= 1 && argc <= texts.length)) {
    throw new ProtocolError("the first frame is not valid");
  }
  const env: Record<string, string> = {};
  for (const text of texts.slice(argc)) {
    const at = text.indexOf("=");
    if (at > 0) env[text.slice(0, at)] = text.slice(at + 1);
  }
  return { mode, cwd, input: size ?? (input as "none" | "stream"), argv: texts.slice(0, argc), env };
}

function textsOf(content: Buffer): string[] {
  let text: string;
  try {
    text = UTF8.decode(content);
  } catch {
    throw new ProtocolError("the arguments, the environment or the working directory are not valid UTF-8");
  }
  return text.split("\0").slice(0, -1);
}

/** Parses a terminal size such as `80x24`. Returns null when it is not one. */
export function parseSize(text: string): { columns: number; rows: number } | null {
  const [, columns, rows] = /^(\d{1,5})x(\d{1,5})$/.exec(text) ?? [];
  if (columns === undefined) return null;
  const within = (value: string | undefined) => Math.min(Math.max(Number(value), 1), 1000);
  return { columns: within(columns), rows: within(rows) };
}
