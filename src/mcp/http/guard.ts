import type { IncomingMessage, ServerResponse } from "node:http";
import { validateHostHeader, validateOriginHeader } from "@modelcontextprotocol/server";
import type { Token } from "../../storage/tokens.ts";
import { refuse } from "./reply.ts";

export interface GuardOptions {
  /** Names under which this server may be called, without ports. */
  hosts: string[];
  verify(secret: string): Token | null;
}

/**
 * Who is calling, or null when that has been answered with a refusal. The names are checked first: a web page that has
 * its own name resolve to this machine (DNS rebinding) must not even learn whether a token is good.
 */
export function whoCalls(request: IncomingMessage, response: ServerResponse, options: GuardOptions): Token | null {
  const host = validateHostHeader(request.headers.host, options.hosts);
  const origin = validateOriginHeader(request.headers.origin, options.hosts);
  if (!host.ok || !origin.ok) {
    refuse(response, 403, "This server is not called by that name; --allow-host adds one.");
    return null;
  }
  const [, secret] = /^Bearer +(\S{1,512}) *$/i.exec(request.headers.authorization ?? "") ?? [];
  const token = secret === undefined ? null : options.verify(secret);
  if (token?.role === "agent") return token;
  const message = "A token is needed: Authorization: Bearer … (`sallyport token create NAME` makes one).";
  const error = secret === undefined ? "" : ', error="invalid_token"';
  refuse(response, 401, message, { headers: { "www-authenticate": `Bearer realm="sallyport"${error}` } });
  return null;
}
