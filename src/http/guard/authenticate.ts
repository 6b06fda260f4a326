import type { IncomingMessage } from "node:http";
import type { Gateway } from "../../gateway/gateway.ts";
import type { TokenRole } from "../../storage/tokens.ts";
import { notPermitted, notReady, notSignedIn, wrongOrigin } from "../errors.ts";
import type { Service } from "../service.ts";
import { checkOrigin, isFromOwnPage } from "./origin.ts";

/** Who calls. */
export interface Caller {
  name: string;
  role: TokenRole;
  /** On whose behalf an agent acts; null: a person. */
  agent: string | null;
  /** How they came: signed in to the page, or with a token in the request. */
  channel: "console" | "http";
  expiresAt: string | null;
  /** The sign-in that is behind it; null: a token. */
  signIn: string | null;
  /** Whether it still counts: ask again while a stream is open. */
  isGood(): boolean;
}

export const COOKIE = "sallyport";
/** Where the page shows the half of its secret that is not in the cookie. */
export const KEY_HEADER = "x-sallyport-key";
/** For requests that cannot have headers: event streams and downloads. */
export const KEY_QUERY = "key";
/** A WebSocket shows it as a protocol, next to this one, which is the one to answer with. */
export const SOCKET_PROTOCOL = "sallyport";

const SECRET = /^[\w-]{43}$/;
const BEARER = /^Bearer +(\S{1,512}) *$/i;

/** Whoever the request's secrets belong to; null: nobody's, or no longer good. A token counts before a cookie. */
function identifyCaller(service: Service, request: IncomingMessage): Caller | null {
  const { authorization } = request.headers;
  if (authorization !== undefined) return byToken(service, BEARER.exec(authorization)?.[1]);
  return byCookie(service, request);
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

function byCookie({ signIns }: Service, request: IncomingMessage): Caller | null {
  const cookie = cookieOf(request.headers.cookie);
  const key = keyOf(request);
  const found = cookie && key ? signIns.verify(cookie, key) : null;
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

/**
 * The first cookie of this name that has the form of ours: browsers send cookies to every port of a host, so a server
 * on another port may have set one of the same name.
 */
function cookieOf(header: string | undefined): string | null {
  for (const part of header?.split(";") ?? []) {
    const [name, value = ""] = part.trim().split("=", 2);
    if (name === COOKIE && SECRET.test(value)) return value;
  }
  return null;
}

function keyOf({ headers, url }: IncomingMessage): string | null {
  const given = headers[KEY_HEADER] ?? protocolKey(headers["sec-websocket-protocol"]) ?? queryKey(url);
  return typeof given === "string" && SECRET.test(given) ? given : null;
}

function protocolKey(protocols: string | undefined): string | undefined {
  return protocols
    ?.split(",")
    .map((each) => each.trim())
    .find((each) => SECRET.test(each));
}

function queryKey(url = ""): string | null {
  const start = url.indexOf("?");
  return start < 0 ? null : new URLSearchParams(url.slice(start)).get(KEY_QUERY);
}

/** How long an operation on a session waits for a person's yes: not at all, the caller asks again. */
const APPROVAL_TIMEOUT_MS = 0;

/** The gateway as a caller sees it: an agent its own only, and what a person does is written down under their name. */
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
 * Authenticates and authorizes a request; throws the error to answer with. The origin is checked first: a foreign page
 * must not even learn whether the browser is signed in.
 *
 * `changes`: the request changes something, or stays open to do so (a WebSocket, which browsers let every page open).
 * With a cookie, only the console itself may send those.
 */
export function admit(
  service: Service,
  request: IncomingMessage,
  roles: readonly TokenRole[],
  changes: boolean,
): Caller {
  const wrong = checkOrigin(request, service.names);
  if (wrong) throw wrong;
  // On a kept-alive connection: the client retries against the next service.
  if (service.stopping.aborted) throw notReady();
  const caller = identifyCaller(service, request);
  if (!caller) throw notSignedIn();
  if (changes && caller.channel === "console" && !isFromOwnPage(request)) throw wrongOrigin();
  if (!roles.includes(caller.role)) throw notPermitted(caller.role, roles);
  return caller;
}
