/** Checks a command without running it: inspects it and applies the policy. Programs are looked up on this machine. */

import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { notGrantable } from "../approval/errors.ts";
import { grantable } from "../approval/grantable.ts";
import { operatorConfigPath } from "../config/load.ts";
import type { GrantTarget } from "../core/approval.ts";
import { callerEnv, callerFolder, callerHome } from "../core/caller.ts";
import { SallyportError } from "../core/error.ts";
import type { Ask, Policy, Security, Verdict } from "../core/policy.ts";
import type { RunRequest } from "../core/request.ts";
import type { Settings } from "../core/settings.ts";
import { sandboxCapabilities } from "../executor/native/probe.ts";
import { selectExecutor } from "../executor/select-executor.ts";
import { decide } from "../policy/decide.ts";
import { effectiveModes } from "../policy/modes.ts";
import { type Confinement, createConfinement } from "../sandbox/confine.ts";
import type { Escalation } from "../sandbox/escalation.ts";
import type { RequiredSandbox } from "../sandbox/level.ts";
import type { SandboxPlan } from "../sandbox/sandbox.ts";
import { commandRefused } from "../session/refusal.ts";
import { inspect, inspectArgv } from "../shell/inspect.ts";
import type { InspectContext, Lookup } from "../shell/lookup.ts";
import { systemLookup } from "../shell/lookup.ts";
import { defaultState } from "../storage/state-folder.ts";
import { withEnforcement, withEscalations, withLevel } from "./decide.ts";

export interface CheckOptions {
  /** The working directory of the command. Default: the workspace. */
  cwd?: string;
  /** The workspace of the agent. Default: the current directory. */
  workspace?: string;
  security?: Security;
  ask?: Ask;
  agent?: string;
  /** Whether the command counts as confined. Default: whether `sandbox` is fully enforced. */
  confined?: boolean;
  /** The sandbox that the command would run in, and the configured `require`. Default: none. */
  sandbox?: RequiredSandbox & { escalations: readonly Escalation[]; require: boolean | null };
  policy?: Policy;
  home?: string;
  /** Environment variables whose values are known. */
  env?: Readonly<Record<string, string | undefined>>;
  lookup?: Lookup;
}

let shared: { path: string | undefined; lookup: Lookup } | null = null;

/** Returns the lookup on the caller's PATH. It is kept, because it caches what it finds. */
function sharedLookup(): Lookup {
  const path = callerEnv().PATH;
  if (shared === null || shared.path !== path) shared = { path, lookup: systemLookup() };
  return shared.lookup;
}

/**
 * Returns the verdict on a command: shell text when it is a string, a program with its arguments when it is an array.
 */
export function check(command: string | readonly string[], options: CheckOptions = {}): Verdict {
  const workspace = options.workspace ?? options.cwd ?? callerFolder();
  const home = options.home ?? callerHome();
  const context: InspectContext = {
    cwd: options.cwd ?? workspace,
    home,
    workspace,
    env: options.env ?? {},
    lookup: options.lookup ?? sharedLookup(),
  };
  const analysis = typeof command === "string" ? inspect(command, context) : inspectArgv(command, context);
  const policy = options.policy ?? {};
  const modes = {
    ...(options.security ? { security: options.security } : {}),
    ...(options.ask ? { ask: options.ask } : {}),
  };
  const verdict = decide(analysis, policy, {
    workspace,
    home,
    confined: options.confined ?? options.sandbox?.level === "full",
    now: Date.now(),
    agent: options.agent ?? null,
    request: modes,
  });
  if (!options.sandbox) return verdict;
  const { escalations, require } = options.sandbox;
  const explained = withLevel(verdict, options.sandbox);
  const asked = withEscalations(explained, escalations, effectiveModes(policy, modes).miss);
  return withEnforcement(asked, options.sandbox, require);
}

/**
 * Returns the sandbox that a request would run in on this machine. Default: the state folder of this environment.
 * `confinement` is the one of these settings, if a gateway has it already.
 */
export function sandboxFor(
  settings: Settings,
  {
    workspace,
    agent,
    state = defaultState(),
    confinement,
  }: { workspace: string; agent: string; state?: string; confinement?: Confinement | undefined },
  request: Pick<RunRequest, "sandbox" | "network" | "writable">,
): SandboxPlan & { require: Settings["require"]; reserved: readonly string[] } {
  const keepOut = [state, dirname(operatorConfigPath())];
  const capabilities = () => (selectExecutor(state).kind === "native" ? sandboxCapabilities() : null);
  const parentEnv = { HOME: callerHome() };
  const surroundings = { workspace, agent, state, keepOut, parentEnv, capabilities };
  const { planner } = confinement ?? createConfinement(settings, surroundings);
  return { ...planner.plan(request), require: settings.require, reserved: keepOut };
}

/** Returns the commands that a grant would cover. Throws when the command is blocked, denied or not grantable. */
export function grantTargets(argv: string[], cwd: string, agent: string): GrantTarget[] {
  const verdict = check(argv, { cwd, agent });
  if (verdict.verdict === "blocked" || verdict.verdict === "deny") {
    const { error } = commandRefused(verdict);
    throw new SallyportError(error.type, error.message, error.recovery);
  }
  const found = grantable(verdict, { workspace: cwd });
  if (!found.ok) throw notGrantable(found.why);
  return found.commands.map((target) => ({ ...target, cwd: realpathSync.native(target.cwd) }));
}
