import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { WebSocket, WebSocketServer } from "ws";
import type { SessionHandle } from "../../core/gateway.ts";
import type { TerminalSize } from "../../core/terminal.ts";
import { notOnTerminal } from "../../session/errors.ts";
import { errorResponse } from "../errors.ts";
import { admit, gatewayOf, SOCKET_PROTOCOL } from "../guard/authenticate.ts";
import type { Caller } from "../guard/caller.ts";
import { ConnectionLimiter } from "../guard/limiters.ts";
import { OPERATORS_AND_AGENT, READERS_AND_AGENT } from "../operation.ts";
import { resizeAs } from "../routes/control.ts";
import type { Service } from "../service.ts";
import { Streams } from "./event-stream.ts";
import { Viewer } from "./viewer.ts";

const PATH = /^\/v1\/sessions\/([^/?#]{1,256})\/terminal(?:\?|$)/;
const TERMINAL_LIMITS = { perCaller: 32, inAll: 256 };
/** Maximum size of a frame from a client. */
const MAX_FRAME_BYTES = 64 * 1024;
/** How long to wait for clients to close their side. */
const CLOSE_TIMEOUT_MS = 1000;

interface Admitted {
  caller: Caller;
  session: SessionHandle;
  release: () => void;
}

/** WebSocket connections to the terminals of sessions. */
export class Terminals {
  readonly #service: Service;
  readonly #viewers = new Streams();
  readonly #limiter = new ConnectionLimiter(TERMINAL_LIMITS);
  #sockets: Promise<WebSocketServer> | null = null;

  constructor(service: Service) {
    this.#service = service;
  }

  get count(): number {
    return this.#viewers.count;
  }

  /** Handles an upgrade request. Returns false when the path is not a terminal. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const [, id] = PATH.exec(request.url ?? "") ?? [];
    if (id === undefined) return false;
    socket.on("error", () => socket.destroy());
    this.#receive(request, socket, head, id).catch((error) => refuse(socket, errorResponse(this.#service, error)));
    return true;
  }

  async #receive(request: IncomingMessage, socket: Duplex, head: Buffer, id: string): Promise<void> {
    const admitted = await this.#admit(request, id);
    if (socket.destroyed) return admitted.release();
    socket.once("close", admitted.release);
    // Loaded on first use, so that the service starts faster.
    this.#sockets ??= openSockets();
    const sockets = await this.#sockets;
    sockets.handleUpgrade(request, socket, head, (webSocket) => this.#show(webSocket, admitted));
  }

  #show(socket: WebSocket, { caller, session }: Admitted): void {
    const mayType = OPERATORS_AND_AGENT.includes(caller.role);
    const { onfailure, stopping, gateway } = this.#service;
    const resize = (size: TerminalSize) => resizeAs(caller, session, size, gateway.audit);
    const viewer = new Viewer(socket, session, { mayType, isGood: caller.isGood, resize, onfailure });
    socket.once("close", this.#viewers.add(viewer));
    if (stopping.aborted) viewer.close();
    else void viewer.show();
  }

  /**
   * Authorizes a connection. The stricter checks for changes apply even to viewers, because browsers let any page open
   * a WebSocket.
   */
  async #admit(request: IncomingMessage, id: string): Promise<Admitted> {
    const caller = admit(this.#service, request, READERS_AND_AGENT, true);
    const session = await gatewayOf(this.#service, caller).find(decoded(id));
    if (session.info().pty === null) throw notOnTerminal(session.name);
    return { caller, session, release: this.#limiter.acquire(caller) };
  }

  async close(): Promise<void> {
    this.#viewers.close();
    const sockets = await this.#sockets;
    if (!sockets) return;
    const late = setTimeout(() => {
      for (const socket of sockets.clients) socket.terminate();
    }, CLOSE_TIMEOUT_MS);
    while (sockets.clients.size > 0) await sleep(10);
    clearTimeout(late);
    sockets.close();
  }
}

async function openSockets(): Promise<WebSocketServer> {
  const { WebSocketServer: Sockets } = await import("ws");
  return new Sockets({
    noServer: true,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    // The other offered protocol is the client's key, which must not be sent back.
    handleProtocols: (offered) => (offered.has(SOCKET_PROTOCOL) ? SOCKET_PROTOCOL : false),
  });
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Responds to a rejected upgrade over plain HTTP. */
async function refuse(socket: Duplex, response: Response): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer());
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.end(
    `HTTP/1.1 ${response.status} Refused\r\n${headers}connection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
}
