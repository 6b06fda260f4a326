import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { Gateway } from "../gateway/gateway.ts";
import type { AgentOptions } from "../mcp/agent-context.ts";
import type { HttpHandler } from "../mcp/http/handler.ts";
import { limitSockets } from "../mcp/http/sockets.ts";
import type { Application } from "./application.ts";
import { cannotListen, tooManyBodies, unusableCertificate } from "./errors.ts";
import { ConnectionLimiter, RateLimiter } from "./guard/limiters.ts";
import { Tickets } from "./guard/tickets.ts";
import { reportWrongSecret } from "./guard/wrong-secret.ts";
import { answerHealthCheck } from "./health.ts";
import { RequestCounts } from "./live/prometheus.ts";
import type { Service } from "./service.ts";
import type { Tracing } from "./tracing/tracer.ts";

const PATH = "/mcp";
const SESSIONS = { perAgent: 64, idleMs: 30 * 60_000 };

/** Serves the Model Context Protocol on the same listener, for agents with a token. Loaded on the first request. */
class McpRoute {
  readonly #service: Service;
  readonly #agentOptions: Omit<AgentOptions, "agent">;
  #handler: Promise<HttpHandler> | null = null;

  constructor(service: Service, agentOptions: Omit<AgentOptions, "agent">) {
    this.#service = service;
    this.#agentOptions = agentOptions;
  }

