import { SallyportError } from "../core/error.ts";
import { newId } from "../core/id.ts";
import type { RunRequest } from "../core/request.ts";
import type { Verdict } from "../core/verdict.ts";
import type { Execution } from "../executor/executor.ts";
import { confine } from "../sandbox/confine.ts";
import { confinementText } from "../sandbox/describe.ts";
import { launchSpec } from "../sandbox/launch-spec.ts";
import { makeFolder } from "../sandbox/make-folder.ts";
import { commandRefused, keptChanging, notToBeHad, type Refusal, sandboxUnavailable } from "../session/refusal.ts";
import { mayHaveTerminal } from "../shell/needs-terminal.ts";
import type { NewSession } from "../storage/sessions.ts";
import { isForbidden, judge } from "./judge.ts";
import { insistOnPlace, originOf } from "./origin.ts";
import { type Patience, type Permit, permit } from "./permit.ts";
import { type Attempt, type Case, recordRefusal, recordRun } from "./record.ts";
import type { Rooms } from "./rooms.ts";
import { inForce } from "./settings.ts";
import { validate } from "./validate.ts";

interface Manner extends Patience {
  background: boolean;
  /** Also write a plain log here, named by the session's id. */
  logFolder?: string | undefined;
  /** The operator's own command: neither asked about nor confined. A hard block holds all the same (promise 3). */
  byOperator?: true;
  /** Where the session has its id from elsewhere. */
  id?: string;
  /** Where nobody can be asked: says whether somebody was, elsewhere. */
  vouch?: (that: Case) => Permit;
  /** Where it must be nobody else's: it is only studied until then, and nothing of it is left when this is rejected. */
  ours?: Promise<void>;
  /** JSON: which gateway of a fleet asks for it. */
  askedBy?: string;
}

export type Submission = {
  name: string;
  session: Omit<NewSession, "name">;
  verdict: Verdict | null;
  approvalId: string | null;
} & ({ execution: Execution } | { execution: null; refusal: Refusal });

const TRUSTED: Permit = { go: true, approval: null, grants: [] };

/** So often is a command asked for again that changed after it was approved. */
const MOST_CHANGES = 3;

/**
 * The one way in (promise 1): every command of every surface passes here, and nothing is spawned anywhere else.
 *
 * validate  the request's shape
 * confine   where and with what it would run: plain data
 * judge     what it would run, and whether it may
 * permit    a person's word, where it needs one
 * record    row, audit entry and the use of an approval in one transaction: no run without its entry
 * launch    the keeper takes over
 */
export async function submit(rooms: Rooms, asked: unknown, manner: Manner): Promise<Submission> {
  const request = validate(asked);
  const attempt: Attempt = {
    id: manner.id ?? newId(),
    request,
    background: manner.background,
    plan: null,
    verdict: null,
    sandbox: null,
    askedBy: manner.askedBy,
  };
  rooms.checkpoint("received", attempt.id);
  try {
    insistOnPlace(rooms, request);
    if (manner.byOperator) attempt.request = { ...attempt.request, sandbox: "off" };
    if (manner.logFolder !== undefined) attempt.request = withLogIn(rooms, manner.logFolder, attempt);
    return await pass(rooms, attempt.request, manner, attempt);
  } catch (error) {
    // What cannot be had is an answer like any other, and an attempt like any other.
    if (!(error instanceof SallyportError) || !ANSWERS.has(error.type)) throw error;
    if (manner.ours) await manner.ours;
    return refuse(rooms, attempt, notToBeHad(error), null);
  }
}

const ANSWERS = new Set([
  "PathOutOfScope",
  "WorkdirNotFound",
  "InvalidRequest",
  "ResourceLimitExceeded",
  "SandboxUnavailable",
]);

