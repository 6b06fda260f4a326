import type { IncomingMessage } from "node:http";
import type { Gateway } from "../../gateway/gateway.ts";
import { markAuthenticated } from "../../mcp/http/sockets.ts";
import type { TokenRole } from "../../storage/tokens.ts";
import { notPermitted, notReady, notSignedIn, wrongOrigin } from "../errors.ts";
import type { Service } from "../service.ts";
import type { Caller } from "./caller.ts";
import { checkRequest, isFromOwnPage } from "./origin.ts";
import { assertFromPerson, isPerson } from "./peer.ts";
import { reportWrongSecret } from "./wrong-secret.ts";

/** The header with the console's key. */
export const KEY_HEADER = "x-sallyport-key";
/** The query parameter with a one-time ticket, for event streams and downloads, which cannot send headers. */
export const TICKET_QUERY = "ticket";
/** The WebSocket subprotocol that the server selects. The client offers the key as another one. */
export const SOCKET_PROTOCOL = "sallyport";

const SECRET = /^[\w-]{43}$/;
const BEARER = /^Bearer +(\S{1,512}) *$/i;

/** Returns the caller, or null without valid credentials. A token takes precedence over a key, and a key over a ticket. */
function identifyCaller(service: Service, request: IncomingMessage): Caller | null {
  const { authorization } = request.headers;
  if (authorization !== undefined) return byToken(service, BEARER.exec(authorization)?.[1]);
  const key = keyOf(request);
  return key === null ? byTicket(service, request) : byKey(service, key);
}

function byToken({ tokens }: Service, secret: string | undefined): Caller | null {
  const token = secret === undefined ? null : tokens.verify(secret);
  if (!token) return null;
  const { id, name, role, agent, expiresAt } = token;
  return {
    name,
    role,
    agent: role === "agent" ? agent : null,
    channel: "http",
    expiresAt,
    signIn: null,
    isGood: () => tokens.isGood(id),
  };
}

function byKey({ signIns }: Service, key: string): Caller | null {
  const found = signIns.verify(key);
  if (!found) return null;
  const { id, name, role, agent, expiresAt } = found;
  return {
    name,
    role,
    agent: role === "agent" ? agent : null,
    channel: "console",
    expiresAt,
    signIn: id,
    isGood: () => signIns.isGood(id),
  };
}

function byTicket({ tickets }: Service, { method, url = "" }: IncomingMessage): Caller | null {
  const start = url.indexOf("?");
  const ticket = start < 0 ? null : new URLSearchParams(url.slice(start)).get(TICKET_QUERY);
  return ticket === null || method !== "GET" ? null : tickets.redeem(ticket, url.slice(0, start));
}

function keyOf({ headers }: IncomingMessage): string | null {
  const given = headers[KEY_HEADER] ?? protocolKey(headers["sec-websocket-protocol"]);
  return typeof given === "string" && SECRET.test(given) ? given : null;
}

function protocolKey(protocols: string | undefined): string | undefined {
  return protocols
    ?.split(",")
    .map((each) => each.trim())
    .find((each) => SECRET.test(each));
}

/** Counts a wrong token. Returns the error, which tells the caller to wait after too many of them. */
function wrongToken(service: Service, request: IncomingMessage): Error {
  const refused = reportWrongSecret(service, request);
  return refused.status === 429 ? refused : notSignedIn();
}

/** Operations on sessions do not wait for approval: the caller repeats the request. */
const APPROVAL_TIMEOUT_MS = 0;

/** Returns the gateway for a caller. An agent only sees its own sessions; actions of a person are recorded by name. */
export function gatewayOf({ gateway }: Service, { agent, name, channel }: Caller, onBehalfOf?: string): Gateway {
  if (agent !== null) return gateway.acting({ agent, channel, approvalTimeoutMs: APPROVAL_TIMEOUT_MS });
  return gateway.acting({
    ...(onBehalfOf ? { agent: onBehalfOf } : {}),
    person: name,
    channel,
    approvalTimeoutMs: APPROVAL_TIMEOUT_MS,
  });
}

/**
 * Authenticates and authorizes a request; throws the error to respond with. The origin is checked first, so that
 * another website cannot learn whether the browser is signed in.
 *
 * `changes` is true for requests that change something, and for WebSockets, which browsers let any page open. With the
 * key of a sign-in, only the console itself may send such requests.
 */
export function admit(
  service: Service,
  request: IncomingMessage,
  roles: readonly TokenRole[],
  changes: boolean,
): Caller {
  const wrong = checkRequest(request, service.names);
  if (wrong) throw wrong;
  // The request arrived on a kept-alive connection. The client retries it against the next instance.
  if (service.stopping.aborted) throw notReady();
  const caller = identifyCaller(service, request);
  if (!caller) throw request.headers.authorization === undefined ? notSignedIn() : wrongToken(service, request);
  markAuthenticated(request);
  if (changes && caller.channel === "console" && !isFromOwnPage(request)) throw wrongOrigin();
  if (!roles.includes(caller.role)) throw notPermitted(caller.role, roles);
  if (changes && isPerson(caller.role)) caller.peer = assertFromPerson(service, request, caller);
  return caller;
}
