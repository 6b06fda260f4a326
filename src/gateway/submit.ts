import { SallyportError } from "../core/error.ts";
import { newId } from "../core/id.ts";
import type { Origin } from "../core/launch.ts";
import type { Verdict } from "../core/policy.ts";
import type { Execution } from "../executor/execution.ts";
import { confinementText } from "../sandbox/describe.ts";
import type { ShellForm } from "../sandbox/launch-spec.ts";
import { changedAfterApproval, commandRefused, type Refusal, requestFailed } from "../session/refusal.ts";
import type { NewSession } from "../storage/sessions.ts";
import { type Authorization, authorize, type Consent, MOST_CHANGES } from "./authorize.ts";
import type { GatewayContext, WaitOptions } from "./context.ts";
import { isForbidden } from "./decide.ts";
import { type Attempt, assertPlacement, type PlannedRun, planRun, withLogFile } from "./plan.ts";
import { recordRefusal, recordRun } from "./record.ts";
import { currentSettings } from "./settings.ts";
import { validate } from "./validate.ts";

export interface SubmitOptions extends WaitOptions {
  background: boolean;
  /** A folder for a plain-text log named after the session ID. */
  logFolder?: string | undefined;
  /**
   * Set for the operator's own command, which is neither approved by a person nor sandboxed. Hard blocks still apply
   * (invariant 3).
   */
  byOperator?: true;
  /** Set by a caller that cannot wait for an approval: throws `ApprovalRequired` where one would be requested. */
  withoutApproval?: boolean | undefined;
  /** The session ID, when another gateway has chosen it. */
  id?: string | undefined;
  /** Replaces the approval step on a worker: verifies that a person approved the run at the requesting gateway. */
  vouch?: (run: PlannedRun) => Authorization;
  /** Resolves when this worker owns the job. Nothing is recorded before that, and nothing at all when it rejects. */
  ours?: Promise<void>;
  /** The gateway that sent the job, as JSON. */
  askedBy?: string;
  /** Set when a program that acts as a shell runs the command. */
  shell?: ShellForm | undefined;
  /** The approval that the user of an agent host has given there. */
  consent?: Consent | undefined;
}

export type Submission = {
  name: string;
  session: Omit<NewSession, "name">;
  verdict: Verdict | null;
  approvalId: string | null;
} & ({ execution: Execution } | { execution: null; refusal: Refusal });

type Authorized = Authorization & { go: true };

const BY_OPERATOR: Authorized = { go: true, approval: null, grants: [] };

/** Error types that are recorded and returned as refusals. Any other error is thrown. */
const REFUSALS = new Set([
  "PathOutOfScope",
  "WorkdirNotFound",
  "InvalidRequest",
  "ResourceLimitExceeded",
  "SandboxUnavailable",
]);

/**
 * Submits a request. This is the only code that starts commands (invariant 1), and every surface calls it.
 *
 * 1. validate   the request against its schema (validate.ts)
 * 2. plan       workspace, environment, limits, sandbox profile: plain data (plan.ts)
 * 3. inspect    shell text -> the commands it would run (decide.ts, shell/)
 * 4. decide     facts and policy -> blocked, deny, ask or allow, with reasons (decide.ts, policy/)
 * 5. authorize  approval by a person, where required (authorize.ts)
 * 6. record     session row, audit entry and use of the approval in one transaction, before anything runs (record.ts)
 * 7. launch     the executor takes over
 */
export async function submit(context: GatewayContext, input: unknown, options: SubmitOptions): Promise<Submission> {
  const request = validate(input);
  const attempt: Attempt = {
    id: options.id ?? newId(),
    request,
    background: options.background,
    plan: null,
    verdict: null,
    sandbox: null,
    askedBy: options.askedBy,
    shell: options.shell,
  };
  context.checkpoint("received", attempt.id);
  try {
    assertPlacement(context, request);
    if (options.byOperator) attempt.request = { ...attempt.request, sandbox: "off" };
    if (options.logFolder !== undefined) attempt.request = withLogFile(context, options.logFolder, attempt);
    return await authorizeAndLaunch(context, attempt, options);
  } catch (error) {
    if (!(error instanceof SallyportError) || !REFUSALS.has(error.type)) throw error;
    if (options.ours) await options.ours;
    return refuse(context, attempt, requestFailed(error), null);
  }
}

/** A request that was decided on and not run. */
export type Preparation = { plan: PlannedRun["plan"]; approvalId: string | null } & (
  | { verdict: "allow" | "ask" }
  | { verdict: "refused"; refusal: Refusal }
);

/**
 * Decides on a request without running it, for a caller that lets another process run it. A refusal is recorded. With
 * `ask`, so is a request for approval, which the process that runs the command uses.
 */
export async function prepare(context: GatewayContext, input: unknown, ask: boolean): Promise<Preparation> {
  const attempt: Attempt = {
    id: newId(),
    request: validate(input),
    background: false,
    plan: null,
    verdict: null,
    sandbox: null,
  };
  const run = planRun(context, attempt);
  const { plan, verdict } = run;
  if (verdict.verdict === "allow" || (verdict.verdict === "ask" && !ask))
    return { plan, approvalId: null, verdict: verdict.verdict };
  const authorization = await authorize(context, run, { approvalTimeoutMs: 0, signal: undefined });
  if (authorization.go) return { plan, approvalId: null, verdict: "allow" };
  const { refusal, approvalId } = authorization;
  refuse(context, run, refusal, approvalId);
  const pending = refusal.status === "pending";
  return { plan, approvalId, ...(pending ? { verdict: "ask" } : { verdict: "refused", refusal }) };
}

