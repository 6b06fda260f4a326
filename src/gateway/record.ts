import type { LaunchLimits, LaunchSpec } from "../core/launch.ts";
import type { RunRequest } from "../core/request.ts";
import type { Settings } from "../core/settings.ts";
import type { Verdict } from "../core/verdict.ts";
import { abilityNotes } from "../executor/notes.ts";
import { lowered } from "../sandbox/limits.ts";
import { remember } from "../sandbox/remembered.ts";
import type { Sandboxed } from "../sandbox/sandbox.ts";
import { nameInUse } from "../session/errors.ts";
import { loweredNote } from "../session/limit-exceeded.ts";
import type { Refusal } from "../session/refusal.ts";
import type { NewSession } from "../storage/sessions.ts";
import { inTransaction } from "../storage/transaction.ts";
import { runEntry } from "./journal.ts";
import { keptText, keptWords } from "./kept-words.ts";
import type { Permit } from "./permit.ts";
import type { Rooms } from "./rooms.ts";
import { confinementWarnings } from "./start-warnings.ts";

/** A request on its way: what was asked and, as far as it got, what would run and what was decided. */
export interface Attempt {
  id: string;
  request: RunRequest;
  background: boolean;
  plan: LaunchSpec | null;
  verdict: Verdict | null;
  /** What holds it, once that is known. */
  sandbox: Sandboxed | null;
  askedBy?: string | undefined;
}

/** One that got as far as that it may run. */
export interface Case extends Attempt {
  plan: LaunchSpec;
  verdict: Verdict;
  sandbox: Sandboxed;
  limits: Settings["limits"];
}

interface Recorded {
  name: string;
  session: Omit<NewSession, "name">;
}

function rowOf(rooms: Rooms, that: Attempt, keeperPid: number): Omit<NewSession, "name"> {
  const { id, request, background, plan, sandbox } = that;
  const as = keeperPid > 0 ? "ran" : "refused";
  return {
    id,
    agent: rooms.agent,
    command: keptText(request.command),
    args: request.args ? JSON.stringify(keptWords(request.args, as)) : null,
    cwd: plan?.cwd ?? keptText(request.cwd ?? rooms.workspace),
    env_names: request.env ? JSON.stringify(keptWords(Object.keys(request.env), as)) : "[]",
    background: background ? 1 : 0,
    capture: plan?.capture ?? request.capture ?? "apart",
    intent: request.intent ?? null,
    log_file: plan?.logFile ?? null,
    timeout_ms: plan?.timeoutMs ?? 0,
    keeper_pid: keeperPid,
    created_ms: Date.now(),
    sandbox: remember(sandbox),
    warnings: warningsOf(rooms, that, keeperPid > 0),
    limits: plan ? limitsText(plan.limits) : null,
    asked_by: that.askedBy ?? null,
  };
}

/** What is known to fall short of what was asked before it runs. */
function warningsOf(rooms: Rooms, { request: { limits }, plan, sandbox }: Attempt, runs: boolean): string {
  if (!plan) return "[]";
  const notes = [
    ...abilityNotes(rooms.executor.abilities),
    ...(runs ? confinementWarnings(rooms, sandbox) : []),
    ...(limits ? lowered(limits, plan.limits).map(loweredNote) : []),
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
export function recordRun(rooms: Rooms, that: Case, permission: Permit & { go: true }, keeperPid: number) {
  const { approval, grants, vouched } = permission;
  // Taken before the write lock: reading programs and scripts may take a moment.
  const binding = approval?.binding();
  return inTransaction(rooms.database, (): Recorded | null => {
    rooms.quota.admit(rooms.agent, that.limits);
    if (approval && binding) {
      const use = { agent: rooms.agent, session: that.id };
      if (!rooms.approvals.consume(approval.id, binding, use).ok) return null;
    }
    const session = rowOf(rooms, that, keeperPid);
    const name = rooms.registry.record(session, that.request.name);
    if (name === null) throw nameInUse(that.request.name ?? "");
    rooms.approvals.grants.used(grants);
    rooms.allowlistUse.note(that.verdict);
    const outcome = approval || vouched ? "approved" : grants.length > 0 ? "granted" : "allowed";
    const by = { approval: approval?.id ?? null, grants, ...(vouched ? { vouched } : {}) };
    rooms.audit.append(runEntry(that, session, rooms, outcome, by));
    return { name, session };
  });
}

/** A command that was not let through leaves a row and an entry as well: attempts are part of the story. */
export function recordRefusal(rooms: Rooms, that: Attempt, refusal: Refusal, approvalId: string | null): Recorded {
  return inTransaction(rooms.database, () => {
    const session = rowOf(rooms, that, 0);
    const name = rooms.registry.record(session, undefined, refusal);
    if (name === null) throw nameInUse(session.id);
    const by = { approval: approvalId, grants: [] };
    rooms.audit.append(runEntry(that, session, rooms, refusal.status, by, refusal.error.message));
    return { name, session };
  });
}
