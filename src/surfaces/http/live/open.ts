import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Operation } from "../operation.ts";
import type { Service } from "../service.ts";

/** What stays open: event streams and terminals. */
export interface Live {
  /** Answers of these may be streams; they end when `service.stopping` aborts. */
  operations: readonly Operation[];
  /** Takes over a connection that asks for a WebSocket. False: not at this path. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /** Ends what is still open, once nobody new is let in. */
  close(): Promise<void>;
}

export function openLive(_service: Service): Live {
  return { operations: [], upgrade: () => false, close: async () => {} };
}