async function authorizeAndLaunch(
  context: GatewayContext,
  attempt: Attempt,
  options: SubmitOptions,
): Promise<Submission> {
  for (let changes = 0; ; changes++) {
    let run = planRun(context, attempt);
    context.checkpoint("decided", run.id);
    const authorization = await authorizationFor(context, run, options);
    if (options.ours) await options.ours;
    context.checkpoint("authorized", run.id);
    if (!authorization.go) return refuse(context, run, authorization.refusal, authorization.approvalId);
    if (authorization.approval) {
      // The policy may have changed while the request was pending; an approval cannot override it (invariant 3).
      const now = planRun(context, attempt);
      if (isForbidden(now.verdict)) return refuse(context, now, commandRefused(now.verdict), authorization.approval.id);
      // An approval for one sandbox is not valid for another (invariant 2).
      if (confinementText(now.sandbox) !== confinementText(run.sandbox)) {
        if (changes === MOST_CHANGES) return refuse(context, run, changedAfterApproval(), authorization.approval.id);
        continue;
      }
      run = withId(run, authorization.approval.session ?? run.id);
    }
    const launched = await recordAndLaunch(context, run, authorization);
    if (launched) return launched;
    // A bound file changed between approval and launch, so the approval does not apply (invariant 2).
    if (changes === MOST_CHANGES)
      return refuse(context, { ...run, id: attempt.id }, changedAfterApproval(), authorization.approval?.id ?? null);
  }
}

/** Returns the run under the ID of the session that has waited for its approval. */
function withId(run: PlannedRun, id: string): PlannedRun {
  const logFile = run.plan.logFile?.replaceAll(run.id, id) ?? null;
  return { ...run, id, plan: { ...run.plan, id, logFile } };
}

function authorizationFor(
  context: GatewayContext,
  run: PlannedRun,
  options: SubmitOptions,
): Authorization | Promise<Authorization> {
  if (options.byOperator && run.verdict.verdict !== "blocked") return BY_OPERATOR;
  return options.vouch?.(run) ?? authorize(context, run, options);
}

function refuse(context: GatewayContext, attempt: Attempt, refusal: Refusal, approvalId: string | null): Submission {
  const { name, session } = recordRefusal(context, attempt, refusal, approvalId);
  context.notify({ type: "refused", session: session.id, command: attempt.request.command, status: refusal.status });
  return { name, session, verdict: attempt.verdict, approvalId, execution: null, refusal };
}

/** Records and launches a run. Returns null when the command is no longer the one that was approved. */
async function recordAndLaunch(
  context: GatewayContext,
  run: PlannedRun,
  authorization: Authorized,
): Promise<Submission | null> {
  const slot = await context.executor.prepare();
  context.checkpoint("prepared", run.id);
  try {
    const recorded = recordRun(context, run, authorization, slot.keeperPid);
    if (!recorded) {
      slot.cancel();
      return null;
    }
    context.checkpoint("recorded", run.id);
    const { name, session } = recorded;
    const moved = (keeperPid: number) => context.registry.store.setKeeper(run.id, keeperPid);
    const origin = originOf(context, run, authorization, name);
    const execution = slot.launch({ ...run.plan, label: labelOf(name, session), ...(origin ? { origin } : {}) }, moved);
    context.checkpoint("launched", run.id);
    context.registry.track(execution, session);
    context.notify({ type: "started", session: run.id, command: run.request.command });
    const tier = currentSettings(context).settings.permissions.run ?? context.defaultPermissions.run;
    if (tier === "notify") context.notify({ type: "operation", operation: "run", session: run.id });
    return { name, session, verdict: run.verdict, approvalId: authorization.approval?.id ?? null, execution };
  } catch (error) {
    slot.cancel();
    throw error;
  }
}

/** The maximum length of a text in a label, in characters. */
const LABEL_TEXT = 256;
/** The maximum size of a label in bytes: it must fit into the space that its keeper reserves. */
const MOST_LABEL = 2900;

/** Returns what the keeper stores about a session, in case its row is lost. */
function labelOf(name: string, session: Omit<NewSession, "name">): string {
  const { agent, command, cwd, background, capture, created_ms: createdMs } = session;
  const text = (value: string) => (value.length > LABEL_TEXT ? `${value.slice(0, LABEL_TEXT).toWellFormed()}…` : value);
  const rest = { agent, background: background === 1, capture, createdMs };
  const label = JSON.stringify({ name: text(name), command: text(command), cwd: text(cwd), ...rest });
  // Escaped characters take up to six bytes.
  return Buffer.byteLength(label) <= MOST_LABEL ? label : JSON.stringify({ name: "", command: "…", cwd: "/", ...rest });
}

/** Returns the data with which a worker plans and checks the run again. Undefined when commands run on this machine. */
function originOf(
  context: GatewayContext,
  run: PlannedRun,
  { approval, grants }: Authorized,
  name: string,
): Origin | undefined {
  if (!context.executor.abilities.remote) return undefined;
  const asked = approval || grants.length > 0;
  const approvers = approval ? (context.approvals.get(approval.id)?.decisions ?? []).map(({ who }) => who) : [];
  return {
    agent: context.agent,
    name,
    workspace: currentSettings(context).confinement.scope.root,
    request: run.request,
    approval: asked ? { approval: approval?.id ?? null, grants: [...grants], approvers } : null,
  };
}
