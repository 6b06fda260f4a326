import type { IncomingMessage } from "node:http";
import { repeatedHeader } from "../../mcp/http/repeated-header.ts";
import { type HttpError, repeatedHeaderError, wrongHost, wrongOrigin } from "../errors.ts";

/**
 * Checks the headers of a request, its `Host` and its `Origin`. Returns the error to respond with, or null when both are accepted.
 *
 * Checking `Host` stops pages whose host name resolves to this machine (DNS rebinding). Checking `Origin` and
 * `Sec-Fetch-Site`, which no script can set, stops pages from other origins. The port must also match,
 * because an agent's server may listen on another port (invariant 7).
 */
export function checkRequest(request: IncomingMessage, names: readonly string[]): HttpError | null {
  const { headers } = request;
  const { host, origin } = headers;
  const repeated = repeatedHeader(request);
  if (repeated !== null) return repeatedHeaderError(repeated);
  const name = hostname(host);
  if (name === null || !names.includes(name)) return wrongHost();
  // A URL with a host name takes precedence over the header (RFC 9112), so a proxy may have checked that one.
  const [, authority] = /^[a-z]+:\/\/([^/?#]*)/i.exec(request.url ?? "") ?? [];
  if (authority !== undefined && authority.toLowerCase() !== host?.toLowerCase()) return wrongHost();
  if (origin !== undefined && hostOf(origin) !== host?.toLowerCase()) return wrongOrigin();
  const site = headers["sec-fetch-site"];
  return site === undefined || site === "same-origin" || site === "none" ? null : wrongOrigin();
}

/** Reports whether the console sent the request. Browsers send one of the two headers with every change. */
export function isFromOwnPage({ headers }: IncomingMessage): boolean {
  return headers.origin === undefined ? headers["sec-fetch-site"] === "same-origin" : true;
}

/** Returns the host name without the port; null when the header is missing or malformed. */
function hostname(host: string | undefined): string | null {
  const [, name] = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/i.exec(host ?? "") ?? [];
  return name?.toLowerCase() ?? null;
}

function hostOf(origin: string): string | null {
  const [, host] = /^https?:\/\/([^/?#@\s]+)$/i.exec(origin) ?? [];
  return host?.toLowerCase() ?? null;
}
