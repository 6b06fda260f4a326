import type { IncomingMessage, ServerResponse } from "node:http";
import { toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import {
  isJsonContentType,
  isLegacyRequest,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";
import type { Token, Tokens } from "../../storage/tokens.ts";
import type { AgentOptions } from "../agent-context.ts";
import { MAX_MESSAGE_BYTES } from "../errors.ts";
import { LARGE_BODY_BYTES, mayBeLargeBody, readBody } from "./body.ts";
import { AgentEndpoint, HttpSessions, type SessionLimits, sendError } from "./sessions.ts";

interface GuardOptions {
  /** Names under which this server may be called, without ports. */
  hosts: string[];
  verify(secret: string): Token | null;
}

/**
 * Who is calling, or null when that has been answered with a refusal. The names are checked first: a web page that has
 * its own name resolve to this machine (DNS rebinding) must not even learn whether a token is good.
 */
function authenticate(request: IncomingMessage, response: ServerResponse, options: GuardOptions): Token | null {
  const host = validateHostHeader(request.headers.host, options.hosts);
  const origin = validateOriginHeader(request.headers.origin, options.hosts);
  if (!host.ok || !origin.ok) {
    sendError(response, 403, "This server is not called by that name; --allow-host adds one.");
    return null;
  }
  const [, secret] = /^Bearer +(\S{1,512}) *$/i.exec(request.headers.authorization ?? "") ?? [];
  const token = secret === undefined ? null : options.verify(secret);
  if (token?.role === "agent") return token;
  const message = "A token is needed: Authorization: Bearer … (`sallyport token create NAME` makes one).";
  const error = secret === undefined ? "" : ', error="invalid_token"';
  sendError(response, 401, message, { headers: { "www-authenticate": `Bearer realm="sallyport"${error}` } });
  return null;
}

export const PATH = "/mcp";
const SWEEP_MS = 2000;

export interface HandlerOptions extends SessionLimits {
  /** Names this server is called by besides those of the loopback. */
  names: readonly string[];
  tokens: Tokens;
  /** Whether a client's user may approve commands. */
  hostMayApprove: boolean;
  agentOptions: Omit<AgentOptions, "agent">;
  /** Where not many large bodies may be held at once: gives a place, and how to give it back, or throws why not. */
  largeBodies?: { acquire(who: Pick<Token, "name" | "agent">): () => void };
  /** What clients did wrong. */
  onerror: (error: Error) => void;
  /** What went wrong here. */
  onfailure: (error: Error) => void;
}

/** From a request to whoever answers it: who may call at all, as which agent, in which era of the protocol. */
export class HttpHandler {
  readonly #options: HandlerOptions;
  readonly #endpoints = new Map<string, AgentEndpoint>();
  readonly #sessions: HttpSessions;
  readonly #guard;
  readonly #sweeping: NodeJS.Timeout;

  constructor(options: HandlerOptions) {
    this.#options = options;
    this.#sessions = new HttpSessions(options);
    this.#guard = {
      hosts: ["localhost", "127.0.0.1", "[::1]", ...options.names],
      verify: (secret: string) => options.tokens.verify(secret),
    };
    this.#sweeping = setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#serve(request, response);
    } catch (error) {
      if (!response.destroyed) this.#options.onfailure(error as Error);
      sendError(response, 500, "Internal error", { code: -32603 });
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const token = authenticate(request, response, this.#guard);
    if (!token) return;
    if (new URL(request.url ?? "/", "http://localhost").pathname !== PATH) {
      return sendError(response, 404, `There is only ${PATH} here.`);
    }
    if (!["POST", "GET", "DELETE"].includes(request.method ?? "")) {
      return sendError(response, 405, "POST, GET or DELETE", { headers: { allow: "POST, GET, DELETE" } });
    }
    const release = this.#acquireBody(request, response, token);
    if (!release) return;
    try {
      const body = request.method === "POST" ? await this.#body(request, response) : { value: undefined, bytes: 0 };
      if (!body) return;
      if (body.bytes <= LARGE_BODY_BYTES) release();
      await this.#dispatch(request, response, token, body);
    } finally {
      release();
    }
  }

  /** How to give back the place of a body that may be large; null: there is none, and it was said. */
  #acquireBody(request: IncomingMessage, response: ServerResponse, token: Token): (() => void) | null {
    if (!this.#options.largeBodies || !mayBeLargeBody(request)) return () => {};
    try {
      return this.#options.largeBodies.acquire(token);
    } catch (error) {
      sendError(response, 429, (error as Error).message, { headers: { "retry-after": "1", connection: "close" } });
      return null;
    }
  }

  async #dispatch(request: IncomingMessage, response: ServerResponse, token: Token, body: { value: unknown }) {
    const endpoint = this.#endpoint(token);
    const hostUser = this.#options.hostMayApprove ? `host:${token.name}` : null;
    if (await isLegacyRequest(await toWebRequest(request, body.value ?? null), body.value)) {
      return this.#sessions.serve(request, response, body.value, { token, endpoint, hostUser });
    }
    const auth = { token: "", clientId: hostUser ?? "", scopes: [] };
    await toNodeHandler(endpoint.modern, { onerror: this.#options.onfailure })(
      Object.assign(request, { auth }),
      response,
      body.value,
    );
  }

  async #body(request: IncomingMessage, response: ServerResponse): Promise<{ value: unknown; bytes: number } | null> {
    if (!isJsonContentType(request.headers["content-type"])) {
      sendError(response, 415, "Content-Type must be application/json");
      return null;
    }
    const body = await readBody(request, MAX_MESSAGE_BYTES);
    if ("value" in body) return body;
    const close = { connection: "close" };
    if (body.fault === "too large") {
      sendError(response, 413, `A message may have ${MAX_MESSAGE_BYTES} bytes.`, { headers: close });
    } else {
      sendError(response, 400, "Parse error: it is not JSON in UTF-8", { code: -32700 });
    }
    return null;
  }

  #endpoint({ agent }: Token): AgentEndpoint {
    let endpoint = this.#endpoints.get(agent);
    if (!endpoint) {
      endpoint = new AgentEndpoint({ ...this.#options.agentOptions, agent }, this.#options.onerror);
      this.#endpoints.set(agent, endpoint);
    }
    return endpoint;
  }

  #sweep(): void {
    this.#sessions.sweep((id) => this.#options.tokens.isGood(id));
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping);
    await this.#sessions.close();
    await Promise.all([...this.#endpoints.values()].map((endpoint) => endpoint.close()));
  }
}
