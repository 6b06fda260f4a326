import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import type { AgentContext, AgentOptions } from "./agent-context.ts";
import { Connection, shutdown } from "./connection.ts";
import { errorResponse, MAX_MESSAGE_BYTES, type MessageError } from "./errors.ts";
import { greetingFor } from "./handshake.ts";

const LINE_FEED = 0x0a;
const RETURN = 0x0d;

/** Splits a stream of bytes into lines. Holds at most one line of the maximum size (invariant 6). */
export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  #skipping = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Yields the lines that end in this chunk. A line that is too long is reported once, then skipped. */
  *push(chunk: Buffer): Generator<Buffer | "too long"> {
    let at = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, at)) {
      const fits = this.#keep(chunk.subarray(at, end));
      at = end + 1;
      const skipped = this.#skipping;
      const line = this.#whole();
      if (!fits) yield "too long";
      else if (!skipped) yield line;
    }
    if (at < chunk.length && !this.#keep(chunk.subarray(at))) yield "too long";
  }

  /** Adds to the current line. Returns false when this makes it too long. */
  #keep(piece: Buffer): boolean {
    if (this.#skipping) return true;
    this.#bytes += piece.length;
    if (this.#bytes <= this.#maxBytes) {
      if (piece.length > 0) this.#parts.push(piece);
      return true;
    }
    this.#parts = [];
    this.#skipping = true;
    return false;
  }

  #whole(): Buffer {
    const [only] = this.#parts;
    const line = this.#parts.length === 1 && only ? only : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    this.#skipping = false;
    return line.at(-1) === RETURN ? line.subarray(0, -1) : line;
  }
}

/**
 * A transport with one message per line. Unlike the SDK's transport it responds to invalid messages, so that a client
 * does not wait for a response forever, and a line that is too long does not end the connection.
 */
class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Called when the client subscribes to changes. The SDK handles that request itself, without a callback. */
  onlisten?: () => void;
  /** Resolves when the first response has been written. */
  readonly greeted: Promise<void>;
  readonly #greet: () => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #parse: Parse;
  readonly #lines = new LineSplitter(MAX_MESSAGE_BYTES);
  /** The ID of the request that was answered before this transport was created, until the SDK answers it too. */
  #answered: RequestId | null;
  #room: Promise<void> | null = null;
  #closed = false;

  constructor({ input, output }: Pick<StdioOptions, "input" | "output">, parse: Parse, answered: RequestId | null) {
    this.#input = input;
    this.#output = output;
    this.#parse = parse;
    this.#answered = answered;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.greeted = promise;
    this.#greet = resolve;
  }

  async start(): Promise<void> {
    this.#input.on("data", this.#read);
    this.#input.on("end", this.#gone);
    this.#input.on("close", this.#gone);
    this.#input.on("error", this.#gone);
    this.#output.on("error", this.#gone);
    // The callbacks of the transport are set after this has returned.
    if (this.#input.readableEnded || this.#input.destroyed || this.#output.destroyed) setImmediate(this.#gone);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) return;
    if (this.#answered !== null && "result" in message && message.id === this.#answered) {
      this.#answered = null;
      return;
    }
    this.#greet();
    if (this.#output.write(`${JSON.stringify(message)}\n`)) return;
    // Waits for a client that does not read, so that its messages do not pile up in memory.
    this.#room ??= once(this.#output, "drain").then(this.#roomAgain, this.#roomAgain);
    await this.#room;
  }

  readonly #roomAgain = () => {
    this.#room = null;
  };

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#input.off("data", this.#read);
    this.#input.pause();
    this.onclose?.();
  }

  readonly #gone = () => void this.close();

  readonly #read = (chunk: Buffer) => {
    for (const line of this.#lines.push(chunk)) {
      if (this.#closed) return;
      if (line === "too long")
        this.#reject({ code: -32600, message: `the message is longer than ${MAX_MESSAGE_BYTES} bytes`, id: null });
      else if (line.length > 0) this.#receive(line);
    }
  };

  #receive(line: Buffer): void {
    const message = decode(line, this.#parse);
    if ("error" in message) this.#reject(message.error);
    else {
      this.onmessage?.(message.value);
      if ("method" in message.value && message.value.method === "subscriptions/listen") this.onlisten?.();
    }
  }

  #reject(error: MessageError): void {
    this.onerror?.(new Error(`Rejected a message: ${error.message}`));
    // The SDK's type does not allow a null ID, which JSON-RPC requires when the ID is unknown.
    void this.send(errorResponse(error) as unknown as JSONRPCMessage);
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