  matches({ url = "" }: IncomingMessage): boolean {
    return url === PATH || url.startsWith(`${PATH}?`);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#handler ??= this.#open();
    await (await this.#handler).handle(request, response);
  }

  async #open(): Promise<HttpHandler> {
    const { HttpHandler } = await import("../mcp/http/handler.ts");
    const { names, tokens, largeBodies, onfailure } = this.#service;
    const onWrongToken = (request: IncomingMessage) => reportWrongSecret(this.#service, request);
    // People decide in the console. Approvals through the agent's own client are not accepted here (invariant 7).
    const hostMayApprove = false;
    const options = { ...SESSIONS, names, tokens, largeBodies, hostMayApprove, agentOptions: this.#agentOptions };
    return new HttpHandler({ ...options, onWrongToken, onerror: () => {}, onfailure });
  }

  async close(): Promise<void> {
    await (await this.#handler)?.close();
  }
}

/** How long the application may wait for the first request that needs it before it is loaded. */
const LOAD_WITHIN_MS = 200;

/** The application, whose code takes longer to load than everything else that a service needs to accept requests. */
class LazyApplication {
  readonly #service: Service;
  readonly #pageFolder: string | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #loaded = Promise.withResolvers<void>();
  #application: Application | null = null;
  #loading: Promise<Application> | null = null;

  constructor(service: Service, pageFolder: string | undefined) {
    this.#service = service;
    this.#pageFolder = pageFolder;
    this.#timer = setTimeout(() => void this.load().catch(service.onfailure), LOAD_WITHIN_MS);
  }

  /** Resolves when the code has been loaded. */
  get loaded(): Promise<void> {
    return this.#loaded.promise;
  }

  load(): Promise<Application> {
    clearTimeout(this.#timer);
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load(): Promise<Application> {
    const { createApplication } = await import("./application.ts");
    this.#application = createApplication(this.#service, this.#pageFolder);
    this.#loaded.resolve();
    return this.#application;
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    if (this.#application) this.#application.answer(request, response);
    else if (!answerHealthCheck(this.#service, request, response)) void this.#answerLater(request, response);
  }

  async #answerLater(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const application = await this.#orFail(response);
    // The command of a client that has disconnected must not start.
    if (application && !response.destroyed) application.answer(request, response);
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", () => socket.destroy());
    const application = this.#application ?? (await this.#orFail(socket));
    if (application && !socket.destroyed) application.upgrade(request, socket, head);
  }

  async #orFail(connection: ServerResponse | Duplex): Promise<Application | null> {
    try {
      return await this.load();
    } catch (error) {
      this.#service.onfailure(error as Error);
      connection.destroy();
      return null;
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    const application = await this.#loading?.catch(() => null);
    await application?.close();
  }
}

/** Maximum number of open sockets. */
const MAX_CONNECTIONS = 4096;
const LARGE_BODIES = { perCaller: 4, inAll: 8 };
/** How long open responses may take to finish when the service stops. */
const CLOSE_TIMEOUT_MS = 5000;

export interface ServeOptions {
  gateway: Gateway;
  workspace: string;
  version: string;
  host: string;
  port: number;
  /** Host names to accept in addition to those of the loopback interface. */
  names: readonly string[];
  /** Certificate and key in PEM; null for plain HTTP. */
  tls: { cert: Buffer; key: Buffer } | null;
  /** Folder of the built console (default: the one in the package). */
  pageFolder?: string;
  /** Maximum number of open connections (default: 4096). */
  maxConnections?: number;
  /** Options for agents that connect to /mcp. */
  mcp: Omit<AgentOptions, "agent">;
  /** Where traces are exported to (default: not exported). */
  tracing?: Tracing | null;
  onfailure: (error: Error) => void;
}

export interface Serving {
  url: string;
  /** Resolves when the code that answers requests has been loaded. */
  loaded: Promise<void>;
  close(): Promise<void>;
}

/** Starts the service. Rejects when it cannot listen on the address. Closing the service closes the gateway. */
export async function serve(options: ServeOptions): Promise<Serving> {
  const stop = new AbortController();
  const { gateway, workspace, version, onfailure, host } = options;
  const names = ["localhost", "127.0.0.1", "[::1]", bracketed(host), ...options.names].map((name) =>
    name.toLowerCase(),
  );
  const service: Service = {
    gateway,
    tokens: gateway.tokens,
    signIns: gateway.signIns,
    tickets: new Tickets(),
    signInLimiter: new RateLimiter(),
    largeBodies: new ConnectionLimiter(LARGE_BODIES, tooManyBodies),
    requests: new RequestCounts(),
    lastAuditEntry: gateway.changes.head().audit,
    tracing: options.tracing ?? null,
    names,
    version,
    workspace,
    stopping: stop.signal,
    onfailure,
  };
  const mcp = new McpRoute(service, options.mcp);
  let application: LazyApplication;
  const server = await listening(options, (request, response) => {
    if (mcp.matches(request)) void mcp.answer(request, response);
    else application.answer(request, response);
  });
  application = new LazyApplication(service, options.pageFolder);
  server.on("error", onfailure);
  server.on("upgrade", (request, socket, head) => void application.upgrade(request, socket, head));
  // The export of traces begins with the first command, not with the first request.
  if (service.tracing) await application.load();
  const { port } = server.address() as AddressInfo;
  return {
    loaded: application.loaded,
    url: `${options.tls ? "https" : "http"}://${publicName(options)}:${port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      stop.abort();
      await Promise.all([application.close(), mcp.close()]);
      // Foreground commands are detached, not stopped: their responses report them as running.
      await gateway.close();
      const late = setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT_MS);
      server.closeIdleConnections();
      await closed;
      clearTimeout(late);
    },
  };
}

async function listening(
  { tls, host, port, maxConnections }: ServeOptions,
  listener: RequestListener,
): Promise<Server> {
  const server = tls ? await secureServer(tls, listener) : createServer(listener);
  limitSockets(server, maxConnections ?? MAX_CONNECTIONS);
  await new Promise<void>((resolve, reject) => {
    const failed = (error: Error) => reject(cannotListen(`${bracketed(host)}:${port}`, error));
    server.once("error", failed);
    server.listen(port, host, () => {
      server.off("error", failed);
      resolve();
    });
  });
  return server;
}

async function secureServer(tls: NonNullable<ServeOptions["tls"]>, listener: RequestListener): Promise<Server> {
  const { createServer: createSecureServer } = await import("node:https");
  try {
    return createSecureServer(tls, listener);
  } catch (error) {
    throw unusableCertificate(error as Error);
  }
}

/** Returns a host name for the URL; a wildcard address is not usable as one. */
function publicName({ host, names }: ServeOptions): string {
  return host === "0.0.0.0" || host === "::" ? (names[0] ?? "localhost") : bracketed(host);
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
