import type { Settings } from "../config/settings.ts";
import type { RunRequest } from "../contract/request.ts";
import type { LaunchLimits } from "../executor/executor.ts";
import { type Environment, type EnvironmentRules, sanitizeEnvironment, withFixedPath } from "./environment.ts";
import { configuredLimits, tightened } from "./limits.ts";
import { resolveInWorkspace, type Scope, workspaceScope } from "./workspace.ts";

/** What an agent's commands are confined to: made once per configuration, not per request. */
export interface Confinement {
  scope: Scope;
  /** A snapshot of the gateway's own environment; nobody changes it afterwards. */
  parentEnv: Readonly<Environment>;
  envRules: EnvironmentRules;
  limits: LaunchLimits;
}

/** The part of a request that says where and with what a command runs, checked and settled. Bound by an approval. */
export interface Confined {
  cwd: string;
  logFile: string | null;
  /** The keeper opens `cwd` and `logFile` beneath it; null where paths may lead anywhere. */
  root: string | null;
  env: Environment;
  limits: LaunchLimits;
}

export interface Surroundings {
  workspace: string;
  /** Sallyport's own folders: its state and the operator's configuration. */
  keepOut: readonly string[];
  parentEnv: Readonly<Environment>;
}

export function confinementOf(settings: Settings, { workspace, keepOut, parentEnv }: Surroundings): Confinement {
  return {
    scope: workspaceScope(workspace, { anywhere: settings.scope === "anywhere", keepOut }),
    parentEnv: withFixedPath(parentEnv),
    envRules: settings.env,
    limits: configuredLimits(settings),
  };
}

/** From what was asked to what is given. Throws PathOutOfScope, WorkdirNotFound or InvalidRequest. */
export function confine(request: RunRequest, { scope, parentEnv, envRules, limits }: Confinement): Confined {
  return {
    cwd: resolveInWorkspace(scope, request.cwd, "cwd"),
    logFile: request.logFile === undefined ? null : resolveInWorkspace(scope, request.logFile, "logFile"),
    root: scope.anywhere ? null : scope.root,
    env: sanitizeEnvironment(parentEnv, request.env, envRules),
    limits: tightened(limits, request.limits),
  };
}
