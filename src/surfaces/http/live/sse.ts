/** Server-Sent Events as text. Data is JSON, which has no line ends of its own. */

export const EVENT_STREAM = "text/event-stream";

/** How soon a browser comes back by itself. */
const RETRY_MS = 1000;

/** The first thing on a stream: something at once, so that whoever waits for the headers has them. */
export const OPENING = `retry: ${RETRY_MS}\n\n`;
/** A comment: shows both ends that the other is there. */
export const HEARTBEAT = ":\n\n";

/** Without an id, the position of whoever reads stays where it was. */
export function eventText(type: string, data: unknown, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

export const STREAM_HEADERS: Readonly<Record<string, string>> = {
  "content-type": EVENT_STREAM,
  // Proxies in between are not to collect events, nor to compress them.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};
