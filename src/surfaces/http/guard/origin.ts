import type { IncomingMessage } from "node:http";

/**
 * What is wrong with how a request got here; null: nothing.
 *
 * A page that has its own name resolve to this machine (DNS rebinding) is told by the name in `Host`. A page of another
 * origin is told by `Origin` or `Sec-Fetch-Site`, which no script can set. The port counts: cookies and SameSite do not
 * know ports, and a server of an agent may be on the next one (promise 7).
 */
export function wrongWay(request: IncomingMessage, names: readonly string[]): "host" | "origin" | null {
  const { host, origin } = request.headers;
  const name = nameIn(host);
  if (name === null || !names.includes(name)) return "host";
  if (origin !== undefined && hostOf(origin) !== host?.toLowerCase()) return "origin";
  const site = request.headers["sec-fetch-site"];
  return site === undefined || site === "same-origin" || site === "none" ? null : "origin";
}

/** Whether it is certain that our own page sent it. A browser says so with every request that changes something. */
export function isFromOwnPage(request: IncomingMessage): boolean {
  const { origin } = request.headers;
  return origin === undefined ? request.headers["sec-fetch-site"] === "same-origin" : true;
}

/** Without the port; null where there is none or something else as well. */
function nameIn(host: string | undefined): string | null {
  const [, name] = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/i.exec(host ?? "") ?? [];
  return name?.toLowerCase() ?? null;
}

function hostOf(origin: string): string | null {
  const [, host] = /^https?:\/\/([^/?#@\s]+)$/i.exec(origin) ?? [];
  return host?.toLowerCase() ?? null;
}
