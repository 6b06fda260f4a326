import { isDeepStrictEqual } from "node:util";
import type { NewAuditEntry } from "../core/audit.ts";
import type { CommandFact } from "../core/facts.ts";
import type { LaunchLimits } from "../core/launch.ts";
import type { Verdict } from "../core/policy.ts";
import { abilityNotes } from "../executor/executor.ts";
import { confinementText, levelWarning, rootWarning } from "../sandbox/describe.ts";
import { reducedLimits, reducedLimitWarning } from "../sandbox/limits.ts";
import type { SandboxPlan } from "../sandbox/sandbox.ts";
import { decodeSnapshot, encodeSnapshot } from "../sandbox/snapshot.ts";
import { nameInUse } from "../session/errors.ts";
import type { Refusal } from "../session/refusal.ts";
import { inTransaction, writeFailure } from "../storage/database.ts";
import { shortageForCommands } from "../storage/reserve.ts";
import type { NewSession, SessionFields } from "../storage/sessions.ts";
import type { Authorization } from "./authorize.ts";
import type { GatewayContext } from "./context.ts";
import { commandLine } from "./on-session-end.ts";
import type { Attempt, PlannedRun } from "./plan.ts";
import { recordDeferredConfig } from "./settings.ts";

/** Returns the audit entry that is written before a command starts, or when it is refused. */
export function runEntry(
  { request, verdict, sandbox }: Attempt,
  session: SessionFields,
  { actor, channel }: { actor: string; channel: string },
  outcome: string,
  by: { approval: string | null; grants: string[]; vouched?: object },
  why?: string,
): NewAuditEntry {
  return {
    kind: "run",
    agent: session.agent,
    session: session.id,
    actor,
    channel,
    outcome,
    summary: commandLine(request),
    detail: {
      cwd: session.cwd,
      background: session.background === 1,
      env: request.env ? Object.keys(request.env) : [],
      intent: request.intent ?? null,
      ...(sandbox ? { sandbox: confinementText(sandbox) } : {}),
      ...(verdict ? judged(verdict) : {}),
      ...(why ? { why } : {}),
      ...(by.approval ? { approval: by.approval } : {}),
      ...(by.grants.length > 0 ? { grants: by.grants } : {}),
      ...(by.vouched ? { statement: by.vouched } : {}),
    },
  };
}

function judged({ verdict, reasons, commands }: Verdict): object {
  return { verdict, rules: reasons.map(({ rule }) => rule), programs: commands.map(programOf) };
}

function programOf({ executable }: CommandFact): string {
  return executable.resolved ?? executable.written ?? "unknown";
}

/** Returns the warnings about the sandbox of a command, each once per gateway and agent. */
export function confinementWarnings(context: GatewayContext, sandbox: SandboxPlan | null): string[] {
  const { agent, channel, ownOnly, warnedOnce } = context;
  const asRoot =
    sandbox !== null && sandbox.level !== "none" && sandbox.spec?.user === null && process.getuid?.() === 0;
  // An agent cannot change it, and the command line opens a gateway for each command: there only `doctor` warns.
  const notes = asRoot && channel !== "cli" && !ownOnly ? [rootWarning()] : [];
  // `abilityNotes` covers executors that cannot sandbox commands.
  if (sandbox && context.executor.abilities.confines && isWeakened(context, sandbox)) notes.push(levelWarning(sandbox));
  const fresh = notes.filter((note) => !warnedOnce.has(`${agent}\0${note}`));
  for (const note of fresh) warnedOnce.add(`${agent}\0${note}`);
  return fresh;
}

/**
 * Reports whether something is not enforced that the caller may not know yet. The command line opens a gateway for each
 * command, so there it is known if it applies to the agent's previous command too.
 */
function isWeakened({ agent, channel, registry }: GatewayContext, sandbox: SandboxPlan): boolean {
  const { confines, level, notEnforced } = sandbox;
  if (notEnforced.length === 0 && !(confines && level === "none")) return false;
  if (channel !== "cli") return true;
  const before = decodeSnapshot(registry.store.latestSandbox(agent));
  return before.level !== level || !isDeepStrictEqual(before.notEnforced, notEnforced);
}

/** The maximum length of a stored command (invariant 6). The kernel limits one argument to the same size. */
const MAX_TEXT_LENGTH = 128 << 10;
/** The maximum length of stored arguments: for a command that ran, the kernel's limit; for a refused one, less. */
const MAX_LIST_LENGTH = { ran: 2 << 20, refused: 256 << 10 };
/** Characters that JSON adds to each element: two quotes and a comma. */
const ELEMENT_OVERHEAD = 3;

/** Truncates a text for storage and notes how much was removed. */
export function truncateText(text: string): string {
  if (text.length <= MAX_TEXT_LENGTH) return text;
  return `${text.slice(0, MAX_TEXT_LENGTH).toWellFormed()}… [${text.length - MAX_TEXT_LENGTH} more characters]`;
}

/** Truncates a list for storage and notes how many elements were removed. */
export function truncateList(words: readonly string[], as: keyof typeof MAX_LIST_LENGTH): readonly string[] {
  let left = MAX_LIST_LENGTH[as];
  for (const word of words) left -= word.length + ELEMENT_OVERHEAD;
  if (left >= 0) return words;
  const kept: string[] = [];
  left = MAX_LIST_LENGTH[as];
  for (const word of words) {
    left -= word.length + ELEMENT_OVERHEAD;
    if (left < 0) break;
    kept.push(word);
  }
  return [...kept, `… [${words.length - kept.length} more]`];
}

