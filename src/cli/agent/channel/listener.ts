import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { PassThrough, Writable } from "node:stream";
import type { Gateway } from "../../../gateway/gateway.ts";
import type { AgentOptions } from "../../../mcp/agent-context.ts";
import { decodeHello, encodeFrames, FRAME, type Frame, FrameReader, type Hello, ProtocolError } from "./frames.ts";
import { type Send, ShellCall } from "./shell-call.ts";

/** The maximum number of concurrent connections (invariant 6). The limits of the agent apply to its commands. */
const MAX_CONNECTIONS = 128;
/** The maximum number of MCP clients among them. Each has a gateway of its own. */
const MAX_MCP = 8;
/** How long a connection may take to send its first frame. */
const HELLO_MS = 10_000;
/** Bytes of frames that may wait to be handled. A relay sends one frame with input at a time (invariant 6). */
const MAX_WAITING = 256 * 1024;

/** The number of warnings that are remembered (invariant 6). */
const MAX_WARNINGS = 100;

export interface ChannelOptions {
  gateway: Gateway;
  /** The options of the MCP server that the program can connect to. */
  mcp: AgentOptions;
  variables(env: Hello["env"]): Record<string, string>;
  /** Whether commands that require approval wait for it. */
  waits: boolean;
}

/**
 * The gateway's end of the channel. Through it, the program of an agent can submit commands as this agent, read their
 * output and serve their input; nothing else. It cannot choose the agent, decide on approvals, or request more than the
 * agent's settings allow without approval (invariant 7). Only the sandbox of the program's session allows a connection to
 * the socket; other sandboxed commands cannot connect to it.
 */
export class ChannelListener {
  readonly #options: ChannelOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #mcpClients = 0;
  readonly #warnings = new Set<string>();

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  async listen(path: string): Promise<void> {
    this.#server.listen(path);
    await once(this.#server, "listening");
  }

  /** Stops listening and ends the commands of all connections. */
  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #accept(socket: Socket): void {
    socket.on("error", () => socket.destroy());
    if (this.#sockets.size >= MAX_CONNECTIONS) {
      refuse(socket, `more than ${MAX_CONNECTIONS} commands of this agent run at once; wait until some have ended`);
      return;
    }
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    void this.#serve(new Connection(socket)).catch((error: unknown) => {
      refuse(socket, error instanceof Error ? error.message : String(error));
    });
  }

  async #serve(connection: Connection): Promise<void> {
    const hello = await connection.hello();
    if (hello.mode === "mcp") await this.#serveMcp(connection);
    else await this.#serveShell(connection, hello);
    connection.end();
  }

  async #serveShell(connection: Connection, hello: Hello): Promise<void> {
    const { gateway, mcp, variables, waits } = this.#options;
    const { workspace } = mcp;
    const isNews = (warning: string) => this.#isNews(warning);
    const call = new ShellCall(gateway, hello, connection.send, { workspace, variables, waits, isNews });
    connection.onArrival((frame) => call.arrived(frame));
    connection.receive((frame) => call.receive(frame));
    connection.onGone(() => call.disconnected());
    await call.run();
  }

  #isNews(warning: string): boolean {
    if (this.#warnings.has(warning)) return false;
    if (this.#warnings.size < MAX_WARNINGS) this.#warnings.add(warning);
    return true;
  }

  async #serveMcp(connection: Connection): Promise<void> {
    if (this.#mcpClients >= MAX_MCP) throw new ProtocolError(`this agent has ${MAX_MCP} MCP clients already`);
    this.#mcpClients++;
    try {
      const [{ AgentContext }, { serveStdio }] = await Promise.all([
        import("../../../mcp/agent-context.ts"),
        import("../../../mcp/stdio.ts"),
      ]);
      const input = new PassThrough();
      const output = new Writable({
        write: (chunk: Buffer, _, done) => void connection.send(FRAME.stdout, chunk).then(() => done(), done),
      });
      connection.receive(async ({ type, content }) => {
        if (type === FRAME.end || type === FRAME.signal) input.end();
        else if (type === FRAME.stdin && !input.writableEnded && !input.write(content)) await once(input, "drain");
      });
      connection.onGone(() => input.end());
      await serveStdio(new AgentContext(this.#options.mcp), {
        input,
        output,
        signal: connection.gone,
        // The program could answer a request for approval itself (invariant 7).
        hostUser: async () => null,
        onerror: () => {},
      });
      await connection.send(FRAME.exit, Uint8Array.of(0)).catch(() => {});
    } finally {
      this.#mcpClients--;
    }
  }
}

