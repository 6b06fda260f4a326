import * as z from "zod";
import { type Operation, operation, READERS } from "../operation.ts";
import { count } from "../schemas.ts";
import type { Service } from "../service.ts";

/** The looks at a machine start programs: those who ask within this time share them. */
const REPORT_CACHE_MS = 10_000;

const Finding = z.object({
  name: z.string(),
  status: z.enum(["ok", "warn", "fail"]),
  message: z.string(),
  fix: z.string().nullable(),
});

const Item = z.object({
  id: z.int(),
  key: z.string(),
  type: z.string(),
  priority: z.enum(["HIGH", "NORMAL", "LOW"]),
  payload: z.looseObject({}),
  state: z.enum(["pending", "claimed", "done"]),
  createdAt: z.string(),
  dueAt: z.string(),
  attempts: z.int(),
  worker: z.string().nullable(),
  note: z.string().nullable(),
  doneAt: z.string().nullable(),
});

const Agent = z.object({ name: z.string(), running: z.int(), total: z.int(), lastSeenAt: z.string() });

export const overviewOperations: readonly Operation[] = [
  operation({
    method: "GET",
    path: "/v1/work",
    id: "listWork",
    summary: "What waits to be done, such as exit callbacks",
    roles: READERS,
    query: z.strictObject({
      state: z.enum(["open", "pending", "claimed", "done", "all"]).optional(),
      limit: count(1000).optional(),
    }),
    response: z.object({ items: z.array(Item) }),
    handle: ({ gateway, query: { state = "open", limit = 100 } }) => ({ items: gateway.work.list({ state, limit }) }),
  }),
  operation({
    method: "GET",
    path: "/v1/agents",
    id: "listAgents",
    summary: "The agents that have sessions",
    roles: READERS,
    response: z.object({ agents: z.array(Agent) }),
    handle: ({ gateway }) => ({ agents: gateway.agents() }),
  }),
  operation({
    method: "GET",
    path: "/v1/machine",
    id: "machine",
    summary: "Whether this machine can do what Sallyport promises, as `sallyport doctor` finds",
    roles: READERS,
    response: z.object({ ok: z.boolean(), findings: z.array(Finding) }),
    handle: ({ service }) => machineReport(service),
  }),
];

const looks = new WeakMap<Service, { atMs: number; report: Promise<unknown> }>();

function machineReport(service: Service): Promise<unknown> {
  const nowMs = performance.now();
  let look = looks.get(service);
  if (!look || nowMs - look.atMs > REPORT_CACHE_MS) {
    look = { atMs: nowMs, report: examine(service) };
    looks.set(service, look);
    look.report.catch(() => looks.delete(service));
  }
  return look.report;
}

async function examine({ gateway }: Service): Promise<unknown> {
  const { runChecks } = await import("../../doctor/run-checks.ts");
  return runChecks({ state: gateway.state });
}
