import type { IncomingMessage } from "node:http";

/** Headers that decide who a caller is and how a request is read. Node keeps only one of several with the same name. */
const SINGLE = new Set([
  "host",
  "authorization",
  "origin",
  "content-type",
  "content-length",
  "mcp-session-id",
  "sec-fetch-site",
  "x-sallyport-key",
]);

/**
 * Returns the name of a header that must not be repeated but is; null if there is none. A proxy and this server could
 * otherwise act on different values.
 */
export function repeatedHeader({ rawHeaders }: Pick<IncomingMessage, "rawHeaders">): string | null {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    if (!SINGLE.has(name)) continue;
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return null;
}
