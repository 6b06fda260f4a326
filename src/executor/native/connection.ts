import { closeSync, openSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { basename, dirname } from "node:path";
import type { ExitRecord, InputWait } from "../execution.ts";

/** The longest path that is used as a socket address. The system's limit is 107 bytes, or 103 on macOS. */
const LENGTH_MAX = 100;

/**
 * Returns an address for a socket, even if the path of the socket is too long to be an address. The address is valid
 * until `close` is called.
 */
export function socketAddress(path: string): { address: string; close(): void } {
  if (process.platform !== "linux" || Buffer.byteLength(path) <= LENGTH_MAX) return { address: path, close: () => {} };
  const folder = openSync(dirname(path), "r");
  return { address: `/proc/self/fd/${folder}/${basename(path)}`, close: () => closeSync(folder) };
}

interface Hello {
  ev: "hello";
  v: number;
  build: string;
  pid: number;
  id: string;
}

export interface Reply {
  ev: "re";
  ok: boolean;
  why?: string;
  taken?: number;
  hidden?: boolean;
  /** The size of the output before the write. */
  before?: number;
  /** The program that waits for input. */
  input?: InputWait | null;
}

/** The reply to `inputState`. Processes are given as pids, and bytes in hex. */
export interface InputReply extends Reply {
  reading: boolean | null;
  echo: boolean;
  canonical: boolean;
  foreground: number;
  bytes: number;
  applicationCursor: boolean;
  bracketedPaste: boolean;
  typed: string;
  overlong: boolean;
  before: number;
  on: number[];
}

export type KeeperEvent =
  | Hello
  | Reply
  | { ev: "started"; pid: number; startedUs: number; gaps: string[] }
  | { ev: "grew"; bytes: number[]; fresh?: string; ms?: number }
  | ({ ev: "exited" | "ended" } & ExitRecord)
  | { ev: "refused"; why: string }
  | { ev: "overloaded"; step: string; errno: number };

const HELLO_TIMEOUT_MS = 10_000;
/**
 * The read buffer that all connections share. This is safe because its bytes are parsed before the next read. Reading
 * through a stream would add latency.
 */
const ARRIVED = Buffer.allocUnsafeSlow(64 << 10);
const REPLY = '{"ev":"re"';

/** A connection to a keeper. It sends frames and receives lines of JSON, with replies in the order of the requests. */
export class Connection {
  readonly #socket: Socket;
  #rest = "";
  #waiting: ((reply: Reply | null) => void)[] = [];
  /** Replies received with events. Events are handled first, so that followers do not wait for the requester. */
  #replies: string[] = [];
  hello: Hello | null = null;
  onEvent: (event: KeeperEvent) => void = () => {};
  onError: (error: Error) => void = () => {};
  onClose: () => void = () => {};
  closed = false;

  constructor(path: string) {
    const socket = connect({ path, onread: { buffer: ARRIVED, callback: (length) => this.#take(length) } });
    this.#socket = socket;
    socket.on("error", (error) => this.onError(error));
    socket.on("close", () => this.#end());
  }

  get keeperPid(): number {
    return this.hello?.pid ?? 0;
  }

  send(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** Sends a frame and waits for its reply. Resolves with null if the connection ends first. */
  ask(bytes: Uint8Array): Promise<Reply | null> {
    if (this.closed) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#socket.write(bytes);
    });
  }

  /** Sets whether this connection keeps the process alive. */
  hold(yes: boolean): void {
    if (yes) this.#socket.ref();
    else this.#socket.unref();
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(length: number): boolean {
    const text = this.#rest + ARRIVED.toString("latin1", 0, length);
    let from = 0;
    let grew = false;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      const line = text.slice(from, end);
      from = end + 1;
      if (line.startsWith(REPLY)) {
        this.#replies.push(line);
        continue;
      }
      const event = JSON.parse(line) as KeeperEvent;
      grew ||= event.ev === "grew";
      this.onEvent(event);
    }
    this.#rest = text.slice(from);
    if (grew && this.#replies.length > 0) setImmediate(() => this.#answer());
    else this.#answer();
    return true;
  }

  #answer(): void {
    for (const line of this.#replies.splice(0)) this.#waiting.shift()?.(JSON.parse(line) as Reply);
  }

  #end(): void {
    if (this.closed) return;
    this.closed = true;
    this.#answer();
    for (const resolve of this.#waiting.splice(0)) resolve(null);
    this.onClose();
  }
}

/**
 * Connects and waits for the keeper's `hello`. Rejects with the system's error, `ETIMEDOUT` if the keeper does not
 * respond, `ECONNRESET` if it closes the connection, or `EAGAIN` if it is overloaded.
 */
export function openConnection(path: string, timeoutMs = HELLO_TIMEOUT_MS): Promise<Connection> {
  const { address, close } = socketAddress(path);
  return new Promise<Connection>((resolve, reject) => {
    const connection = new Connection(address);
    const timer = setTimeout(() => {
      reject(
        Object.assign(new Error(`the keeper did not respond within ${timeoutMs / 1000} s`), { code: "ETIMEDOUT" }),
      );
      connection.close();
    }, timeoutMs);
    connection.onError = reject;
    connection.onClose = () => {
      clearTimeout(timer);
      reject(Object.assign(new Error("the keeper closed the connection"), { code: "ECONNRESET" }));
    };
    connection.onEvent = (event) => {
      clearTimeout(timer);
      if (event.ev !== "hello") {
        reject(Object.assign(new Error("the keeper is overloaded"), { code: "EAGAIN" }));
        connection.close();
        return;
      }
      connection.hello = event;
      connection.onEvent = () => {};
      connection.onClose = () => {};
      resolve(connection);
    };
  }).finally(close);
}
