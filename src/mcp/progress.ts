import type { ServerContext } from "@modelcontextprotocol/server";
import { progressLine } from "./progress-line.ts";

/** Often enough to show that something is going on, and to keep a client from giving up. */
const EVERY_MS = 1000;

export interface Progress {
  report(news: { lastLine: string }): void;
  stop(): void;
}

/** Tells a client that asked for it how long its call has been going on, and the last line that was written. */
export function tellProgress({ mcpReq }: ServerContext): Progress | null {
  const token = mcpReq._meta?.progressToken;
  if (token === undefined) return null;
  const from = performance.now();
  let last = "";
  // A client that reads slowly is not sent more than it can take.
  let sending = false;
  const timer = setInterval(() => {
    if (sending || mcpReq.signal.aborted) return;
    sending = true;
    const elapsedMs = performance.now() - from;
    const params = { progressToken: token, progress: elapsedMs / 1000, message: progressLine(elapsedMs, last) };
    mcpReq
      .notify({ method: "notifications/progress", params })
      .catch(() => {})
      .finally(() => {
        sending = false;
      });
  }, EVERY_MS);
  return {
    report({ lastLine }) {
      last = lastLine;
    },
    stop: () => clearInterval(timer),
  };
}
