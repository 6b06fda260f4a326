import { join, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { Approvals } from "../approval/approvals.ts";
import { watchConfig } from "../config/watch.ts";
import { callerEnv, callerFolder } from "../core/caller.ts";
import type { Retention } from "../core/gateway.ts";
import type { HostAccess, SandboxCapabilities } from "../core/launch.ts";
import { agentName } from "../core/names.ts";
import type { FleetGatewayOptions, Settings } from "../core/settings.ts";
import type { Executor } from "../executor/executor.ts";
import { cachedSandboxCapabilities } from "../executor/native/probe.ts";
import { assertSuitable } from "../executor/native/suitable.ts";
import { openExecutor } from "../executor/select-executor.ts";
import { fleetFromEnvironment } from "../fleet/url.ts";
import { policyOf } from "../policy/decide.ts";
import { loadPolicy } from "../policy/load.ts";
import { ALL_SUPPORTED } from "../sandbox/level.ts";
import { cleanPrivateTmps } from "../sandbox/private-tmp/clean.ts";
import { Quota } from "../sandbox/quota.ts";
import { recoverAfterRestart } from "../session/after-restart.ts";
import { Registry } from "../session/registry.ts";
import { cleanExecLogs, cleanIfDue, type Removal } from "../session/retention.ts";
import { LocalSessionReader } from "../session/session-folder.ts";
import { AllowlistUse } from "../storage/allowlist-use.ts";
import { AuditLog } from "../storage/audit.ts";
import { openDatabase, syncEveryCommit, syncsEveryCommit } from "../storage/database.ts";
import { keepReserve } from "../storage/reserve.ts";
import { Restarts } from "../storage/restarts.ts";
import { SessionStore } from "../storage/sessions.ts";
import { defaultState, openStateFolder } from "../storage/state-folder.ts";
import { WorkQueue } from "../storage/work.ts";
import type { GatewayContext } from "./context.ts";
import { Gateway } from "./gateway.ts";
import { assertHostSupported } from "./host.ts";
import { auditRemovals, createDispatcher, Maintenance } from "./maintenance.ts";
import { onSessionEnd } from "./on-session-end.ts";
import { assertKnownOptions, type GatewayOptions } from "./options.ts";
import { recordConfigWithRun, recordLoadedConfig } from "./settings.ts";

const CLEAN_EVERY_MS = 15 * 60 * 1000;
/** How often sessions of closed gateways are adopted, so that their exits are recorded. */
const RECOVER_EVERY_MS = 5000;
/** Temporary directories that no command has used for this long are removed. */
const UNUSED_MS = 24 * 3600 * 1000;
/** How long completed work items and decided approvals are kept when sessions are kept forever. */
const SETTLED_MS = 90 * 24 * 3600 * 1000;

/** Returns a copy of the caller's environment, so that later changes to it do not affect commands. */
export function ownEnvironment(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(callerEnv())) if (value !== undefined) env[name] = value;
  return env;
}

function retentionOf({ retention }: Settings, given: Partial<Retention> = {}): Retention {
  const { maxAgeHours, maxCount, maxBytes } = retention;
  return { maxAgeMs: maxAgeHours * 3600 * 1000, maxCount, maxBytes, ...given };
}

/**
 * Opens a gateway for one agent in one workspace. Several gateways, in one or more processes, can share a
 * state folder.
 *
 * Rejects with `InvalidRequest` for an unknown option, `InvalidConfiguration` for an invalid configuration, and
 * `StateUnusable` when the state folder cannot be used.
 *
 * @example
 * ```ts
 * import { openGateway } from "sallyport";
 *
 * const builder = await openGateway({ agent: "builder" });
 * const { status, output } = await builder.run({ command: "echo hello" });
 * console.log(status, output.trim()); // completed hello
 * await builder.close();
 * ```
 */
export async function openGateway(options: GatewayOptions = {}): Promise<Gateway> {
  return openGatewayWith(options, () => {});
}

/** Opens a gateway that starts the program of an agent, with more access than the agent's commands have. */
export async function openHostGateway(options: GatewayOptions, host: HostAccess): Promise<Gateway> {
  return openGatewayWith(options, () => {}, host);
}

/** Opens a gateway that calls `checkpoint` between the steps of a request, for traces and tests. */
export async function openGatewayWith(
  options: GatewayOptions,
  checkpoint: GatewayContext["checkpoint"],
  host: HostAccess | null = null,
): Promise<Gateway> {
  assertKnownOptions(options);
  // A worker has neither the program nor its configuration, and could not reach the gateway's channel.
  const context = await createContext(options, checkpoint, { here: host !== null, host });
  try {
    if (host !== null) assertHostSupported(context);
    const { settings } = context.config.look().config;
    const retention = retentionIn(context, options.retention);
    const clean = () => cleanState(context, retention);
    clean();
    cleanLogs(context, retention().maxAgeMs);
    const maintenance = new Maintenance();
    const gateway = new Gateway(context, retention, maintenance);
    maintenance.every(CLEAN_EVERY_MS, clean);
    await context.executor.refresh(() => context.registry.store.live());
    if (options.attach ?? true) {
      await context.registry.recover();
      maintenance.every(RECOVER_EVERY_MS, () => {
        context.registry.expireApprovals();
        void context.registry.recover().catch(() => {});
      });
      maintenance.callBack(createDispatcher(settings, context));
    }
    return gateway;
  } catch (error) {
    await context.executor.close();
    context.database.close();
    throw error;
  }
}

