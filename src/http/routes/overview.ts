import * as z from "zod";
import { type Operation, operation, READERS } from "../operation.ts";
import { count } from "../schemas.ts";
import type { Service } from "../service.ts";

/** How long a report is reused. The checks start programs, so they do not run for every request. */
const REPORT_CACHE_MS = 10_000;

const Finding = z.object({
  name: z.string().describe("Name of the check"),
  status: z.enum(["ok", "warn", "fail"]).describe("Result of the check"),
  message: z.string().describe("Details of the result"),
  fix: z.string().nullable().describe("How to fix a warning or failure"),
});

const Item = z.object({
  id: z.int().describe("Work item ID"),
  key: z.string().describe("Idempotency key"),
  type: z.string().describe("Type of the work item"),
  priority: z.enum(["HIGH", "NORMAL", "LOW"]).describe("Priority"),
  payload: z.looseObject({}).describe("Data of the work item"),
  state: z.enum(["pending", "claimed", "done"]).describe("State"),
  createdAt: z.string().describe("When the item was created (ISO 8601)"),
  dueAt: z.string().describe("When the item can be claimed or, if it is claimed, when the lease expires (ISO 8601)"),
  attempts: z.int().describe("Number of times the item was claimed"),
  worker: z.string().nullable().describe("Consumer that last claimed the item"),
  note: z.string().nullable().describe("Why the item was last returned to the queue"),
  doneAt: z.string().nullable().describe("When the item was completed (ISO 8601)"),
});

const Agent = z.object({
  name: z.string().describe("Agent name"),
  running: z.int().describe("Number of running sessions"),
  total: z.int().describe("Number of all sessions"),
  lastSeenAt: z.string().describe("When the agent last started a session (ISO 8601)"),
});

export const overviewOperations: readonly Operation[] = [
  operation({
    method: "GET",
    path: "/v1/work",
    id: "listWork",
    summary: "List work items",
    roles: READERS,
    query: z.strictObject({
      state: z
        .enum(["open", "pending", "claimed", "done", "all"])
        .optional()
        .describe("Only items in this state; `open` is pending or claimed (default: open)"),
      limit: count(1000).optional().describe("Maximum number of items (default: 100)"),
    }),
    response: z.object({ items: z.array(Item).describe("Matching work items") }),
    handle: ({ gateway, query: { state = "open", limit = 100 } }) => ({ items: gateway.work.list({ state, limit }) }),
  }),
  operation({
    method: "GET",
    path: "/v1/agents",
    id: "listAgents",
    summary: "List agents that have sessions",
    roles: READERS,
    response: z.object({ agents: z.array(Agent).describe("Agents") }),
    handle: ({ gateway }) => ({ agents: gateway.agents() }),
  }),
  operation({
    method: "GET",
    path: "/v1/machine",
    id: "machine",
    summary: "Check this host, like `sallyport doctor`",
    roles: READERS,
    response: z.object({
      ok: z.boolean().describe("Whether no check failed"),
      findings: z.array(Finding).describe("Results of all checks"),
    }),
    handle: ({ service }) => machineReport(service),
  }),
];

const reports = new WeakMap<Service, { atMs: number; report: Promise<unknown> }>();

function machineReport(service: Service): Promise<unknown> {
  const nowMs = performance.now();
  let cached = reports.get(service);
  if (!cached || nowMs - cached.atMs > REPORT_CACHE_MS) {
    cached = { atMs: nowMs, report: examine(service) };
    reports.set(service, cached);
    cached.report.catch(() => reports.delete(service));
  }
  return cached.report;
}

async function examine({ gateway }: Service): Promise<unknown> {
  const { runChecks } = await import("../../doctor/run-checks.ts");
  return runChecks({ state: gateway.state });
}
