import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  InMemoryServerEventBus,
  type JSONRPCMessage,
  type McpHttpHandler,
  type Server,
} from "@modelcontextprotocol/server";
import { uptimeMs } from "../../core/clock.ts";
import type { Token } from "../../storage/tokens.ts";
import { AgentContext, type AgentOptions } from "../agent-context.ts";
import { Connection, shutdown } from "../connection.ts";
import { createServer, sendNotifications } from "../server.ts";

/**
 * Serves one agent over HTTP. Holds the agent's context and the handler for clients of protocol version 2026-07-28 and
 * later, for which the server keeps no HTTP session.
 */
export class AgentEndpoint {
  readonly agentContext: AgentContext;
  readonly modern: McpHttpHandler;
  readonly #stops: (() => void)[];

  constructor(options: AgentOptions, onerror: (error: Error) => void) {
    this.agentContext = new AgentContext(options);
    const bus = new WatchedEventBus((listener) => this.agentContext.watcher.listen(listener));
    this.modern = createMcpHandler(
      ({ authInfo }) => createServer(this.agentContext, new Connection(authInfo?.clientId || null)),
      { legacy: "reject", onerror, bus },
    );
    this.#stops = [this.agentContext.tools.onChange(() => this.modern.notify.toolsChanged())];
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    await this.modern.close();
    await this.agentContext.close();
  }
}

/** An event bus that watches sessions only while there are subscribers. */
class WatchedEventBus extends InMemoryServerEventBus {
  readonly #watch: (listener: (uri: string) => void) => () => void;
  #stop: (() => void) | null = null;

  constructor(watch: (listener: (uri: string) => void) => () => void) {
    super();
    this.#watch = watch;
  }

  override subscribe(listener: Parameters<InMemoryServerEventBus["subscribe"]>[0]): () => void {
    this.#stop ??= this.#watch((uri) => this.publish({ kind: "resource_updated", uri }));
    const unsubscribe = super.subscribe(listener);
    return () => {
      unsubscribe();
      if (this.listenerCount > 0) return;
      this.#stop?.();
      this.#stop = null;
    };
  }
}

/** Sends an error for a request that did not reach a protocol handler. */
export function sendError(
  response: ServerResponse,
  status: number,
  message: string,
  { code = -32000, headers = {} }: { code?: number; headers?: Record<string, string> } = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } });
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(body);
}

/** How many agents can have all their sessions open at the same time, which bounds the number of sessions in total. */
const AGENTS = 16;

export interface SessionLimits {
  /** Maximum number of sessions of one agent. */
  perAgent: number;
  /** A session with no requests and no open streams ends after this time, in milliseconds. */
  idleMs: number;
}

interface HttpSession {
  token: Token;
  endpoint: AgentEndpoint;
  connection: Connection;
  server: Server;
  transport: NodeStreamableHTTPServerTransport;
  /** Number of open responses, including streams. */
  open: number;
  lastSeen: number;
}

/**
 * HTTP sessions of clients up to protocol version 2025-11-25. A session ends on DELETE, when it is idle for too long,
 * or when its token becomes invalid.
 */
export class HttpSessions {
  readonly #sessions = new Map<string, HttpSession>();
  readonly #limits: SessionLimits;

  constructor(limits: SessionLimits) {
    this.#limits = limits;
  }

  async serve(
    request: IncomingMessage,
    response: ServerResponse,
    body: unknown,
    { token, endpoint, hostUser }: { token: Token; endpoint: AgentEndpoint; hostUser: string | null },
  ): Promise<void> {
    const id = request.headers["mcp-session-id"];
    const session = typeof id === "string" ? this.#find(id, token) : await this.#begin(body, token, endpoint, hostUser);
    if (session === "full") {
      sendError(response, 503, "Too many sessions are open. Close one or try again later.", {
        headers: { "retry-after": "10" },
      });
      return;
    }
    if (session === null) {
      sendError(response, id === undefined ? 400 : 404, "Unknown session. Start a new one with `initialize`.");
      return;
    }
    session.lastSeen = uptimeMs();
    session.open++;
    response.once("close", () => {
      session.open--;
      session.lastSeen = uptimeMs();
      // The client has disconnected, so its calls are cancelled.
      if (!response.writableFinished) for (const each of requestIds(body)) cancel(session, each);
    });
    await session.transport.handleRequest(request, response, body);
  }

  /** Finds a session. Sessions of other agents are treated as if they did not exist. */
  #find(id: string, token: Token): HttpSession | null {
    const session = this.#sessions.get(id);
    return session?.token.agent === token.agent ? session : null;
  }

  async #begin(
    body: unknown,
    token: Token,
    endpoint: AgentEndpoint,
    hostUser: string | null,
  ): Promise<HttpSession | "full" | null> {
    if (!isInitialize(body)) return null;
    if (!this.#hasRoom(token.agent)) return "full";
    const id = randomUUID();
    const connection = new Connection(hostUser);
    const server = createServer(endpoint.agentContext, connection);
    sendNotifications(server, endpoint.agentContext, connection);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => this.#end(id),
    });
    const session = { token, endpoint, connection, server, transport, open: 0, lastSeen: uptimeMs() };
    this.#sessions.set(id, session);
    await server.connect(transport);
    return session;
  }

  /** Each agent has a limit of its own, so that one agent does not take the sessions of others (invariant 6). */
  #hasRoom(agent: string): boolean {
    const own = [...this.#sessions.values()].filter(({ token }) => token.agent === agent).length;
    return own < this.#limits.perAgent && this.#sessions.size < this.#limits.perAgent * AGENTS;
  }

  /** Ends inactive sessions and those whose token is no longer valid. */
  sweep(isGood: (token: string) => boolean): void {
    const oldest = uptimeMs() - this.#limits.idleMs;
    for (const [id, { open, lastSeen, token }] of this.#sessions) {
      if ((open === 0 && lastSeen < oldest) || !isGood(token.id)) void this.#end(id);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((id) => this.#end(id)));
  }

  async #end(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    if (!session) return;
    this.#sessions.delete(id);
    await session.server.close().catch(() => {});
    await shutdown(session.endpoint.agentContext, session.connection);
  }
}

function isInitialize(body: unknown): boolean {
  return [body].flat().some((each) => (each as { method?: unknown } | null)?.method === "initialize");
}

function requestIds(body: unknown): (string | number)[] {
  const messages = [body].flat() as ({ id?: unknown; method?: unknown } | null)[];
  return messages.flatMap((each) =>
    each?.method !== undefined && (typeof each.id === "string" || typeof each.id === "number") ? [each.id] : [],
  );
}

function cancel({ transport }: HttpSession, requestId: string | number): void {
  const message: JSONRPCMessage = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } };
  transport.onmessage?.(message);
}
