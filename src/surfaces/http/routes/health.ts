import * as z from "zod";
import { notReady } from "../../../present/http-errors.ts";
import { type Operation, operation } from "../operation.ts";

const Fine = z.object({ ok: z.literal(true) });

/** For what watches over services. They tell nothing else, so that they need no token and answer to any name. */
export const healthOperations: readonly Operation[] = [
  operation({
    method: "GET",
    path: "/healthz",
    id: "health",
    summary: "The service lives",
    roles: "anyone",
    anyHost: true,
    answer: Fine,
    handle: () => ({ ok: true }),
  }),
  operation({
    method: "GET",
    path: "/readyz",
    id: "ready",
    summary: "The service takes requests: it is not stopping, and its database answers",
    roles: "anyone",
    anyHost: true,
    answer: Fine,
    handle: ({ service }) => {
      if (service.stopping.aborted) throw notReady();
      service.gateway.count({ live: true });
      return { ok: true };
    },
  }),
];
