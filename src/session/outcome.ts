import { callerHome } from "../core/caller.ts";
import type { Recovery } from "../core/error.ts";
import type { ExceededLimit, LaunchLimits } from "../core/launch.ts";
import type { Status } from "../core/result.ts";
import type { ExitOutcome, ExitRecord, ExitReport } from "../executor/execution.ts";
import type { SessionData } from "../executor/session-data.ts";
import {
  brokenMasksWarning,
  newProtectedPathsWarning,
  notEnforcedWarning,
  repositoryFindingsWarnings,
} from "../sandbox/describe.ts";
import { sandboxHints } from "../sandbox/hints.ts";
import { findingsAfterCommand } from "../sandbox/protected/git/repository-index.ts";
import { newProtectedPaths } from "../sandbox/protected/new-protected-paths.ts";
import { decodeSnapshot } from "../sandbox/snapshot.ts";
import type { SessionEnd, SessionRow } from "../storage/sessions.ts";
import { limitExceeded, limitWarning, maskBroken, sessionLost } from "./errors.ts";
import { launchFailure } from "./failure/launch.ts";
import { inputRequired, promptedWait, timedOutHint } from "./input-wait.ts";
import { lostOutputWarning, OUT_OF_MEMORY_WARNING, unenforcedLimitWarnings } from "./warnings.ts";

/** The number of bytes at the end of stderr from which hints are derived: programs report fatal errors last. */
const TAIL_BYTES = 32 << 10;

type SandboxedRun = Pick<SessionRow, "cwd" | "sandbox">;

/**
 * Returns hints on a timeout during which the command waited for input, and on how the sandbox may have caused a non-zero
 * exit. `text` is the command's error output.
 */
export function hintsFor(text: string, { cwd, sandbox }: SandboxedRun, record: ExitRecord): Recovery[] {
  const wait = record.reason === "timeout" ? promptedWait(record.input, text.slice(-TAIL_BYTES)) : null;
  if (wait) return [timedOutHint(wait)];
  const failed = record.reason === "exited" && record.code !== 0;
  if (!failed || sandbox === null || text === "") return [];
  return sandboxHints(text, { sandbox: decodeSnapshot(sandbox), cwd, home: callerHome() });
}

/** Returns the hints for the session's row, as JSON. Reads the command's error output from its log. */
function storedHints(row: SandboxedRun, ending: ExitOutcome, data: SessionData): string {
  if (ending === "lost" || ending.account) return "[]";
  const failed = ending.reason === "exited" && ending.code !== 0 && row.sandbox !== null;
  if (!failed && !(ending.reason === "timeout" && ending.input)) return "[]";
  return JSON.stringify(hintsFor(lastErrorOutput(data), row, ending));
}

function lastErrorOutput(data: SessionData): string {
  try {
    return data.errorTail(TAIL_BYTES);
  } catch {
    return ""; // The log was removed or cannot be read; hints are optional.
  }
}

const STATUS: Record<ExitRecord["reason"], Status> = {
  exited: "completed",
  timeout: "timed_out",
  killed: "killed",
  failed: "failed",
  limit: "killed",
  mask: "killed",
  input: "killed",
};

type StartedSession = Pick<SessionRow, "command" | "args" | "cwd" | "capture" | "warnings" | "sandbox" | "limits">;

type Outcome = Pick<SessionEnd, "status" | "warnings" | "error">;

/** Outcomes by exit record, cached so that the caller's result agrees with the row, which is written later. */
const outcomes = new WeakMap<ExitRecord, Outcome>();

/** Returns the status, warnings and error of a session that has ended. */
export function outcomeOf(row: StartedSession, ending: ExitOutcome): Outcome {
  if (ending === "lost") return { status: "lost", warnings: row.warnings, error: JSON.stringify(sessionLost()) };
  let outcome = outcomes.get(ending);
  if (!outcome) {
    outcome = computeOutcome(row, ending);
    outcomes.set(ending, outcome);
  }
  return outcome;
}

function computeOutcome(row: StartedSession, ending: ExitRecord): Outcome {
  if (ending.account) return reportedOutcome(row, ending.account);
  const limit = exceededLimit(row, ending);
  const error = endError(row, ending, limit);
  return {
    status: limit ? "killed" : STATUS[ending.reason],
    warnings: warningsOf(row, ending),
    error: error && JSON.stringify(error),
  };
}

