import { callerHome } from "../core/caller.ts";
import type { HostAccess, LaunchLimits, SandboxCapabilities } from "../core/launch.ts";
import type { RunRequest } from "../core/request.ts";
import type { Settings } from "../core/settings.ts";
import { type Environment, type EnvironmentRules, sanitizeEnvironment, withFixedPath } from "./environment.ts";
import { assertLogPath } from "./escalation.ts";
import { configuredLimits, tightenLimits } from "./limits.ts";
import { privateTmpVariables } from "./private-tmp/variables.ts";
import { type SandboxPlan, SandboxPlanner } from "./sandbox.ts";
import { commandUser, environmentAsUser, homesOf } from "./user.ts";
import { resolveInWorkspace, type Scope, workspaceScope } from "./workspace.ts";

/** The restrictions on all commands of an agent. Created once per configuration. */
export interface Confinement {
  scope: Scope;
  /** An immutable snapshot of the gateway's environment, adapted to the user that commands run as. */
  parentEnv: Readonly<Environment>;
  /** The same for commands with a private temporary directory. */
  privateEnv: Readonly<Environment>;
  envRules: EnvironmentRules;
  limits: LaunchLimits;
  planner: SandboxPlanner;
}

/** The resolved paths, environment, limits and sandbox of one request. An approval is bound to them. */
export interface Confined {
  cwd: string;
  logFile: string | null;
  /** The folder beneath which the keeper opens `cwd` and `logFile`. Null when the scope is `anywhere`. */
  root: string | null;
  env: Environment;
  limits: LaunchLimits;
  sandbox: SandboxPlan;
}

interface ConfinementContext {
  workspace: string;
  agent: string;
  state: string;
  /** The state folder and the operator's configuration folder. */
  keepOut: readonly string[];
  parentEnv: Readonly<Environment>;
  /** Whether commands run on other machines. */
  remote?: boolean;
  /** The additional access of an agent's program, which the settings include. Null for commands. */
  host?: HostAccess | null;
  /** Returns the sandbox features of this machine, or null when the executor cannot sandbox commands. */
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
  const home = context.parentEnv.HOME || callerHome();
  const planner = new SandboxPlanner({
    settings,
    workspace: scope.root,
    agent,
    state,
    keepOut,
    home,
    homes: homesOf(home, user),
    user,
    path: parentEnv.PATH ?? "",
    host: context.host ?? null,
    capabilities,
  });
  return {
    scope,
    parentEnv,
    privateEnv: { ...parentEnv, ...privateTmpVariables(planner.tmpdir, settings.env.pass) },
    envRules: settings.env,
    limits: configuredLimits(settings),
    planner,
  };
}

/** Resolves a request against its confinement. Throws PathOutOfScope, WorkdirNotFound or InvalidRequest. */
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
