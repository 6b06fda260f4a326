import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import * as z from "zod";
import { notReady } from "../errors.ts";
import { ConnectionLimiter } from "../guard/limiters.ts";
import { type Operation, operation } from "../operation.ts";
import { eventsOperation } from "../routes/events.ts";
import { followOperation } from "../routes/follow.ts";
import type { Service } from "../service.ts";
import { Tracer } from "../tracing/tracer.ts";
import { ChangeFeed } from "./change-feed.ts";
import { Streams } from "./event-stream.ts";
import { metricsOperation } from "./metrics.ts";
import { Stats, statsOperation } from "./stats.ts";
import { Terminals } from "./terminals.ts";

/** For whoever watches over the service itself. They tell nothing else, to anyone. */
function healthOperations({ gateway, stopping }: Service): Operation[] {
  return [
    operation({
      method: "GET",
      path: "/healthz",
      id: "health",
      summary: "The service lives: it answers at all",
      roles: "anyone",
      anyHost: true,
      response: z.object({ status: z.literal("ok") }),
      handle: () => ({ status: "ok" }),
    }),
    operation({
      method: "GET",
      path: "/readyz",
      id: "ready",
      summary: "The service can take requests: its database answers and it is not stopping",
      roles: "anyone",
      anyHost: true,
      response: z.object({ status: z.literal("ready") }),
      handle: () => {
        if (stopping.aborted || !answers(gateway)) throw notReady();
        return { status: "ready" };
      },
    }),
  ];
}

function answers(gateway: Service["gateway"]): boolean {
  try {
    gateway.changes.head();
    return true;
  } catch {
    return false;
  }
}

/** What stays open: event streams and terminals. */
export interface Live {
  /** Answers of these may be streams; they end when `service.stopping` aborts. */
  operations: readonly Operation[];
  /** Takes over a connection that asks for a WebSocket. False: not at this path. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /** Ends what is still open, once nobody new is let in. */
  close(): Promise<void>;
}

/** Event streams and followed logs. A page has one or two open, and a person may have many pages. */
const STREAM_LIMITS = { perCaller: 100, inAll: 2000 };

export function openLive(service: Service): Live {
  const { gateway, tracing, version, onfailure } = service;
  const feed = new ChangeFeed(gateway, onfailure);
  const stats = new Stats(gateway, onfailure);
  const limiter = new ConnectionLimiter(STREAM_LIMITS);
  const streams = new Streams();
  const terminals = new Terminals(service);
  const tracer = tracing && new Tracer(feed, tracing, version, onfailure);
  const metrics = metricsOperation(service, {
    streams: () => streams.count,
    terminals: () => terminals.count,
    cut: () => streams.cut,
    traces: () => tracer?.metrics() ?? [],
  });
  const context = { service, feed, stats, limiter, streams };
  return {
    operations: [
      ...healthOperations(service),
      metrics,
      statsOperation(stats),
      eventsOperation(context),
      followOperation(context),
    ],
    upgrade: (request, socket, head) => terminals.upgrade(request, socket, head),
    close: async () => {
      await terminals.close();
      streams.close();
      await tracer?.close();
      feed.close();
      metrics.stop();
      stats.close();
    },
  };
}
