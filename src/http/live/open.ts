import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import * as z from "zod";
import { notReady } from "../errors.ts";
import { ConnectionLimiter } from "../guard/limiters.ts";
import { HEALTH } from "../health.ts";
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

/** Returns the health checks for monitoring. They require no sign-in and reveal only the health of the service. */
function healthOperations(service: Service): Operation[] {
  return [
    operation({
      method: "GET",
      path: "/healthz",
      id: HEALTH["/healthz"].id,
      summary: "Check that the service is running",
      roles: "anyone",
      anyHost: true,
      response: z.object({ status: z.literal("ok") }),
      handle: HEALTH["/healthz"].check,
    }),
    operation({
      method: "GET",
      path: "/readyz",
      id: HEALTH["/readyz"].id,
      summary: "Check that the service can accept requests",
      roles: "anyone",
      anyHost: true,
      response: z.object({ status: z.literal("ready") }),
      handle: () => {
        const result = HEALTH["/readyz"].check(service);
        if (result === null) throw notReady();
        return result;
      },
    }),
  ];
}

/** Event streams and terminals. */
export interface Live {
  /** Operations whose responses may be streams. Streams end when `service.stopping` aborts. */
  operations: readonly Operation[];
  /** Handles a WebSocket upgrade. Returns false when the path is not a terminal. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /** Closes everything that is open. Called after the service has stopped accepting connections. */
  close(): Promise<void>;
}

/** Limits for event and log streams. A tab of the console has one or two open. */
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
