import * as z from "zod";
import type { AuditFilter } from "../../core/audit.ts";
import { agentFilter } from "../../core/names.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import type { ChainReport } from "../../storage/audit-chain.ts";
import { type Operation, operation, READERS, READERS_AND_AGENT } from "../operation.ts";
import { count, shortText, time } from "../schemas.ts";
import { attachment, streamResponse } from "../stream-response.ts";

const MAX_LISTED = 1000;

const Entry = z
  .object({
    seq: z.int().describe("Sequence number, from 1"),
    at: z.string().describe("Time of the entry (ISO 8601)"),
    kind: z.string().describe("Kind of event, such as `run` or `approval`"),
    agent: z.string().describe("Agent concerned; empty if none"),
    session: z.string().nullable().describe("ID of the session concerned"),
    actor: z.string().describe("Person, agent or component that acted"),
    channel: z.string().describe("Where the action came from, such as `cli` or `mcp`"),
    outcome: z.string().describe("Outcome of the event"),
    summary: z.string().describe("One-line description, usually the command"),
    detail: z.looseObject({}).describe("Details, depending on the kind"),
    hash: z.string().describe("SHA-256 hash of this entry together with the hash of the previous entry"),
  })
  .meta({ id: "AuditEntry" });

const filter = {
  q: shortText().optional().describe("Text to find in the summary or the details"),
  kind: shortText(64).optional().describe("Only entries of this kind"),
  outcome: shortText(64).optional().describe("Only entries with this outcome"),
  agent: shortText(128).optional().describe("Only entries of this agent"),
  session: shortText(64).optional().describe("Only entries of this session"),
  since: time().optional().describe("Only entries at or after this time (ISO 8601, or milliseconds since the epoch)"),
  until: time().optional().describe("Only entries before this time (ISO 8601, or milliseconds since the epoch)"),
};

/** Verifications in progress. Verifying the whole log takes a long time, so concurrent requests share one. */
const verifications = new WeakMap<object, Promise<ChainReport>>();

export const auditOperations: readonly Operation[] = [
  operation({
    method: "GET",
    path: "/v1/audit",
    id: "searchAudit",
    summary: "Search the audit log, newest first",
    roles: READERS_AND_AGENT,
    query: z.strictObject({
      ...filter,
      before: count().optional().describe("Only entries with a smaller sequence number"),
      limit: count(MAX_LISTED).optional().describe("Maximum number of entries (default: 100)"),
    }),
    response: z.object({
      entries: z.array(Entry).describe("Matching entries"),
      next: z.int().nullable().describe("Value of `before` for the next page; null at the end"),
    }),
    handle: ({ gateway, caller, query: { before, limit = 100, ...rest } }) => {
      const wanted = filterOf(rest);
      if (caller.agent !== null) {
        if (wanted.agent !== undefined && agentFilter(wanted.agent) !== caller.agent)
          return { entries: [], next: null };
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
    summary: "Verify the integrity of the audit log",
    roles: READERS,
    response: z.object({
      entries: z.int().describe("Number of intact entries"),
      head: z
        .object({
          seq: z.int().describe("Sequence number of the last intact entry"),
          hash: z.string().describe("Hash of the last intact entry"),
        })
        .describe("Last intact entry; save it elsewhere to detect truncation later"),
      broken: z
        .object({
          seq: z.int().describe("Sequence number of the first entry that failed"),
          why: z.string().describe("Why it failed"),
        })
        .nullable()
        .describe("First entry that failed verification; null if all are intact"),
    }),
    handle: ({ service }) => verifyOnce(service.gateway),
  }),
  operation({
    method: "GET",
    path: "/v1/audit/export",
    id: "exportAudit",
    summary: "Export the audit log, oldest entry first",
    roles: READERS,
    query: z.strictObject(filter),
    response: { media: "application/x-ndjson", description: "One entry per line, as JSON" },
    handle: ({ gateway, query }) =>
      streamResponse(gateway.audit.export(filterOf(query)), attachment("audit.ndjson", "application/x-ndjson")),
  }),
];

function verifyOnce(gateway: Gateway): Promise<ChainReport> {
  let verification = verifications.get(gateway);
  if (!verification) {
    verification = gateway.audit.verifyInBatches().finally(() => verifications.delete(gateway));
    verifications.set(gateway, verification);
  }
  return verification;
}

interface Asked extends Omit<AuditFilter, "text"> {
  q?: string | undefined;
}

function filterOf({ q, ...rest }: Asked): AuditFilter {
  return { ...rest, ...(q ? { text: q } : {}) };
}