/** Says why a connection is refused, as the program's shell, and closes it. */
function refuse(socket: Socket, why: string): void {
  if (!socket.writable) return;
  socket.write(encodeFrames(FRAME.stderr, Buffer.from(`sallyport: ${why}\n`)));
  socket.end(encodeFrames(FRAME.exit, Uint8Array.of(125)));
}

/** One connection of a relay. Its frames are handled in order, one at a time. */
class Connection {
  readonly #socket: Socket;
  readonly #reader = new FrameReader();
  readonly #gone = new AbortController();
  #queue: Frame[] = [];
  #waiting = 0;
  #handling = false;
  #handler: ((frame: Frame) => Promise<void>) | null = null;
  #onArrival: (frame: Frame) => void = () => {};
  #onHello: ((frame: Frame) => void) | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.once("close", () => this.#gone.abort());
    // The relay shuts down nothing while it runs, so the end of its bytes is its end.
    socket.once("end", () => this.#gone.abort());
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  onGone(listener: () => void): void {
    if (this.gone.aborted) listener();
    else this.gone.addEventListener("abort", listener, { once: true });
  }

  /** Resolves with the first frame. Rejects when it is not valid, or late. */
  async hello(): Promise<Hello> {
    const { promise, resolve, reject } = Promise.withResolvers<Frame>();
    const late = setTimeout(() => reject(new ProtocolError("the first frame was not sent in time")), HELLO_MS);
    this.#onHello = resolve;
    this.onGone(() => reject(new ProtocolError("the relay is gone")));
    try {
      const frame = await promise;
      if (frame.type !== FRAME.hello) throw new ProtocolError("the first frame is not valid");
      return decodeHello(frame.content);
    } finally {
      clearTimeout(late);
    }
  }

  /** Sets a function that is called for each frame when it arrives, also while earlier ones wait. */
  onArrival(listener: (frame: Frame) => void): void {
    this.#onArrival = listener;
    for (const frame of this.#queue) listener(frame);
  }

  /** Sets the handler of all further frames. */
  receive(handler: (frame: Frame) => Promise<void>): void {
    this.#handler = handler;
    void this.#handleAll();
  }

  readonly send: Send = async (type, content) => {
    if (this.gone.aborted || !this.#socket.writable) throw new ProtocolError("the relay is gone");
    // Waits for a relay whose reader is slow, so that output does not pile up in memory (invariant 6).
    if (!this.#socket.write(encodeFrames(type, content))) await once(this.#socket, "drain", { signal: this.gone });
  };

  end(): void {
    this.#socket.end();
  }

  #read(chunk: Buffer): void {
    try {
      for (const frame of this.#reader.push(chunk)) this.#take(frame);
    } catch (error) {
      refuse(this.#socket, error instanceof Error ? error.message : String(error));
      this.#gone.abort();
    }
  }

  #take(frame: Frame): void {
    if (this.#onHello) {
      this.#onHello(frame);
      this.#onHello = null;
      return;
    }
    this.#queue.push(frame);
    this.#waiting += frame.content.length + 64;
    if (this.#waiting > MAX_WAITING) throw new ProtocolError("the relay sends more than was accepted");
    this.#onArrival(frame);
    void this.#handleAll();
  }

  async #handleAll(): Promise<void> {
    if (this.#handling || !this.#handler) return;
    this.#handling = true;
    try {
      for (let frame = this.#queue.shift(); frame; frame = this.#queue.shift()) {
        await this.#handler(frame);
        this.#waiting -= frame.content.length + 64;
        if (frame.type === FRAME.stdin) await this.send(FRAME.accepted, new Uint8Array());
      }
    } catch {
      this.#socket.destroy();
    } finally {
      this.#handling = false;
    }
  }
}
