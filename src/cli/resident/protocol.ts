/**
 * The messages between the native client (native/client/) and the resident gateway. A message is a u32 length, a u8 type
 * and a payload, little-endian, where the length includes the type. native/client/protocol.h defines the same numbers.
 */

/** Messages from the resident gateway to a client. */
export const TO_CLIENT = {
  /** The build, the challenge for the client's name and the ID of its session, each ending with NUL. */
  hello: 1,
  /** The client runs the command line with Node. Nothing has been recorded. */
  useNode: 2,
  /** A foreground command was recorded: u8 flags, then its folder, ending with NUL. */
  started: 3,
  stdout: 4,
  stderr: 5,
  /** The client sends one message with input. */
  wantInput: 6,
  /** u8 exit code, what follows the number in the note about missing output, ending with NUL, then text for stderr. */
  done: 7,
  /** u64 bytes of stdout or both, u64 bytes of stderr: how much of the command's output the messages so far contain. */
  printed: 8,
} as const;

/** Messages from a client to the resident gateway. */
export const FROM_CLIENT = {
  request: 1,
  /** Bytes of stdin. */
  input: 2,
  /** u8 signal that the client has received. */
  signal: 3,
  /** Stop the command: the reader of the output is gone. */
  stop: 4,
  /** The last bytes of stdin. */
  lastInput: 5,
} as const;

/** Flags of `started`. */
export const STARTED = {
  merged: 1,
  /** The output arrives in messages. The client does not read the log. */
  inMessages: 2,
} as const;

const HEADER = 4;
const REQUEST_MAX = 4 << 20;
const MESSAGE_MAX = 1 << 17;
const DIGEST_FIELDS = 4 + 4 + 1 + 2 + 2 + 4 + 4;

export interface Message {
  type: number;
  payload: Buffer;
}

export function encode(type: number, payload: Uint8Array): Buffer {
  const message = Buffer.allocUnsafe(HEADER + 1 + payload.length);
  message.writeUInt32LE(1 + payload.length, 0);
  message[HEADER] = type;
  message.set(payload, HEADER + 1);
  return message;
}

/** Splits a stream of bytes into messages. Throws when a message exceeds the maximum length or is empty. */
export class Messages {
  #chunks: Buffer[] = [];
  #length = 0;

  /** The number of bytes of an incomplete message. */
  get pending(): number {
    return this.#length;
  }

  add(chunk: Buffer): Message[] {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    const found: Message[] = [];
    for (;;) {
      const length = this.#next();
      if (length === null || this.#length < HEADER + length) return found;
      const bytes = Buffer.concat(this.#chunks);
      found.push({ type: bytes[HEADER] as number, payload: bytes.subarray(HEADER + 1, HEADER + length) });
      const rest = bytes.subarray(HEADER + length);
      this.#chunks = rest.length > 0 ? [rest] : [];
      this.#length = rest.length;
    }
  }

  #next(): number | null {
    if (this.#length < HEADER + 1) return null;
    if ((this.#chunks[0]?.length ?? 0) < HEADER + 1) this.#chunks = [Buffer.concat(this.#chunks)];
    const [first] = this.#chunks;
    const length = first?.readUInt32LE(0) ?? 0;
    const most = first?.[HEADER] === FROM_CLIENT.request ? REQUEST_MAX : MESSAGE_MAX;
    if (length < 1 || length > most) throw new RangeError(`a message of ${length} bytes`);
    return length;
  }
}

/** A command line with the attributes of the process that sent it. */
export interface ClientRequest {
  pid: number;
  umask: number;
  isTTY: { stdin: boolean; stdout: boolean; stderr: boolean };
  /** Whether stdin is a device other than a terminal, such as /dev/null. */
  stdinIsDevice: boolean;
  /** Whether stdout is /dev/null. */
  isDiscarded: boolean;
  /** The size of the terminal on stdout; 0 if there is none. */
  columns: number;
  rows: number;
  folder: string;
  argv: string[];
  env: Record<string, string>;
  /** Identifies the environment, working directory and umask. */
  key: string;
}

/** Returns the request, or null when it is malformed or contains text that is not UTF-8. */
export function decodeRequest(payload: Buffer): ClientRequest | null {
  if (payload.length <= DIGEST_FIELDS || payload.at(-1) !== 0) return null;
  const tty = payload[8] as number;
  const argc = payload.readUInt32LE(13);
  const envc = payload.readUInt32LE(17);
  const strings = textOf(payload.subarray(DIGEST_FIELDS, -1))?.split("\0");
  if (!strings || strings.length !== 1 + argc + envc) return null;
  const [folder = ""] = strings;
  const variables = strings.slice(1 + argc);
  const umask = payload.readUInt32LE(4);
  if (!folder.startsWith("/") || umask > 0o777) return null;
  return {
    pid: payload.readUInt32LE(0),
    umask,
    isTTY: { stdin: (tty & 1) !== 0, stdout: (tty & 2) !== 0, stderr: (tty & 4) !== 0 },
    stdinIsDevice: (tty & 8) !== 0,
    isDiscarded: (tty & 16) !== 0,
    columns: payload.readUInt16LE(9),
    rows: payload.readUInt16LE(11),
    folder,
    argv: strings.slice(1, 1 + argc),
    env: environmentOf(variables),
    key: JSON.stringify([folder, umask, variables]),
  };
}

/** Parses variables like Node: of several with one name the first counts, and those without `=` are left out. */
function environmentOf(variables: readonly string[]): Record<string, string> {
  const env: Record<string, string> = Object.create(null);
  for (const variable of variables) {
    const at = variable.indexOf("=", 1);
    if (at < 0) continue;
    const name = variable.slice(0, at);
    env[name] ??= variable.slice(at + 1);
  }
  return env;
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
