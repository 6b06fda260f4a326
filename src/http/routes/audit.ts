import * as z from "zod";
import type { AuditFilter } from "../../core/audit.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import type { ChainReport } from "../../storage/audit-chain.ts";
import { type Operation, operation, READERS, READERS_AND_AGENT } from "../operation.ts";
import { count, shortText, time } from "../schemas.ts";
import { attachment, streamResponse } from "../stream-response.ts";

const MAX_LISTED = 1000;

const Entry = z
  .object({
    seq: z.int(),
    at: z.string(),
    kind: z.string(),
    agent: z.string(),
    session: z.string().nullable(),
    actor: z.string(),
    channel: z.string(),
    outcome: z.string(),
    summary: z.string(),
    detail: z.looseObject({}),
    hash: z.string(),
  })
  .meta({ id: "AuditEntry" });

const filter = {
  q: shortText().optional().describe("Occurs in the summary or the detail"),
  kind: shortText(64).optional(),
  outcome: shortText(64).optional(),
  agent: shortText(128).optional(),
  session: shortText(64).optional(),
  since: time().optional(),
  until: time().optional(),
};

/** A walk through the whole chain is long: those who ask meanwhile share it. */
const verifications = new WeakMap<object, Promise<ChainReport>>();

export const auditOperations: readonly Operation[] = [
  operation({
    method: "GET",
    path: "/v1/audit",
    id: "searchAudit",
    summary: "What was asked, decided and done; the newest first",
    roles: READERS_AND_AGENT,
    query: z.strictObject({ ...filter, before: count().optional(), limit: count(MAX_LISTED).optional() }),
    response: z.object({ entries: z.array(Entry), next: z.int().nullable() }),
    handle: ({ gateway, caller, query: { before, limit = 100, ...rest } }) => {
      const wanted = filterOf(rest);
      if (caller.agent !== null) {
        if (wanted.agent !== undefined && wanted.agent !== caller.agent) return { entries: [], next: null };
        wanted.agent = caller.agent;
      }
      const entries = gateway.audit.search({ ...wanted, limit, ...(before === undefined ? {} : { before }) });
      const last = entries.at(-1)?.seq ?? 1;
      return { entries, next: entries.length === limit && last > 1 ? last : null };
    },
  }),
  operation({
    method: "GET",
    path: "/v1/audit/verify",
    id: "verifyAudit",
    summary: "Whether every entry is as it was written, and where not",
    roles: READERS,
    response: z.object({
      entries: z.int(),
      head: z.object({ seq: z.int(), hash: z.string() }),
      broken: z.object({ seq: z.int(), why: z.string() }).nullable(),
    }),
    handle: ({ service }) => verifyOnce(service.gateway),
  }),
  operation({
    method: "GET",
    path: "/v1/audit/export",
    id: "exportAudit",
    summary: "Every entry that matches, oldest first",
    roles: READERS,
    query: z.strictObject(filter),
    response: { media: "application/x-ndjson", description: "One entry as JSON a line" },
    handle: ({ gateway, query }) =>
      streamResponse(gateway.audit.export(filterOf(query)), attachment("audit.ndjson", "application/x-ndjson")),
  }),
];

function verifyOnce(gateway: Gateway): Promise<ChainReport> {
  let walk = verifications.get(gateway);
  if (!walk) {
    walk = gateway.audit.verifyInBatches().finally(() => verifications.delete(gateway));
    verifications.set(gateway, walk);
  }
  return walk;
}

interface Asked extends Omit<AuditFilter, "text"> {
  q?: string | undefined;
}

function filterOf({ q, ...rest }: Asked): AuditFilter {
  return { ...rest, ...(q ? { text: q } : {}) };
}
