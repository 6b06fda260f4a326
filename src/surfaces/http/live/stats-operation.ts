import * as z from "zod";
import { type Operation, operation, READERS_AND_AGENT } from "../operation.ts";
import type { Stats } from "./stats.ts";

export const StatsShape = z
  .object({
    atMs: z.number(),
    running: z.int().describe("Sessions with living processes"),
    pending: z.int().describe("Approvals that wait for a person"),
    sessions: z.array(
      z.object({
        id: z.string(),
        cpuPercent: z.number().describe("Of one processor, since the last look or else since it started"),
        memoryBytes: z.int(),
        processes: z.int(),
        ioReadBytes: z.int(),
        ioWriteBytes: z.int(),
      }),
    ),
  })
  .meta({ id: "Stats" });

export function statsOperation(stats: Stats): Operation {
  return operation({
    method: "GET",
    path: "/v1/stats",
    id: "stats",
    summary: "What runs now, and what it uses",
    roles: READERS_AND_AGENT,
    answer: StatsShape,
    handle: ({ caller }) => stats.now(caller.agent),
  });
}
