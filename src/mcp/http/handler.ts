import type { IncomingMessage, ServerResponse } from "node:http";
import { toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import {
  isJsonContentType,
  isLegacyRequest,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";
import { peerOf } from "../../approval/peer-process.ts";
import type { Token, Tokens } from "../../storage/tokens.ts";
import type { AgentOptions } from "../agent-context.ts";
import { MAX_MESSAGE_BYTES } from "../errors.ts";
import { LARGE_BODY_BYTES, mayBeLargeBody, readBody } from "./body.ts";
import { repeatedHeader } from "./repeated-header.ts";
import { AgentEndpoint, HttpSessions, type SessionLimits, sendError } from "./sessions.ts";
import { markAuthenticated } from "./sockets.ts";

interface GuardOptions {
  /** Accepted host names, without ports. */
  hosts: string[];
  verify(secret: string): Token | null;
  onWrongToken: (request: IncomingMessage) => void;
}

/**
 * Authenticates a request. Returns null after it has responded with an error. The host name is checked first: a web
 * page that uses DNS rebinding must not learn whether a token is valid.
 */
function authenticate(request: IncomingMessage, response: ServerResponse, options: GuardOptions): Token | null {
  const repeated = repeatedHeader(request);
  if (repeated !== null) {
    sendError(response, 400, `The header \`${repeated}\` must not be repeated.`, { headers: { connection: "close" } });
    return null;
  }
  const host = validateHostHeader(request.headers.host, options.hosts);
  const origin = validateOriginHeader(request.headers.origin, options.hosts);
  if (!host.ok || !origin.ok) {
    sendError(
      response,
      403,
      "The Host or Origin header does not name this server. Allow another host name with `--allow-host`.",
    );
    return null;
  }
  const [, secret] = /^Bearer +(\S{1,512}) *$/i.exec(request.headers.authorization ?? "") ?? [];
  const token = secret === undefined ? null : options.verify(secret);
  if (token?.role === "agent") {
    markAuthenticated(request);
    return token;
  }
  if (secret !== undefined && token === null) options.onWrongToken(request);
  const message =
    "A token is required: send `Authorization: Bearer TOKEN`. Create one with `sallyport token create NAME`.";
  const error = secret === undefined ? "" : ', error="invalid_token"';
  sendError(response, 401, message, { headers: { "www-authenticate": `Bearer realm="sallyport"${error}` } });
  return null;
}

/** Reports whether a message contains the answer to a form, with which the host's user decides. */
function answersForm(body: unknown): boolean {
  return [body].flat().some((each) => {
    const { method, params } = (each ?? {}) as { method?: unknown; params?: { inputResponses?: unknown } };
    return typeof each === "object" && (method === undefined || params?.inputResponses !== undefined);
  });
}

export const PATH = "/mcp";
const SWEEP_MS = 2000;

export interface HandlerOptions extends SessionLimits {
  /** Host names to accept in addition to those of the loopback interface. */
  names: readonly string[];
  tokens: Tokens;
  /** Whether a client's user may approve commands. */
  hostMayApprove: boolean;
  agentOptions: Omit<AgentOptions, "agent">;
  /** Limits concurrent large bodies. `acquire` returns the function that releases a slot, or throws. */
  largeBodies?: { acquire(who: Pick<Token, "name" | "agent">): () => void };
  /** Called with a request that has a wrong token. */
  onWrongToken?: (request: IncomingMessage) => void;
  /** Reports an error caused by a client. */
  onerror: (error: Error) => void;
  /** Reports an internal error. */
  onfailure: (error: Error) => void;
}

/** Authenticates HTTP requests and passes them to the agent's endpoint for the client's protocol version. */
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
      onWrongToken: options.onWrongToken ?? (() => {}),
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
      return sendError(response, 404, `Not found. The endpoint is ${PATH}.`);
    }
    if (!["POST", "GET", "DELETE"].includes(request.method ?? "")) {
      return sendError(response, 405, "Method not allowed. Allowed: POST, GET, DELETE.", {
        headers: { allow: "POST, GET, DELETE" },
      });
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

  /** Returns the function that releases the slot of a large body; null after responding that there is no slot. */
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
    if (answersForm(body.value) && !(await this.#isFromHost(request, response, token, endpoint))) return;
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

  /**
   * Reports whether a decision comes from a process outside of all sessions. Otherwise responds with an error: a command
   * that has its agent's token must not approve itself (invariant 7).
   */
  async #isFromHost(
    { socket }: IncomingMessage,
    response: ServerResponse,
    { name, agent }: Token,
    { agentContext }: AgentEndpoint,
  ): Promise<boolean> {
    const peer = peerOf(socket);
    if (peer.kind === "person" || peer.kind === "remote") return true;
    const gateway = await agentContext.gateway();
    const summary = "a command of a session answered an approval form over MCP";
    const entry = { kind: "approval", agent, session: null, actor: name, channel: "mcp-host", outcome: "refused" };
    gateway.audit.append({ ...entry, summary, detail: { peer } });
    sendError(response, 403, "Only a person can decide. A command of a session cannot answer an approval form.");
    return false;
  }

  async #body(request: IncomingMessage, response: ServerResponse): Promise<{ value: unknown; bytes: number } | null> {
    if (!isJsonContentType(request.headers["content-type"])) {
      sendError(response, 415, "Content-Type must be application/json.");
      return null;
    }
    const body = await readBody(request, MAX_MESSAGE_BYTES);
    if ("value" in body) return body;
    const close = { connection: "close" };
    if (body.fault === "too large") {
      sendError(response, 413, `The message is longer than ${MAX_MESSAGE_BYTES} bytes.`, { headers: close });
    } else {
      sendError(response, 400, "Parse error: the body is not valid UTF-8 JSON.", { code: -32700 });
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
