import type { SessionInfo, StreamInfo, StreamName } from "../core/session.ts";
import type { ExitRecord } from "../executor/execution.ts";
import type { Executor } from "../executor/executor.ts";
import type { SessionData } from "../executor/session-data.ts";
import { sandboxLabel } from "../sandbox/describe.ts";
import { decodeSnapshot } from "../sandbox/snapshot.ts";
import type { SessionRow } from "../storage/sessions.ts";
import { signalName } from "./signals.ts";
import { lastSize } from "./terminal/history.ts";
import { finalUsage } from "./usage.ts";
import { terminalWarnings } from "./warnings.ts";

function streamsOf(row: SessionRow, record: ExitRecord | null, data: SessionData): SessionInfo["streams"] {
  if (!record?.final) return data.streams();
  const names: StreamName[] = row.capture === "merged" ? ["output"] : ["stdout", "stderr"];
  const streams: Partial<Record<StreamName, StreamInfo>> = {};
  for (const [index, name] of names.entries()) {
    const stream = record.streams[index];
    if (stream) streams[name] = stream;
  }
  return streams;
}

/** Returns null if the command has ended at an unknown time. */
function durationOf({ status, created_ms, ended_ms }: SessionRow, record: ExitRecord | null): number | null {
  if (record) return record.durationUs / 1000;
  if (ended_ms === null && status === "lost") return null;
  return Math.max(0, (ended_ms ?? Date.now()) - created_ms);
}

/** Converts a session's row to the public `SessionInfo`. */
export function sessionInfo(row: SessionRow, executor: Executor): SessionInfo {
  const record = row.record === null ? null : (JSON.parse(row.record) as ExitRecord);
  const data = executor.data(row);
  const history = data.terminal();
  return {
    id: row.id,
    name: row.name,
    agent: row.agent,
    status: row.status,
    command: row.command,
    args: row.args === null ? null : (JSON.parse(row.args) as string[]),
    cwd: row.cwd,
    envNames: JSON.parse(row.env_names) as string[],
    background: row.background === 1,
    capture: row.capture,
    pty: lastSize(history),
    intent: row.intent,
    logFile: row.log_file,
    host: row.host,
    gateway: null,
    pid: record ? record.pid || null : row.pid,
    exitCode: record?.code ?? null,
    signal: record ? signalName(record.signal) : null,
    coreDumped: record?.core ?? false,
    // The time in the record is a little later. It is not used, so that the value does not change when the command ends.
    startedAt: new Date(row.created_ms).toISOString(),
    endedAt: row.ended_ms === null ? null : new Date(row.ended_ms).toISOString(),
    durationMs: durationOf(row, record),
    timeoutMs: row.timeout_ms,
    timedOut: row.status === "timed_out",
    leftover: record?.leftover ?? 0,
    lingering: row.lingering === 1,
    limits: row.limits === null ? null : (JSON.parse(row.limits) as SessionInfo["limits"]),
    resourceUsage: record ? finalUsage(record) : null,
    streams: streamsOf(row, record, data),
    sandbox: sandboxLabel(decodeSnapshot(row.sandbox)),
    warnings: [...(JSON.parse(row.warnings) as string[]), ...terminalWarnings(history)],
    hints: JSON.parse(row.hints) as SessionInfo["hints"],
    error: row.error === null ? null : (JSON.parse(row.error) as SessionInfo["error"]),
  };
}