export interface RecordedSession {
  name: string;
  session: Omit<NewSession, "name">;
}

function sessionRow(context: GatewayContext, run: Attempt, keeperPid: number): Omit<NewSession, "name"> {
  const { id, request, background, plan, sandbox } = run;
  const as = keeperPid > 0 ? "ran" : "refused";
  return {
    id,
    agent: context.agent,
    command: truncateText(request.command),
    args: request.args ? JSON.stringify(truncateList(request.args, as)) : null,
    cwd: plan?.cwd ?? truncateText(request.cwd ?? context.workspace),
    env_names: request.env ? JSON.stringify(truncateList(Object.keys(request.env), as)) : "[]",
    background: background ? 1 : 0,
    capture: plan?.capture ?? request.capture ?? "apart",
    intent: request.intent ?? null,
    log_file: plan?.logFile ?? null,
    timeout_ms: plan?.timeoutMs ?? 0,
    keeper_pid: keeperPid,
    created_ms: Date.now(),
    sandbox: encodeSnapshot(sandbox),
    warnings: warningsOf(context, run, keeperPid > 0),
    limits: plan ? limitsText(plan.limits) : null,
    asked_by: run.askedBy ?? null,
  };
}

/** Returns the session's initial warnings as JSON: missing abilities, sandbox warnings and reduced limits. */
function warningsOf(context: GatewayContext, { request: { limits }, plan, sandbox }: Attempt, runs: boolean): string {
  if (!plan) return "[]";
  const notes = [
    ...abilityNotes(context.executor.abilities),
    ...(runs ? confinementWarnings(context, sandbox) : []),
    ...(limits ? reducedLimits(limits, plan.limits).map(reducedLimitWarning) : []),
  ];
  return notes.length === 0 ? "[]" : JSON.stringify(notes);
}

/** The last serialized limits. Most sessions have the configured limits, which are the same object. */
let lastLimits: LaunchLimits | null = null;
let lastText = "";

function limitsText(limits: LaunchLimits): string {
  if (limits !== lastLimits) {
    const { exactProcesses, ...shown } = limits;
    lastText = JSON.stringify(shown);
    lastLimits = limits;
  }
  return lastText;
}

/** Throws if the disk is almost full: the rest is for removing sessions, and for the ends of those that run. */
function assertSpace(state: string): void {
  const shortage = shortageForCommands(state);
  if (shortage !== null) throw writeFailure(state, shortage);
}

/**
 * Records a run in one transaction before it starts: checks the quota, uses the approval, inserts the session row and
 * writes the audit entry. Returns null when the approval no longer matches the command.
 */
export function recordRun(
  context: GatewayContext,
  run: PlannedRun,
  permission: Authorization & { go: true },
  keeperPid: number,
) {
  const { approval, grants, vouched } = permission;
  // Computed before the write lock is taken: reading programs and scripts takes time.
  const binding = approval?.binding();
  assertSpace(context.state);
  recordDeferredConfig(context);
  return inTransaction(context.database, (): RecordedSession | null => {
    context.quota.admit(context.agent, run.limits);
    if (approval && binding) {
      const use = { agent: context.agent, session: run.id };
      if (!context.approvals.consume(approval.id, binding, use).ok) return null;
    }
    const session = sessionRow(context, run, keeperPid);
    const waited = approval?.session === run.id ? context.registry.resume(session, run.request.name) : null;
    const name = waited ?? context.registry.record(session, run.request.name);
    if (name === null) throw nameInUse(run.request.name ?? "");
    context.approvals.grants.used(grants);
    context.allowlistUse.record(run.verdict);
    const outcome = approval || vouched ? "approved" : grants.length > 0 ? "granted" : "allowed";
    const by = { approval: approval?.id ?? null, grants, ...(vouched ? { vouched } : {}) };
    context.audit.append(runEntry(run, session, context, outcome, by));
    return { name, session };
  });
}

/** Returns the session that an earlier call left waiting for the approval, if its status is that of the refusal. */
function waitingSession({ approvals, registry }: GatewayContext, approvalId: string, { status }: Refusal) {
  const id = approvals.waitingSession(approvalId);
  const row = id === null ? null : registry.store.get(id);
  return row?.status === status ? row : null;
}

/**
 * Records a refused command with a session row and an audit entry. All calls that wait for the same approval share one
 * session, which ends with the approval.
 */
export function recordRefusal(
  context: GatewayContext,
  run: Attempt,
  refusal: Refusal,
  approvalId: string | null,
): RecordedSession {
  recordDeferredConfig(context);
  return inTransaction(context.database, () => {
    const waiting = approvalId && waitingSession(context, approvalId, refusal);
    const session = waiting ? { ...sessionRow(context, run, 0), id: waiting.id } : sessionRow(context, run, 0);
    const name = waiting ? waiting.name : context.registry.record(session, undefined, refusal);
    if (name === null) throw nameInUse(session.id);
    if (approvalId && refusal.status === "pending") context.approvals.setWaitingSession(approvalId, session.id);
    const by = { approval: approvalId, grants: [] };
    context.audit.append(runEntry(run, session, context, refusal.status, by, refusal.error.message));
    return { name, session };
  });
}
