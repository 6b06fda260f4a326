import { type Binding, bindingOf, needsAllFiles } from "../approval/binding.ts";
import type { NewApproval } from "../approval/describe.ts";
import { isGrantedBy } from "../approval/grantable.ts";
import type { Approval, ApprovalDecision } from "../core/approval.ts";
import type { SandboxSpec } from "../core/launch.ts";
import type { Settings } from "../core/settings.ts";
import { confinementText } from "../sandbox/describe.ts";
import { isWithin } from "../sandbox/workspace.ts";
import { approvalDenied, approvalPending, commandRefused, type Refusal } from "../session/refusal.ts";
import { ApprovalRequired, type GatewayContext, type WaitOptions } from "./context.ts";
import { isForbidden, lookupFor } from "./decide.ts";
import type { PlannedRun } from "./plan.ts";
import { currentSettings } from "./settings.ts";

const WORKER_FILES = "all files on the machine of the worker that runs it";

/** Returns the sandbox and the log file of a command as shown to the approver. */
function confinementIn({ plan: { logFile, id }, sandbox }: PlannedRun): string {
  const bounds = confinementText(sandbox);
  // The session ID differs between attempts. Without it, one approval covers all attempts at the same command.
  return logFile === null
    ? bounds
    : `${bounds}; the command's output overwrites ${logFile.replaceAll(id, "<session id>")}`;
}

/**
 * Returns what the approver is told about paths in folders that a private directory hides from the command: a file with
 * that name on this machine is not the one that the command uses (invariant 2).
 */