async function pass(rooms: Rooms, request: RunRequest, manner: Manner, attempt: Attempt): Promise<Submission> {
  for (let changes = 0; ; changes++) {
    const that = study(rooms, attempt);
    rooms.checkpoint("judged", attempt.id);
    const trusted = manner.byOperator === true && that.verdict.verdict !== "blocked";
    const decided = trusted ? TRUSTED : (manner.vouch?.(that) ?? (await permit(rooms, request, that, manner)));
    if (manner.ours) await manner.ours;
    rooms.checkpoint("permitted", attempt.id);
    if (!decided.go) return refuse(rooms, that, decided.refusal, decided.approvalId);
    if (decided.approval) {
      // A person may take their time: what was forbidden meanwhile is forbidden, whatever they said (promise 3).
      const now = study(rooms, attempt);
      if (isForbidden(now.verdict)) return refuse(rooms, now, commandRefused(now.verdict), decided.approval.id);
      // What was approved under one confinement does not run under another (promise 2).
      if (confinementText(now.sandbox) !== confinementText(that.sandbox)) {
        if (changes === MOST_CHANGES) return refuse(rooms, that, keptChanging(), decided.approval.id);
        continue;
      }
    }
    const launched = await launch(rooms, that, decided);
    if (launched) return launched;
    // Something changed between the yes and the launch: it is another command now, and is asked anew (promise 2).
    if (changes === MOST_CHANGES) return refuse(rooms, that, keptChanging(), decided.approval?.id ?? null);
  }
}

function withLogIn(rooms: Rooms, folder: string, { request, id }: Attempt): RunRequest {
  const { scope } = inForce(rooms).confinement;
  return { ...request, logFile: `${makeFolder(scope, folder)}/${id}.log` };
}

/** Where and with what it would run by the settings of this moment, and whether it may. */
function study(rooms: Rooms, attempt: Attempt): Case {
  const asIs = studied(rooms, attempt);
  if (attempt.request.pty !== "auto" || !mayHaveTerminal(attempt.request, asIs.verdict.commands)) return asIs;
  // On a terminal its environment is another: judged once more as it will run (promise 2).
  return { ...studied(rooms, { ...attempt, request: { ...attempt.request, pty: true } }), request: attempt.request };
}

function studied(rooms: Rooms, attempt: Attempt): Case {
  const { request, id, background } = attempt;
  const { settings, confinement } = inForce(rooms);
  const confined = confine(request, confinement);
  const { sandbox } = confined;
  if (sandbox.unavailable && settings.require) throw sandboxUnavailable();
  const plan = launchSpec(request, confined, settings, id, background);
  const who = { agent: rooms.agent, workspace: confinement.scope.root, tier: rooms.tiers.run };
  const verdict = judge(request, plan, settings, who, sandbox);
  return { ...attempt, plan, verdict, sandbox, limits: settings.limits };
}

function refuse(rooms: Rooms, attempt: Attempt, refusal: Refusal, approvalId: string | null): Submission {
  const { name, session } = recordRefusal(rooms, attempt, refusal, approvalId);
  rooms.notify({ type: "refused", session: attempt.id, command: attempt.request.command, status: refusal.status });
  return { name, session, verdict: attempt.verdict, approvalId, execution: null, refusal };
}

/** Null: what was approved is not what would run any more. */
async function launch(rooms: Rooms, that: Case, permission: Permit & { go: true }): Promise<Submission | null> {
  const slot = await rooms.executor.prepare();
  rooms.checkpoint("prepared", that.id);
  try {
    const recorded = recordRun(rooms, that, permission, slot.keeperPid);
    if (!recorded) {
      slot.cancel();
      return null;
    }
    rooms.checkpoint("recorded", that.id);
    const { name, session } = recorded;
    const moved = (keeperPid: number) => rooms.registry.store.setKeeper(that.id, keeperPid);
    const origin = originOf(rooms, that, permission, name);
    const title = `${name} ${that.plan.title}`;
    const execution = slot.launch(origin ? { ...that.plan, title, origin } : { ...that.plan, title }, moved);
    rooms.checkpoint("launched", that.id);
    rooms.registry.track(execution, session);
    rooms.notify({ type: "started", session: that.id, command: that.request.command });
    return { name, session, verdict: that.verdict, approvalId: permission.approval?.id ?? null, execution };
  } catch (error) {
    slot.cancel();
    throw error;
  }
}
