import { homedir } from "node:os";
import type { LaunchLimits, SandboxCapabilities } from "../core/launch.ts";
import type { RunRequest } from "../core/request.ts";
import type { Settings } from "../core/settings.ts";
import { type Environment, type EnvironmentRules, sanitizeEnvironment, withFixedPath } from "./environment.ts";
import { assertLogPath } from "./escalation.ts";
import { configuredLimits, tightenLimits } from "./limits.ts";
import { privateTmpVariables } from "./private-tmp.ts";
import { type SandboxPlan, SandboxPlanner } from "./sandbox.ts";
import { commandUser, environmentAsUser } from "./user.ts";
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
  planner: SandboxPlanner;
}

/** The part of a request that says where and with what a command runs, checked and settled. Bound by an approval. */
export interface Confined {
  cwd: string;
  logFile: string | null;
  /** The keeper opens `cwd` and `logFile` beneath it; null where paths may lead anywhere. */
  root: string | null;
  env: Environment;
  limits: LaunchLimits;
  sandbox: SandboxPlan;
}

interface ConfinementContext {
  workspace: string;
  agent: string;
  state: string;
  /** Sallyport's own folders: its state and the operator's configuration. */
  keepOut: readonly string[];
  parentEnv: Readonly<Environment>;
  /** Commands run on other machines. */
  remote?: boolean;
  /** What there is to confine with; null: the executor cannot. */
  capabilities: () => SandboxCapabilities | null;
}

export function createConfinement(settings: Settings, context: ConfinementContext): Confinement {
  const { workspace, agent, state, keepOut, capabilities } = context;
  const scope = workspaceScope(workspace, {
    anywhere: settings.scope === "anywhere",
    remote: context.remote ?? false,
    keepOut,
  });
  const user = commandUser(settings.user);
  const parentEnv = environmentAsUser(withFixedPath(context.parentEnv), user);
  const home = context.parentEnv.HOME || homedir();
  const planner = new SandboxPlanner({
    settings,
    workspace: scope.root,
    agent,
    state,
    keepOut,
    home,
    user,
    capabilities,
  });
  return {
    scope,
    parentEnv,
    privateEnv: { ...parentEnv, ...privateTmpVariables(planner.folder, settings.env.pass) },
    envRules: settings.env,
    limits: configuredLimits(settings),
    planner,
  };
}

/** From what was asked to what is given. Throws PathOutOfScope, WorkdirNotFound or InvalidRequest. */
export function confine(request: RunRequest, confinement: Confinement): Confined {
  const { scope, parentEnv, privateEnv, envRules, limits, planner } = confinement;
  const sandbox = planner.prepare(request);
  const cwd = resolveInWorkspace(scope, request.cwd, "cwd");
  const logFile = request.logFile === undefined ? null : resolveInWorkspace(scope, request.logFile, "logFile");
  if (logFile !== null) assertLogPath(logFile, sandbox);
  return {
    cwd,
    logFile,
    root: scope.anywhere ? null : scope.root,
    env: sanitizeEnvironment(sandbox.spec?.temporary ? privateEnv : parentEnv, request.env, envRules),
    limits: tightenLimits(limits, request.limits),
    sandbox,
  };
}