/** Returns the function that returns the limits on finished sessions, by the current configuration. */
export function retentionIn(context: GatewayContext, given?: Partial<Retention>): () => Retention {
  return () => retentionOf(context.config.look().config.settings, given);
}

/** Removes what is past its retention, if the last time was long enough ago. */
export function cleanState(context: GatewayContext, retention: () => Retention): void {
  const audited = (removals: Removal[]) =>
    auditRemovals(context.audit, removals, { actor: "retention", channel: "gateway" });
  if (!cleanIfDue(context.registry, context.state, retention(), audited)) return;
  keepReserve(context.state);
  context.work.purge(retention().maxAgeMs || SETTLED_MS);
  context.approvals.forget(Date.now() - (retention().maxAgeMs || SETTLED_MS));
  const live = context.registry.store.live().length > 0;
  cleanPrivateTmps(context.state, { unusedMs: UNUSED_MS, maxBytes: retention().maxBytes, live });
}

/** Removes old logs of the `exec` toolset from the workspace. Best effort: errors are ignored. */
export function cleanLogs({ workspace, registry }: GatewayContext, maxAgeMs: number): void {
  if (maxAgeMs === 0) return;
  try {
    cleanExecLogs(workspace, maxAgeMs, (id) => registry.store.get(id)?.status === "running");
  } catch {
    // The folder is read-only or was removed.
  }
}

/**
 * Opens the stores and the executor of a gateway. `callbacks` is false when another gateway reports exits; `here` runs
 * commands on this machine even when a fleet is configured.
 */
export async function createContext(
  options: GatewayOptions,
  checkpoint: GatewayContext["checkpoint"],
  {
    callbacks = true,
    here = false,
    host = null,
  }: { callbacks?: boolean; here?: boolean; host?: HostAccess | null } = {},
): Promise<GatewayContext> {
  const workspace = resolve(options.workspace ?? callerFolder());
  const env = ownEnvironment();
  const given = { ...options.policy, ...(options.durability ? { durability: options.durability } : {}) };
  const config = watchConfig({
    workspace,
    given,
    ...(options.configuration === undefined ? {} : { operatorPath: options.configuration }),
  });
  const { settings } = config.look().config;
  loadPolicy(policyOf(settings));

  const state = openStateFolder(options.state ?? defaultState());
  assertSuitable(state);
  const database = openDatabase(join(state, "sallyport.db"));
  keepReserve(state);
  if (settings.durability === "power-loss") syncEveryCommit(database);
  const executor = await executorFor(
    state,
    database,
    here ? null : (options.fleet ?? fleetFromEnvironment() ?? settings.fleet),
  );
  const audit = new AuditLog(database);
  const work = new WorkQueue(database);
  const store = new SessionStore(database);
  const approvals = new Approvals(database, {
    audit: (entry) => audit.append(entry),
    expiresMs: settings.approvals.expiresMinutes * 60_000,
  });
  const restarts = new Restarts(database);
  const onEnd = onSessionEnd(audit, callbacks ? work : null, executor);
  const registry = new Registry(database, store, executor, onEnd, () => approvals.expire());
  const context: GatewayContext = {
    state,
    workspace,
    agent: agentName(options.agent ?? "default"),
    actor: options.agent ?? "default",
    channel: options.channel ?? "library",
    env,
    config,
    database,
    restarts,
    executor,
    sandboxCapabilities: () => tierOf(executor, state),
    warnedOnce: new Set(),
    registry,
    approvals,
    audit,
    allowlistUse: new AllowlistUse(database),
    work,
    quota: new Quota({
      running: (agent, limit) => registry.running(agent, limit),
      startedAround: (agent, nowMs, withinMs) => store.startedAround(agent, nowMs, withinMs),
    }),
    defaultPermissions: {},
    waitOptions: { approvalTimeoutMs: undefined, signal: undefined },
    ownOnly: false,
    sessionsById: false,
    host,
    approve: options.approve ?? null,
    notify: ignoreErrors(options.onEvent ?? (() => {})),
    checkpoint,
  };
  restarts.afterRestart((unclosed) => recoverAfterRestart(registry, audit, unclosed));
  if ((options.attach ?? true) && settings.durability !== "power-loss") restarts.opened();
  // The command line opens a gateway for each command, and most of them decide nothing.
  if (context.channel === "cli") recordConfigWithRun(context);
  else recordLoadedConfig(context);
  return context;
}

/** Opens the executor. The fleet's code is loaded only when needed, which keeps the start of other gateways fast. */
async function executorFor(
  state: string,
  database: DatabaseSync,
  fleet: FleetGatewayOptions | null,
): Promise<Executor> {
  if (fleet === null) return openExecutor(state, new LocalSessionReader(() => syncsEveryCommit(database)));
  const { FleetExecutor } = await import("../fleet/executor.ts");
  return new FleetExecutor(state, fleet);
}

/** The capabilities assumed for a fleet. A worker that lacks some of them decides again with its own capabilities. */
const FLEET_CAPABILITIES: SandboxCapabilities = {
  landlock: 1,
  mounts: "root",
  isolation: true,
  networkNamespace: true,
  seccomp: true,
  socketBroker: true,
  unsupported: ALL_SUPPORTED,
};

function tierOf({ abilities }: Executor, state: string): SandboxCapabilities | null {
  if (abilities.remote) return FLEET_CAPABILITIES;
  return abilities.confines ? cachedSandboxCapabilities(state) : null;
}

/** Wraps a listener so that an exception in it does not abort a request whose command is already running. */
function ignoreErrors(listener: GatewayContext["notify"]): GatewayContext["notify"] {
  return (event) => {
    try {
      listener(event);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  };
}