type RequestId = string | number;
type Parse = (value: unknown) => JSONRPCMessage;

function decode(line: Buffer, parse: Parse): { value: JSONRPCMessage } | { error: MessageError } {
  let value: unknown;
  try {
    value = JSON.parse(UTF8.decode(line));
  } catch {
    return { error: { code: -32700, message: "the message is not valid UTF-8 JSON", id: null } };
  }
  try {
    return { value: parse(value) };
  } catch {
    return { error: { code: -32600, message: "the message is not valid JSON-RPC 2.0", id: idOf(value) } };
  }
}

function idOf(value: unknown): string | number | null {
  const id = typeof value === "object" && value !== null && "id" in value ? value.id : null;
  return typeof id === "string" || (typeof id === "number" && Number.isSafeInteger(id)) ? id : null;
}

/**
 * How long to wait for the handshake, in milliseconds, before the SDK is loaded and, again, before the gateway is opened.
 * Either would delay the handshake.
 */
const HANDSHAKE_MS = 100;

/**
 * Answers the first message if it is a plain `initialize` request, and returns its ID. Returns null for any other input.
 * The input stays unread, because the SDK must receive the request, too.
 */
async function greet({ input, output }: StdioOptions, options: AgentOptions): Promise<RequestId | null> {
  await once(input, "readable", { signal: AbortSignal.timeout(HANDSHAKE_MS) }).catch(() => {});
  const chunk: Buffer | null = input.read();
  if (chunk === null) return null;
  input.unshift(chunk);
  const end = chunk.indexOf(LINE_FEED);
  const greeting = end === -1 ? null : greetingFor(parsedLine(chunk.subarray(0, end)), options);
  if (greeting === null) return null;
  output.write(`${JSON.stringify(greeting)}\n`);
  return greeting.id;
}

/** Returns the value of a line, or undefined if it is not JSON. */
function parsedLine(line: Buffer): unknown {
  const decoded = decode(line, (value) => value as JSONRPCMessage);
  return "value" in decoded ? decoded.value : undefined;
}

interface StdioOptions {
  input: Readable;
  output: Writable;
  /** Stops serving, as when the client disconnects. */
  signal: AbortSignal;
  /** Returns the name under which the host's user decides approvals; null when the client may not decide. */
  hostUser: () => Promise<string | null>;
  onerror: (error: Error) => void;
}

/** Serves one client until it disconnects. Rejects when the agent's gateway cannot be opened. */
export async function serveStdio(agentContext: AgentContext, options: StdioOptions): Promise<void> {
  const { output, signal, hostUser, onerror } = options;
  // The transport, which handles errors, is created later.
  output.on("error", () => {});
  const answered = await greet(options, agentContext.options);
  const [{ createServer, sendNotifications }, { parseJSONRPCMessage }, { serveStdio: serve }] = await Promise.all([
    import("./server.ts"),
    import("@modelcontextprotocol/server"),
    import("@modelcontextprotocol/server/stdio"),
  ]);
  const connection = new Connection(await hostUser());
  const transport = new LineTransport(options, parseJSONRPCMessage, answered);
  const closed = new Promise<void>((resolve) => {
    const handle = serve(
      () => {
        const server = createServer(agentContext, connection);
        transport.onlisten = sendNotifications(server, agentContext, connection).watchAll;
        return server;
      },
      { transport, onerror },
    );
    // `serve` has set the transport's callbacks by now. Its own handler is called first.
    const entryClosed = transport.onclose;
    transport.onclose = () => {
      entryClosed?.();
      resolve();
    };
    const stop = () => void handle.close();
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
  });
  if (answered === null)
    await Promise.race([transport.greeted, closed, sleep(HANDSHAKE_MS, undefined, { ref: false })]);
  // Listing the tools opens the gateway and also detects toolsets that conflict.
  await Promise.race([agentContext.tools.list(), closed]);
  await closed;
  await shutdown(agentContext, connection);
}