function privatePaths(spec: SandboxSpec | null, texts: readonly string[]): string[] {
  if (spec === null) return [];
  const visible = [...spec.writable, ...spec.readable, ...(spec.temporary === null ? [] : [spec.temporary])];
  return spec.binds.flatMap(({ at }) => {
    const named = texts.flatMap((text) => text.split(/[\s'"`;|&<>()=:,]+/)).filter((word) => isWithin(word, at));
    const hidden = named.some((word) => !visible.some((folder) => isWithin(word, folder)));
    return hidden ? [`files in ${at}, which is private to the agent`] : [];
  });
}

/** Returns the expiry and quorum for a new approval request from the current settings. */
export function approvalTerms(settings: Settings): Pick<NewApproval, "expiresMs" | "quorum"> {
  const { expiresMinutes, quorum } = settings.approvals;
  return { expiresMs: expiresMinutes * 60_000, quorum };
}

/** Whether a planned run may start, and by which approval or grants, or why it may not. */
export type Authorization =
  | {
      go: true;
      /** `session` is the session that has waited for the approval, and now becomes the one that runs. */
      approval: { id: string; binding: () => Binding; session: string | null } | null;
      grants: string[];
      /**
       * Set on a worker when the run was approved at another gateway: the gateway that attests it, and the approvers.
       */
      vouched?: { gateway: string; approval: string | null; approvers: readonly string[] };
    }
  | { go: false; refusal: Refusal; approvalId: string | null };

/** A person's answer to an approval request, given where only that request was shown. */
export interface Consent {
  approval: string;
  decision: ApprovalDecision;
}

/**
 * Turns a verdict into an authorization. Requests approval where the verdict requires it and no grant covers the run.
 */
export async function authorize(
  context: GatewayContext,
  run: PlannedRun,
  options: WaitOptions & { consent?: Consent | undefined; withoutApproval?: boolean | undefined },
): Promise<Authorization> {
  const { plan, request, verdict } = run;
  if (verdict.verdict === "allow") return { go: true, approval: null, grants: [] };

  const stdin = typeof request.stdin === "object" ? request.stdin.text : null;
  const { settings, confinement: bounds } = currentSettings(context);
  const workspace = bounds.scope.root;
  const scene = { agent: context.agent, workspace, addedEnv: Object.keys(request.env ?? {}), stdin: stdin !== null };
  // A grant counts like an entry of the allowlist, so it also covers a miss that is denied because `ask` is "off".
  const granted = isGrantedBy(verdict) && context.approvals.grants.match(verdict, scene);
  if (granted) return { go: true, approval: null, grants: granted.map(({ id }) => id) };
  // No approval can override a blocked or denied verdict (invariant 3).
  if (isForbidden(verdict)) return { go: false, refusal: commandRefused(verdict), approvalId: null };

  if (options.withoutApproval) throw new ApprovalRequired();

  const confinement = confinementIn(run);
  const binding = () => {
    const bound = bindingOf({
      command: request.command,
      // The text of a shell around the command is not the agent's, and names a file after the session.
      argv: run.shell ? ["bash", ...run.shell.options, "-c", "--", request.command] : plan.argv,
      sourced: run.shell?.sourced ?? [],
      file: plan.file,
      cwd: plan.cwd,
      env: plan.env,
      facts: verdict.commands,
      thorough: needsAllFiles(verdict),
      addedEnv: Object.keys(request.env ?? {}),
      lookup: lookupFor(plan.path),
      stdin,
      confinement,
    });
    if (context.executor.abilities.remote) return { ...bound, unbound: [WORKER_FILES] };
    const texts = [...plan.argv, stdin ?? "", ...Object.values(request.env ?? {})];
    return { ...bound, unbound: [...(bound.unbound ?? []), ...privatePaths(run.sandbox.spec, texts)] };
  };
  let asked = context.approvals.request({
    agent: context.agent,
    binding: binding(),
    verdict,
    cwd: plan.cwd,
    workspace,
    ...(request.env ? { env: request.env } : {}),
    stdin,
    confinement,
    ...approvalTerms(settings),
    intent: request.intent ?? null,
  });
  context.checkpoint("asked");
  // The request is the same one only if nothing that it is bound to has changed (invariant 2).
  const { consent } = options;
  if (consent && consent.approval === asked.id && asked.status === "pending") {
    asked = context.approvals.decide(asked.id, consent.decision);
  }
  const { approval: decided, why } = await waitForDecision(context, asked, options);
  if (decided.status === "approved") {
    const session = context.approvals.waitingSession(decided.id);
    return { go: true, approval: { id: decided.id, binding, session }, grants: [] };
  }
  const refusal = decided.status === "pending" ? approvalPending(decided, why) : approvalDenied(decided);
  return { go: false, refusal, approvalId: decided.id };
}

/** How many times a command or input whose files change after the approval is submitted for approval again. */
export const MOST_CHANGES = 3;

/** The outcome of waiting. `why` says why the call does not wait any longer for a request that is still pending. */
interface Waited {
  approval: Approval;
  why: string | null;
}

/**
 * Waits for a decision, which the caller tells the agent. Returns the pending approval when `approvalTimeoutMs` has
 * passed, or the host application's user decides later.
 */
export async function waitForDecision(context: GatewayContext, asked: Approval, options: WaitOptions): Promise<Waited> {
  const waited =
    asked.status === "pending" ? await decisionOn(context, asked, options) : { approval: asked, why: null };
  context.approvals.told(waited.approval);
  return waited;
}

async function decisionOn(
  context: GatewayContext,
  asked: Approval,
  { approvalTimeoutMs, signal }: WaitOptions,
): Promise<Waited> {
  context.notify({ type: "approval-requested", approval: asked });
  const over = new AbortController();
  const postponed = new AbortController();
  let why: string | null = null;
  const postpone = (reason: string | undefined) => {
    why = reason ?? null;
    postponed.abort();
  };
  if (context.approve) void askHost(context, asked, over.signal, postpone);
  const options = {
    ...(approvalTimeoutMs === undefined ? {} : { timeoutMs: approvalTimeoutMs }),
    signal: signal ? AbortSignal.any([signal, postponed.signal]) : postponed.signal,
  };
  try {
    return { approval: await context.approvals.wait(asked.id, options), why: null };
  } catch (error) {
    if (!postponed.signal.aborted || signal?.aborted) throw error;
    return { approval: context.approvals.get(asked.id), why };
  } finally {
    over.abort();
  }
}

/** Asks the host application's user. The answer is ignored when the request is decided elsewhere first. */
async function askHost(
  context: GatewayContext,
  asked: Approval,
  over: AbortSignal,
  postpone: (why: string | undefined) => void,
): Promise<void> {
  try {
    const answer = await context.approve?.(asked, over);
    if (!answer || over.aborted) return;
    if (answer.decision === "later") postpone("why" in answer ? answer.why : undefined);
    else context.approvals.decide(asked.id, { channel: "library", ...answer });
  } catch (error) {
    context.notify({ type: "approval-failed", approval: asked, error: error as Error });
  }
}
