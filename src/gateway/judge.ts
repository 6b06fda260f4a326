import { type Permission, policyOf, type Settings } from "../config/settings.ts";
import type { RunRequest } from "../contract/request.ts";
import type { Decision, Reason, Verdict } from "../contract/verdict.ts";
import type { LaunchSpec } from "../executor/executor.ts";
import { decide } from "../policy/decide.ts";
import type { Lookup } from "../shell/context.ts";
import { inspect, inspectArgv } from "../shell/inspect.ts";
import { systemLookup } from "../shell/lookup.ts";

/** Lookups remember what they found for a moment; one per PATH. */
const lookups = new Map<string, Lookup>();
const MOST_LOOKUPS = 32;

export function lookupFor(path: string): Lookup {
  let lookup = lookups.get(path);
  if (!lookup) {
    if (lookups.size >= MOST_LOOKUPS) lookups.clear(); // an agent may name any number of paths
    lookup = systemLookup(path);
    lookups.set(path, lookup);
  }
  return lookup;
}

type Plan = Pick<LaunchSpec, "cwd" | "env" | "path">;

/** Understands the command and decides. What is judged is the plan: the very folder and environment it will get. */
export function judge(
  request: RunRequest,
  plan: Plan,
  settings: Settings,
  who: { agent: string; workspace: string; tier?: Permission | undefined },
): Verdict {
  const home = plan.env.HOME ?? "/";
  const context = { cwd: plan.cwd, home, workspace: who.workspace, env: plan.env, lookup: lookupFor(plan.path) };
  const analysis = request.args
    ? inspectArgv([request.command, ...request.args], context)
    : inspect(request.command, context);
  const verdict = decide(analysis, policyOf(settings), {
    workspace: who.workspace,
    home,
    confined: false,
    now: Date.now(),
    agent: who.agent,
    request: {
      ...(request.security ? { security: request.security } : {}),
      ...(request.ask ? { ask: request.ask } : {}),
    },
  });
  return withPermission(verdict, settings.permissions.run ?? who.tier ?? null);
}

/** No person's word lifts it. */
export function isForbidden({ verdict }: Verdict): boolean {
  return verdict === "blocked" || verdict === "deny";
}

const SEVERITY: readonly Decision[] = ["allow", "ask", "deny", "blocked"];

/** The tier of the operation itself: it can only make the verdict stricter. */
function withPermission(verdict: Verdict, permission: Settings["permissions"]["run"]): Verdict {
  if (permission !== "ask" && permission !== "deny") return verdict;
  if (SEVERITY.indexOf(verdict.verdict) >= SEVERITY.indexOf(permission)) return verdict;
  const message =
    permission === "ask" ? "Running a command needs a person's yes here." : "Running commands is switched off here.";
  const reason: Reason = { rule: `permission-${permission}`, message, span: null, suggestion: null };
  return { ...verdict, verdict: permission, reasons: [reason, ...verdict.reasons] };
}
