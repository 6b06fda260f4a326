import { homedir } from "node:os";
import type { LaunchLimits, SandboxCapabilities } from "../core/launch.ts";
import type { RunRequest } from "../core/request.ts";
import type { Settings } from "../core/settings.ts";
import { type Environment, type EnvironmentRules, sanitizeEnvironment, withFixedPath } from "./environment.ts";
import { insistOnLogPlace } from "./escalation.ts";
import { configuredLimits, tightened } from "./limits.ts";
import { privateVariables } from "./private-tmp.ts";
import { type Sandboxed, Sandboxing } from "./sandbox.ts";
import { asUser, commandUser } from "./user.ts";
import { resolveInWorkspace, type Scope, workspaceScope } from "./workspace.ts";

/** What an agent's commands are confined to: made once per configuration, not per request. */
export interface Confinement {
  scope: Scope;
  /** A snapshot of the gateway's own environment, as the user who runs commands; nobody changes it afterwards. */
  parentEnv: Readonly<Environment>;
  /** The same for a command with a temporary folder of its own. */
  privateEnv: Readonly<Environment>;
  envRules: EnvironmentRules;
  limits: LaunchLimits;
  sandboxing: Sandboxing;
}

/** The part of a request that says where and with what a command runs, checked and settled. Bound by an approval. */
export interface Confined {
  cwd: string;
  logFile: string | null;
  /** The keeper opens `cwd` and `logFile` beneath it; null where paths may lead anywhere. */
  root: string | null;
  env: Environment;
  limits: LaunchLimits;
  sandbox: Sandboxed;
}

interface Surroundings {
  workspace: string;
  agent: string;
  state: string;
  /** Sallyport's own folders: its state and the operator's configuration. */
  keepOut: readonly string[];
  parentEnv: Readonly<Environment>;
  /** Commands run on other machines. */
  elsewhere?: boolean;
  /** What there is to confine with; null: the executor cannot. */
  tier: () => SandboxCapabilities | null;
}

export function confinementOf(settings: Settings, surroundings: Surroundings): Confinement {
  const { workspace, agent, state, keepOut, tier } = surroundings;
  const scope = workspaceScope(workspace, {
    anywhere: settings.scope === "anywhere",
    elsewhere: surroundings.elsewhere ?? false,
    keepOut,
  });
  const user = commandUser(settings.user);
  const parentEnv = asUser(withFixedPath(surroundings.parentEnv), user);
  const home = surroundings.parentEnv.HOME || homedir();
  const sandboxing = new Sandboxing({ settings, workspace: scope.root, agent, state, keepOut, home, user, tier });
  return {
    scope,
    parentEnv,
    privateEnv: { ...parentEnv, ...privateVariables(sandboxing.folder, settings.env.pass) },
    envRules: settings.env,
    limits: configuredLimits(settings),
    sandboxing,
  };
}

/** From what was asked to what is given. Throws PathOutOfScope, WorkdirNotFound or InvalidRequest. */
export function confine(request: RunRequest, confinement: Confinement): Confined {
  const { scope, parentEnv, privateEnv, envRules, limits, sandboxing } = confinement;
  const sandbox = sandboxing.of(request);
  const cwd = resolveInWorkspace(scope, request.cwd, "cwd");
  const logFile = request.logFile === undefined ? null : resolveInWorkspace(scope, request.logFile, "logFile");
  if (logFile !== null) insistOnLogPlace(logFile, sandbox);
  return {
    cwd,
    logFile,
    root: scope.anywhere ? null : scope.root,
    env: sanitizeEnvironment(sandbox.spec?.temporary ? privateEnv : parentEnv, request.env, envRules),
    limits: tightened(limits, request.limits),
    sandbox,
  };
}
