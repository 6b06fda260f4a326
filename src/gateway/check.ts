/** Checks a command without running it: inspects it and applies the policy. Programs are looked up on this machine. */

import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { notGrantable } from "../approval/errors.ts";
import { grantable } from "../approval/grantable.ts";
import { operatorConfigPath } from "../config/load.ts";
import type { GrantTarget } from "../core/approval.ts";
import { SallyportError } from "../core/error.ts";
import type { Ask, Policy, Security, Verdict } from "../core/policy.ts";
import type { RunRequest } from "../core/request.ts";
import type { Settings } from "../core/settings.ts";
import { sandboxCapabilities } from "../executor/native/probe.ts";
import { decide } from "../policy/decide.ts";
import { effectiveModes } from "../policy/modes.ts";
import { createConfinement } from "../sandbox/confine.ts";
import type { Escalation } from "../sandbox/escalation.ts";
import type { SandboxPlan } from "../sandbox/sandbox.ts";
import { commandRefused } from "../session/refusal.ts";
import { inspect, inspectArgv } from "../shell/inspect.ts";
import type { InspectContext, Lookup } from "../shell/lookup.ts";
import { systemLookup } from "../shell/lookup.ts";
import { defaultState } from "../storage/state-folder.ts";
import { withEscalations } from "./decide.ts";

export interface CheckOptions {
  /** The working directory of the command. Default: the workspace. */
  cwd?: string;
  /** The workspace of the agent. Default: the current directory. */
  workspace?: string;
  security?: Security;
  ask?: Ask;
  agent?: string;
  /** Whether the command would run sandboxed. */
  confined?: boolean;
  /** The ways in which the request exceeds the configured sandbox. */
  escalations?: readonly Escalation[];
  policy?: Policy;
  home?: string;
  /** Environment variables whose values are known. */
  env?: Readonly<Record<string, string | undefined>>;
  lookup?: Lookup;
}

let shared: Lookup | null = null;

/**
 * Returns the verdict on a command: shell text when it is a string, a program with its arguments when it is an array.
 */
export function check(command: string | readonly string[], options: CheckOptions = {}): Verdict {
  const workspace = options.workspace ?? options.cwd ?? process.cwd();
  const home = options.home ?? homedir();
  if (!options.lookup) shared ??= systemLookup();
  const context: InspectContext = {
    cwd: options.cwd ?? workspace,
    home,
    workspace,
    env: options.env ?? {},
    lookup: options.lookup ?? (shared as Lookup),
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
    confined: options.confined ?? false,
    now: Date.now(),
    agent: options.agent ?? null,
    request: modes,
  });
  return withEscalations(verdict, options.escalations ?? [], effectiveModes(policy, modes).miss);
}

/** Returns whether a request would run sandboxed on this machine, and its escalations. */
export function heldBy(
  settings: Settings,
  { workspace, agent }: { workspace: string; agent: string },
  request: Pick<RunRequest, "sandbox" | "network" | "writable">,
): Pick<SandboxPlan, "confined" | "escalations"> {
  const parentEnv = { HOME: homedir() };
  const state = defaultState();
  const keepOut = [state, dirname(operatorConfigPath())];
  const surroundings = { workspace, agent, state, keepOut, parentEnv, capabilities: sandboxCapabilities };
  return createConfinement(settings, surroundings).planner.plan(request);
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
