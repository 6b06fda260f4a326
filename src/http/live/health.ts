import * as z from "zod";
import { notReady } from "../errors.ts";
import { type Operation, operation } from "../operation.ts";
import type { Service } from "../service.ts";

/** For whoever watches over the service itself. They tell nothing else, to anyone. */
export function healthOperations({ gateway, stopping }: Service): Operation[] {
  return [
    operation({
      method: "GET",
      path: "/healthz",
      id: "health",
      summary: "The service lives: it answers at all",
      roles: "anyone",
      anyHost: true,
      answer: z.object({ status: z.literal("ok") }),
      handle: () => ({ status: "ok" }),
    }),
    operation({
      method: "GET",
      path: "/readyz",
      id: "ready",
      summary: "The service can take requests: its database answers and it is not stopping",
      roles: "anyone",
      anyHost: true,
      answer: z.object({ status: z.literal("ready") }),
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
