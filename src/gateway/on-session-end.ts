import type { NewAuditEntry } from "../core/audit.ts";
import type { BrokenMasks } from "../core/launch.ts";
import type { RunRequest } from "../core/request.ts";
import type { Status } from "../core/result.ts";
import { type ExitRecord, reportedExitCode } from "../executor/execution.ts";
import type { Executor } from "../executor/executor.ts";
import { execCallback } from "../queue/items.ts";
import { brokenMasksText } from "../sandbox/describe.ts";
import type { EndListener } from "../session/registry.ts";
import { quoteArgv } from "../shell/quote.ts";
import type { AuditLog } from "../storage/audit.ts";
import type { SessionEnd, SessionFields } from "../storage/sessions.ts";
import type { WorkQueue } from "../storage/work.ts";

/** Returns a request as a shell command line. */
export function commandLine(request: Pick<RunRequest, "command" | "args">): string {
  return request.args ? quoteArgv([request.command, ...request.args]) : request.command;
}

export const NO_RECORD = { code: null as number | null, signal: 0, durationUs: 0, leftover: 0 };

/** Returns the audit entry for the end of a session. */
export function exitEntry(
  session: Pick<SessionFields, "id" | "agent" | "command" | "args">,
  { status, record, error }: SessionEnd,
): NewAuditEntry {
  const { code, signal, durationUs, leftover } = record === null ? NO_RECORD : (JSON.parse(record) as typeof NO_RECORD);
  const detail = { exitCode: code, signal, durationMs: durationUs / 1000, leftover };
  return {
    kind: "exit",
    agent: session.agent,
    session: session.id,
    actor: "sallyport",
    channel: "keeper",
    outcome: status satisfies Status,
    summary: commandLine({
      command: session.command,
      ...(session.args ? { args: JSON.parse(session.args) as string[] } : {}),
    }),
    detail: error === null ? detail : { ...detail, error: JSON.parse(error) as object },
  };
}

/**
 * Returns the audit entry for masks that broke while the command ran. Null if none did, or if the entry was written when
 * the main process ended and nothing was added since.
 */
export function maskEntry(
  session: Pick<SessionFields, "id" | "agent"> & { record?: string | null },
  ended: Pick<SessionEnd, "record">,
): NewAuditEntry | null {
  const masks = masksOf(ended.record);
  if (!masks || masks.count === masksOf(session.record ?? null)?.count) return null;
  return {
    kind: "mask",
    agent: session.agent,
    session: session.id,
    actor: "sallyport",
    channel: "keeper",
    outcome: masks.reaction === "kill" ? "killed" : "warned",
    summary: brokenMasksText(masks),
    detail: { ...masks },
  };
}

function masksOf(record: string | null): BrokenMasks | undefined {
  return record === null ? undefined : (JSON.parse(record) as { masks?: BrokenMasks }).masks;
}

/**
 * Returns a listener that records an audit entry for each session that ends and a work item for background sessions.
 */
export function onSessionEnd(audit: AuditLog, work: WorkQueue | null, executor: Pick<Executor, "data">): EndListener {
  return (session, ended, first) => {
    const mask = maskEntry(session, ended);
    const record = () => {
      if (mask) audit.append(mask);
      if (first) audit.append(exitEntry(session, ended));
    };
    if (!first || session.background !== 1 || work === null) return record;
    const { logPath, lastLines } = ended.callback ?? executor.data(session).forCallback();
    const ending = ended.record === null ? ("lost" as const) : (JSON.parse(ended.record) as ExitRecord);
    const callback = execCallback({
      id: session.id,
      status: ended.status,
      exitCode: reportedExitCode(ended.status, ending),
      logPath: session.log_file ?? logPath,
      lastLines,
    });
    return () => {
      record();
      work.enqueue(callback);
    };
  };
}
