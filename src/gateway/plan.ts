import { join } from "node:path";
import { SallyportError } from "../core/error.ts";
import type { LaunchSpec } from "../core/launch.ts";
import type { Verdict } from "../core/policy.ts";
import type { RunRequest } from "../core/request.ts";
import type { Settings } from "../core/settings.ts";
import { needsFleet } from "../fleet/errors.ts";
import { confine } from "../sandbox/confine.ts";
import { launchSpec, type ShellForm } from "../sandbox/launch-spec.ts";
import { assertEnforced } from "../sandbox/level.ts";
import type { SandboxPlan } from "../sandbox/sandbox.ts";
import { makeFolder } from "../sandbox/workspace.ts";
import { mayHaveTerminal } from "../shell/needs-terminal.ts";
import type { GatewayContext } from "./context.ts";
import { inspectAndDecide } from "./decide.ts";
import { currentSettings } from "./settings.ts";

/** A request in progress. A request that is refused early has neither a plan nor a verdict. */
export interface Attempt {
  id: string;
  request: RunRequest;
  background: boolean;
  plan: LaunchSpec | null;
  verdict: Verdict | null;
  sandbox: SandboxPlan | null;
  askedBy?: string | undefined;
  /** Set when a program that acts as a shell runs the command. */
  shell?: ShellForm | undefined;
}

/** A request with its resolved plan and verdict. */
export interface PlannedRun extends Attempt {
  plan: LaunchSpec;
  verdict: Verdict;
  sandbox: SandboxPlan;
  limits: Settings["limits"];
}

/** Throws InvalidRequest when a host, labels or a retry are requested and there is no fleet. */
export function assertPlacement({ executor }: GatewayContext, { host, labels, retry }: RunRequest): void {
  if (executor.abilities.remote) return;
  const asked = host !== undefined ? "host" : labels ? "labels" : retry ? "retry" : null;
  if (asked) throw new SallyportError("InvalidRequest", ...needsFleet(asked));
}

/** Returns the request with a log file in `folder`. Creates the folder if it does not exist. */
export function withLogFile(context: GatewayContext, folder: string, { request, id }: Attempt): RunRequest {
  const { scope } = currentSettings(context).confinement;
  return { ...request, logFile: `${makeFolder(scope, folder)}/${id}.log` };
}

/** Plans the command with the current settings, inspects it and applies the policy. */
export function planRun(context: GatewayContext, attempt: Attempt): PlannedRun {
  const run = planOnce(context, attempt);
  if (attempt.request.pty !== "auto" || !mayHaveTerminal(attempt.request, run.verdict.commands)) return run;
  // A terminal changes the environment, so the decision must be based on a plan with the terminal (invariant 2).
  return { ...planOnce(context, { ...attempt, request: { ...attempt.request, pty: true } }), request: attempt.request };
}

/** Returns the text that bash runs for a program that acts as a shell. A worker runs the command itself. */
function shellText({ state, executor }: GatewayContext, { shell, id }: Attempt, { spec }: SandboxPlan) {
  if (!shell || executor.abilities.remote) return null;
  const folder = spec === null ? join(state, "sessions", id) : spec.temporary;
  return { options: shell.options, text: shell.text(folder === null ? null : join(folder, `.directory-${id}`)) };
}

function planOnce(context: GatewayContext, attempt: Attempt): PlannedRun {
  const { request, id, background } = attempt;
  const { settings, confinement } = currentSettings(context);
  const confined = confine(request, confinement);
  const { sandbox } = confined;
  assertEnforced(sandbox, settings.require);
  const plan = launchSpec(request, confined, settings, id, background, shellText(context, attempt, sandbox));
  const who = { agent: context.agent, workspace: confinement.scope.root, tier: context.defaultPermissions.run };
  const verdict = inspectAndDecide(request, plan, settings, who, sandbox);
  return { ...attempt, plan, verdict, sandbox, limits: settings.limits };
}
