import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/server";
import { badMessage, type Fault, MESSAGE_MOST } from "../fault.ts";
import { Lines } from "./lines.ts";

/**
 * One message a line. Unlike the SDK's own transport it answers what is no message at all, so that nobody waits for
 * ever for the reply to a broken request, and an over-long line costs that line and not the connection.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** The client wants to hear of changes. The SDK answers that by itself and tells nobody. */
  onlisten?: () => void;
  /** Resolves when the first answer has been written. */
  readonly greeted: Promise<void>;
  readonly #greet: () => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #lines: Lines;
  #room: Promise<void> | null = null;
  #closed = false;

  constructor(input: Readable, output: Writable, maxBytes = MESSAGE_MOST) {
    this.#input = input;
    this.#output = output;
    this.#lines = new Lines(maxBytes);
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
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) return;
    this.#greet();
    if (this.#output.write(`${JSON.stringify(message)}\n`)) return;
    // A client that does not read holds up whoever has something to tell it, and nobody else.
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
    for (const line of this.#lines.take(chunk)) {
      if (this.#closed) return;
      if (line === "too long") this.#refuse({ code: -32600, message: `longer than ${MESSAGE_MOST} bytes`, id: null });
      else if (line.length > 0) this.#receive(line);
    }
  };

  #receive(line: Buffer): void {
    const message = decode(line);
    if ("fault" in message) this.#refuse(message.fault);
    else {
      this.onmessage?.(message.value);
      if ("method" in message.value && message.value.method === "subscriptions/listen") this.onlisten?.();
    }
  }

  #refuse(fault: Fault): void {
    this.onerror?.(new Error(`A message was refused: ${fault.message}`));
    // The SDK's type leaves no room for the null that JSON-RPC wants where no id could be read.
    void this.send(badMessage(fault) as unknown as JSONRPCMessage);
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

function decode(line: Buffer): { value: JSONRPCMessage } | { fault: Fault } {
  let value: unknown;
  try {
    value = JSON.parse(UTF8.decode(line));
  } catch {
    return { fault: { code: -32700, message: "it is not JSON in UTF-8", id: null } };
  }
  try {
    return { value: parseJSONRPCMessage(value) };
  } catch {
    return { fault: { code: -32600, message: "it is not a JSON-RPC 2.0 message", id: idOf(value) } };
  }
}

function idOf(value: unknown): string | number | null {
  const id = typeof value === "object" && value !== null && "id" in value ? value.id : null;
  return typeof id === "string" || (typeof id === "number" && Number.isSafeInteger(id)) ? id : null;
}
