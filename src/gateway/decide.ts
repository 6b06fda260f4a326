import { SallyportError } from "../core/error.ts";
import type { Analysis } from "../core/facts.ts";
import type { LaunchSpec } from "../core/launch.ts";
import type { Decision, Reason, Verdict } from "../core/policy.ts";
import type { RunRequest } from "../core/request.ts";
import type { Permission, Settings } from "../core/settings.ts";
import { decide, policyOf } from "../policy/decide.ts";
import { effectiveModes } from "../policy/modes.ts";
import { codeReader } from "../sandbox/code-reader.ts";
import type { Escalation } from "../sandbox/escalation.ts";
import { escalationReason, logEscalations } from "../sandbox/escalation.ts";
import { assertEnforced, type RequiredSandbox } from "../sandbox/level.ts";
import { notEnforcedText } from "../sandbox/not-enforced.ts";
import type { SandboxPlan } from "../sandbox/sandbox.ts";
import { inspect, inspectArgv } from "../shell/inspect.ts";
import type { InspectContext, Lookup } from "../shell/lookup.ts";
import { systemLookup } from "../shell/lookup.ts";

const SEVERITY: readonly Decision[] = ["allow", "ask", "deny", "blocked"];

/** Returns the verdict raised to `decision` unless it is already as strict, with the reasons added. */
function atLeast(verdict: Verdict, decision: "ask" | "deny", reasons: Reason[]): Verdict {
  const worse = SEVERITY.indexOf(verdict.verdict) >= SEVERITY.indexOf(decision);
  return worse
    ? { ...verdict, reasons: [...verdict.reasons, ...reasons] }
    : { ...verdict, verdict: decision, reasons: [...reasons, ...verdict.reasons] };
}

/** Raises the verdict to `miss` if the request exceeds the configured sandbox. */
export function withEscalations(verdict: Verdict, escalations: readonly Escalation[], miss: "ask" | "deny"): Verdict {
  return escalations.length === 0 ? verdict : atLeast(verdict, miss, escalations.map(escalationReason));
}

type Enforced = Pick<SandboxPlan, "level" | "confines" | "notEnforced">;

/** Adds why the sandbox does not let a command run that cannot be analyzed, if it is configured but not enforced. */
export function withLevel(verdict: Verdict, { level, confines, notEnforced }: Enforced): Verdict {
  const asked = verdict.verdict === "ask" || verdict.verdict === "deny";
  if (!confines || level === "full" || !asked || verdict.analyzable) return verdict;
  const what = level === "none" ? "Nothing confines commands on this machine" : "The sandbox is not fully enforced";
  const missing = level === "none" ? "" : `: ${notEnforcedText(notEnforced)}`;
  const reason: Reason = {
    rule: level === "none" ? "no-sandbox" : "partial-sandbox",
    message: `${what}${missing}.`,
    span: null,
    suggestion: null,
  };
  return { ...verdict, reasons: [...verdict.reasons, reason] };
}

/**
 * Returns the verdict of a check, with the level of the sandbox. A command that would not run because of it is denied.
 */
export function withEnforcement(verdict: Verdict, sandbox: RequiredSandbox, require: boolean | null): Verdict {
  const { level, notEnforced } = sandbox;
  const enforced = { ...verdict, sandbox: { level, notEnforced } };
  try {
    assertEnforced(sandbox, require);
    return enforced;
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error;
    const suggestion = error.recovery[0]?.hint ?? null;
    const reason: Reason = { rule: "sandbox-unavailable", message: error.message, span: null, suggestion };
    return atLeast(enforced, "deny", [reason]);
  }
}

/** Applies the permission of the operation `run`, which can only make the verdict stricter. */
export function withPermission(verdict: Verdict, permission: Permission | null): Verdict {
  if (permission !== "ask" && permission !== "deny") return verdict;
  if (SEVERITY.indexOf(verdict.verdict) >= SEVERITY.indexOf(permission)) return verdict;
  const message = permission === "ask" ? "Running commands requires approval." : "Running commands is disabled.";
  const reason: Reason = { rule: `permission-${permission}`, message, span: null, suggestion: null };
  return atLeast(verdict, permission, [reason]);
}

/** Program lookups, by the value of PATH. Each caches its results briefly. */
const lookups = new Map<string, Lookup>();
const MOST_LOOKUPS = 32;

export function lookupFor(path: string): Lookup {
  let lookup = lookups.get(path);
  if (!lookup) {
    if (lookups.size >= MOST_LOOKUPS) lookups.clear(); // An agent can set PATH to any number of values.
    lookup = systemLookup(path);
    lookups.set(path, lookup);
  }
  return lookup;
}

type Plan = Pick<LaunchSpec, "cwd" | "env" | "path"> & Partial<Pick<LaunchSpec, "logFile" | "id">>;

type Who = { agent: string; workspace: string; tier?: Permission | undefined };
type Held = Enforced & Pick<SandboxPlan, "escalations" | "spec">;

/** Returns the context in which a command or its input is inspected. */
export function inspectContext(plan: Plan, who: Who, sandbox: Pick<Held, "spec">): InspectContext {
  return {
    cwd: plan.cwd,
    home: plan.env.HOME ?? "/",
    workspace: who.workspace,
    env: plan.env,
    lookup: lookupFor(plan.path),
    readFile: codeReader(who.workspace, sandbox.spec?.denied ?? []),
  };
}

/** Inspects a command and returns the verdict, based on the working directory and environment that it will run with. */
export function inspectAndDecide(
  request: RunRequest,
  plan: Plan,
  settings: Settings,
  who: Who,
  sandbox: Held,
): Verdict {
  const context = {
    ...inspectContext(plan, who, sandbox),
    ...(typeof request.stdin === "object" ? { stdin: request.stdin.text } : {}),
  };
  const analysis = request.args
    ? inspectArgv([request.command, ...request.args], context)
    : inspect(request.command, context);
  return decideOn(analysis, request, plan, settings, who, sandbox);
}

/** Returns the verdict on a command that has been inspected. */
export function decideOn(
  analysis: Analysis,
  request: Pick<RunRequest, "security" | "ask">,
  plan: Plan,
  settings: Settings,
  who: Who,
  sandbox: Held,
): Verdict {
  const policy = policyOf(settings);
  const modes = {
    ...(request.security ? { security: request.security } : {}),
    ...(request.ask ? { ask: request.ask } : {}),
  };
  const verdict = decide(analysis, policy, {
    workspace: who.workspace,
    home: plan.env.HOME ?? "/",
    confined: sandbox.level === "full",
    now: Date.now(),
    agent: who.agent,
    request: modes,
  });
  const explained = withLevel(verdict, sandbox);
  const { sandbox: profile } = settings;
  const inForce = () => effectiveModes(policy, modes);
  const escalations = plan.logFile
    ? [...sandbox.escalations, ...logEscalations(plan, sandbox, { sandbox: profile, security: inForce().security })]
    : sandbox.escalations;
  const asked = escalations.length === 0 ? explained : withEscalations(explained, escalations, inForce().miss);
  return withPermission(asked, settings.permissions.run ?? who.tier ?? null);
}

/** Reports whether a verdict cannot be overridden by an approval. */
export function isForbidden({ verdict }: Verdict): boolean {
  return verdict === "blocked" || verdict === "deny";
}
