import type { AuditEntry } from "../core/audit.ts";
import { idTime } from "../core/id.ts";
import { agentOrNull } from "../core/names.ts";
import type { ExitRecord } from "../executor/execution.ts";
import type { UnknownSession } from "../executor/executor.ts";
import type { AuditLog } from "../storage/audit.ts";
import type { SessionRow } from "../storage/sessions.ts";
import { counted } from "../text/format.ts";
import { lostOutputWarnings } from "./outcome.ts";
import type { Registry } from "./registry.ts";

/** How long before the last known activity a session may have ended whose output is checked. */
const CHECKED_MS = 3600 * 1000;
const MOST_CHECKED = 1000;
/** The maximum number of session IDs in an audit entry. */
const MOST_LISTED = 1000;
/** The agent and command of a session of which only the ID is known. */
const UNKNOWN = "unknown";

/**
 * Makes the records consistent after a restart of the machine. If it had lost power, the last writes may be missing:
 * sessions without a row are recorded again, from what their keeper has stored; sessions that ran have ended; output is
 * cut at its last true byte; and the audit log says where entries may be missing (invariant 4). `unclosed` is the number
 * of gateways that were open. Called in a transaction, before any command starts.
 */
export function recoverAfterRestart(registry: Registry, audit: AuditLog, unclosed: number): void {
  const { executor, store } = registry;
  if (executor.abilities.remote) return; // the sessions run on other machines
  const last = audit.tail(1)[0] ?? null;
  // A session that was removed has entries in the audit log. Its folder is removed later.
  const isKnown = (id: string) => store.get(id) !== null || audit.search({ session: id, limit: 1 }).length > 0;
  const unknown = executor.unknownSessions(isKnown);
  if (unclosed > 0 || unknown.length > 0) audit.append(gapEntry(last, unclosed, unknown));
  for (const session of unknown) adopt(registry, session);
  for (const row of store.live()) end(registry, row);
  const lastMs = last === null ? Date.now() : Date.parse(last.at);
  for (const row of store.endedSince(lastMs - CHECKED_MS, MOST_CHECKED)) repair(registry, row);
}

function gapEntry(
  last: AuditEntry | null,
  unclosed: number,
  unknown: UnknownSession[],
): Parameters<AuditLog["append"]>[0] {
  const after = last?.seq ?? 0;
  const open = `the machine stopped while ${counted(unclosed, "gateway was", "gateways were")} open`;
  const found = `${counted(unknown.length, "session was", "sessions were")} found without a record`;
  const why = [...(unclosed > 0 ? [open] : []), ...(unknown.length > 0 ? [found] : [])].join(", and ");
  return {
    kind: "gap",
    agent: "sallyport",
    session: null,
    actor: "sallyport",
    channel: "gateway",
    outcome: unknown.length > 0 ? "lost" : "uncertain",
    summary: `entries after ${after} ${unknown.length > 0 ? "are" : "may be"} missing: ${why}`,
    detail: {
      after,
      lastAt: last?.at ?? null,
      gateways: unclosed,
      sessions: unknown.slice(0, MOST_LISTED).map(({ id }) => id),
    },
  };
}

/** Inserts the row of a session as it was before the command started. Its end is then found as for any other session. */
function adopt({ store }: Registry, { id, label, record }: UnknownSession): void {
  const row = {
    id,
    agent: agentOrNull(label?.agent ?? UNKNOWN) ?? UNKNOWN,
    command: label?.command ?? UNKNOWN,
    args: null,
    cwd: label?.cwd ?? "/",
    env_names: "[]",
    background: label?.background ? 1 : 0,
    capture: label?.capture ?? (record?.streams.length === 1 ? ("merged" as const) : ("apart" as const)),
    intent: null,
    log_file: null,
    timeout_ms: 0,
    keeper_pid: 0,
    created_ms: label?.createdMs ?? (record ? Math.round(record.startedUs / 1000) : idTime(id)),
    sandbox: null,
    warnings: JSON.stringify([
      "the record of this session was lost when the machine stopped, and was restored in part",
    ]),
    limits: null,
  };
  if (!store.insert({ ...row, name: label?.name || id })) store.insert({ ...row, name: id });
}

/** No keeper has survived, so a session without an exit record is lost, at an unknown time. */
function end(registry: Registry, row: SessionRow): void {
  if (row.host !== null) return;
  const record = registry.executor.repairOutput(row, null);
  registry.settle(row.id, record === null ? "lost" : { ...record, final: true });
}

/** Corrects the record of a session that had ended, if output of it is missing. */
function repair({ executor, store }: Registry, row: SessionRow): void {
  const before = JSON.parse(row.record ?? "null") as ExitRecord;
  const record = executor.repairOutput(row, before);
  if (record === null || lostBytes(record) === lostBytes(before)) return;
  const warnings = [...(JSON.parse(row.warnings) as string[]), ...lostOutputWarnings(row, record)];
  store.setRecord(row.id, JSON.stringify({ ...before, streams: record.streams }), JSON.stringify(warnings));
}

function lostBytes({ streams }: ExitRecord): number {
  return streams.reduce((sum, { lost }) => sum + lost, 0);
}