function endError(row: StartedSession, ending: ExitRecord, limit: ExceededLimit | null) {
  if (ending.reason === "failed") return launchError(row, ending);
  if (ending.reason === "mask" && ending.masks) return maskBroken(ending.masks);
  if (ending.reason === "input" && ending.input) return inputRequired(ending.input);
  return limit ? limitExceeded(limit) : null;
}

/** Returns the outcome of a command that ran on a worker. The worker has already determined it. */
function reportedOutcome(
  row: StartedSession,
  { status, warnings, error }: ExitReport,
): Pick<SessionEnd, "status" | "warnings" | "error"> {
  const before = JSON.parse(row.warnings) as string[];
  return { status, warnings: JSON.stringify([...before, ...warnings]), error: error && JSON.stringify(error) };
}

/**
 * Returns the fields to write to a session's row when it has ended. `lostMs` is when a session without an exit record was
 * lost, if that is known.
 */
export function endedFields(
  row: StartedSession,
  ending: ExitOutcome,
  data: SessionData,
  lostMs: number | null,
): SessionEnd {
  const outcome: Omit<SessionEnd, "endedMs" | "lingering" | "bytes" | "record"> = {
    ...outcomeOf(row, ending),
    hints: storedHints(row, ending, data),
  };
  if (ending === "lost") return { ...outcome, endedMs: lostMs, lingering: false, bytes: 0, record: null };
  const { account, ...record } = ending;
  return {
    ...outcome,
    ...(account ? { hints: JSON.stringify(account.hints), callback: account } : {}),
    endedMs: Math.round(ending.endedUs / 1000),
    lingering: !ending.final,
    bytes: ending.streams.reduce((sum, s) => sum + s.bytes - (s.droppedEnd - s.droppedStart), 0),
    record: JSON.stringify(record),
  };
}

function launchError(row: Pick<SessionRow, "command" | "args" | "cwd">, record: ExitRecord) {
  return launchFailure(record, row.args === null ? "bash" : row.command, row.cwd);
}

const SIGXFSZ = 25;

/**
 * Returns the limit that ended the command. If a file grows too large, the kernel only sends SIGXFSZ to the process.
 */
function exceededLimit({ limits }: StartedSession, { reason, limit, signal, code }: ExitRecord): ExceededLimit | null {
  if (reason === "limit") return limit ?? null;
  const tooLong = reason === "exited" && (signal === SIGXFSZ || code === 128 + SIGXFSZ);
  if (!tooLong || limits === null) return null;
  const { fileSize } = JSON.parse(limits) as Partial<LaunchLimits>;
  return fileSize ? { kind: "fileSize", value: fileSize, peak: fileSize } : null;
}

function warningsOf(row: StartedSession, record: ExitRecord): string {
  const { notEnforced } = decodeSnapshot(row.sandbox);
  // The others were known, and were told, before the command started.
  const found = (record.gaps ?? []).filter((gap) => !notEnforced.some((known) => known === gap));
  const broken = record.masks?.paths ?? [];
  const created = record.created?.paths.filter((path) => !broken.includes(path)) ?? [];
  const appeared = newProtectedPaths(created);
  const notes = [
    ...(found.length > 0 ? [notEnforcedWarning(found)] : []),
    ...(record.masks ? [brokenMasksWarning(record.masks)] : []),
    ...(appeared.length > 0 ? [newProtectedPathsWarning(appeared)] : []),
    ...repositoryWarnings(row, record),
    ...lostOutputWarnings(row, record),
    ...unenforcedLimitWarnings(record.loose),
    ...(record.outOfMemory ? [OUT_OF_MEMORY_WARNING] : []),
    ...(record.limit && record.reason !== "limit" ? [limitWarning(record.limit)] : []),
  ];
  return notes.length === 0 ? row.warnings : JSON.stringify([...(JSON.parse(row.warnings) as string[]), ...notes]);
}

/** Returns warnings about repositories in the workspace that run programs when a person uses git there. */
function repositoryWarnings(row: StartedSession, record: ExitRecord): string[] {
  const { workspace } = decodeSnapshot(row.sandbox);
  if (workspace === null) return [];
  return repositoryFindingsWarnings(findingsAfterCommand(workspace, record.startedUs / 1000, record.endedUs / 1000));
}

/** Returns a warning for each stream that lost output because the disk was full or the machine lost power. */
export function lostOutputWarnings(
  row: Pick<StartedSession, "capture">,
  record: Pick<ExitRecord, "streams">,
): string[] {
  const names = row.capture === "merged" ? ["output"] : ["stdout", "stderr"];
  return record.streams.flatMap((s, i) => (s.lost > 0 ? [lostOutputWarning(names[i] ?? "output", s.lost)] : []));
}
