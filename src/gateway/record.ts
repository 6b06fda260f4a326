import type { NewAuditEntry } from "../core/audit.ts";
import type { CommandFact } from "../core/facts.ts";
import type { LaunchLimits } from "../core/launch.ts";
import type { Verdict } from "../core/policy.ts";
import { abilityNotes } from "../executor/executor.ts";
import { confinementText, rootWarning, unavailableWarning } from "../sandbox/describe.ts";
import { reducedLimits, reducedLimitWarning } from "../sandbox/limits.ts";
import type { SandboxPlan } from "../sandbox/sandbox.ts";
import { encodeSnapshot } from "../sandbox/snapshot.ts";
import { nameInUse } from "../session/errors.ts";
import type { Refusal } from "../session/refusal.ts";
import { inTransaction } from "../storage/database.ts";
import type { NewSession, SessionFields } from "../storage/sessions.ts";
import type { Authorization } from "./authorize.ts";
import type { GatewayContext } from "./context.ts";
import { commandLine } from "./on-session-end.ts";
import type { Attempt, PlannedRun } from "./plan.ts";

/** The entry that precedes every run, and the only one of those that did not come to it. */
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

/** What is to be said about a command's confinement before it runs. */
export function confinementWarnings(context: GatewayContext, sandbox: SandboxPlan | null): string[] {
  // Of the portable executor more is said elsewhere.
  if (sandbox?.unavailable) return context.executor.abilities.confines ? [unavailableWarning()] : [];
  const asRoot = sandbox?.confined && sandbox.spec?.user === null && process.getuid?.() === 0;
  // Once per gateway, with every command it would be noise; a command line is a gateway each, so there `doctor` says it.
  if (!asRoot || context.channel === "cli" || context.warnedOnce.has("root")) return [];
  context.warnedOnce.add("root");
  return [rootWarning()];
}

/**
 * What a session's row keeps of the words it was asked with. Whatever can run as one text is kept whole: the kernel takes
 * no longer argument. Of more, which is asked for to fill the disk if at all, only the beginning (promise 6).
 */
const MOST_TEXT = 128 << 10;
/** Of a command's own words, as many as the kernel takes at once; of one that is refused far fewer tell enough. */
const MOST_WORDS = { ran: 2 << 20, refused: 256 << 10 };
/** Each is stored between quotes and behind a comma, however short it is. */
const AROUND = 3;
export function truncateText(text: string): string {
  if (text.length <= MOST_TEXT) return text;
  return `${text.slice(0, MOST_TEXT).toWellFormed()}… [${text.length - MOST_TEXT} more characters]`;
}

export function truncateList(words: readonly string[], as: keyof typeof MOST_WORDS): readonly string[] {
  let left = MOST_WORDS[as];
  for (const word of words) left -= word.length + AROUND;
  if (left >= 0) return words;
  const kept: string[] = [];
  left = MOST_WORDS[as];
  for (const word of words) {
    left -= word.length + AROUND;
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

/** What is known to fall short of what was asked before it runs. */
function warningsOf(context: GatewayContext, { request: { limits }, plan, sandbox }: Attempt, runs: boolean): string {
  if (!plan) return "[]";
  const notes = [
    ...abilityNotes(context.executor.abilities),
    ...(runs ? confinementWarnings(context, sandbox) : []),
    ...(limits ? reducedLimits(limits, plan.limits).map(reducedLimitWarning) : []),
  ];
  return notes.length === 0 ? "[]" : JSON.stringify(notes);
}

/** Mostly the same ones again: the configuration's. */
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

/**
 * Everything that must be true before a command may start, at once or not at all: there is room for it, its approval
 * is used up, its row is there and its audit entry is written. Null: the approval does not fit any more.
 */
export function recordRun(
  context: GatewayContext,
  run: PlannedRun,
  permission: Authorization & { go: true },
  keeperPid: number,
) {
  const { approval, grants, vouched } = permission;
  // Taken before the write lock: reading programs and scripts may take a moment.
  const binding = approval?.binding();
  return inTransaction(context.database, (): RecordedSession | null => {
    context.quota.admit(context.agent, run.limits);
    if (approval && binding) {
      const use = { agent: context.agent, session: run.id };
      if (!context.approvals.consume(approval.id, binding, use).ok) return null;
    }
    const session = sessionRow(context, run, keeperPid);
    const name = context.registry.record(session, run.request.name);
    if (name === null) throw nameInUse(run.request.name ?? "");
    context.approvals.grants.used(grants);
    context.allowlistUse.record(run.verdict);
    const outcome = approval || vouched ? "approved" : grants.length > 0 ? "granted" : "allowed";
    const by = { approval: approval?.id ?? null, grants, ...(vouched ? { vouched } : {}) };
    context.audit.append(runEntry(run, session, context, outcome, by));
    return { name, session };
  });
}

/** A command that was not let through leaves a row and an entry as well: attempts are part of the story. */
export function recordRefusal(
  context: GatewayContext,
  run: Attempt,
  refusal: Refusal,
  approvalId: string | null,
): RecordedSession {
  return inTransaction(context.database, () => {
    const session = sessionRow(context, run, 0);
    const name = context.registry.record(session, undefined, refusal);
    if (name === null) throw nameInUse(session.id);
    const by = { approval: approvalId, grants: [] };
    context.audit.append(runEntry(run, session, context, refusal.status, by, refusal.error.message));
    return { name, session };
  });
}
