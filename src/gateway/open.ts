import { join, resolve } from "node:path";
import { Approvals } from "../approval/approvals.ts";
import { watchConfig } from "../config/watch.ts";
import type { Retention } from "../core/gateway.ts";
import type { SandboxTier } from "../core/launch.ts";
import type { FleetGatewayOptions, Settings } from "../core/settings.ts";
import type { Executor } from "../executor/executor.ts";
import { cachedSandboxTier } from "../executor/native/probe.ts";
import { openExecutor } from "../executor/select-executor.ts";
import { fleetFromEnvironment } from "../fleet/url.ts";
import { policyOf } from "../policy/from-settings.ts";
import { loadPolicy } from "../policy/load.ts";
import { clearPrivateFolders } from "../sandbox/private-folder.ts";
import { Quota } from "../sandbox/quota.ts";
import { cleanExecLogs } from "../session/exec-logs.ts";
import { Registry } from "../session/registry.ts";
import { cleanIfDue } from "../session/retention.ts";
import { LocalSessionReader } from "../session/session-data.ts";
import { AllowlistUse } from "../storage/allowlist-use.ts";
import { AuditLog } from "../storage/audit.ts";
import { openDatabase } from "../storage/database.ts";
import { SessionStore } from "../storage/sessions.ts";
import { defaultState, openStateFolder } from "../storage/state-folder.ts";
import { WorkQueue } from "../storage/work.ts";
import { callbackOf } from "./callback.ts";
import { onEnded } from "./ended.ts";
import { Gateway } from "./gateway.ts";
import { type GatewayOptions, insistOnKnownOptions } from "./options.ts";
import type { Rooms } from "./rooms.ts";
import { auditConfig } from "./settings.ts";
import { Upkeep } from "./upkeep.ts";

const CLEAN_EVERY_MS = 15 * 60 * 1000;
/** Sessions that other gateways started and left are taken up this often, so that their ends are noticed. */
const LOOK_AROUND_MS = 5000;
/** A temporary folder that no command has used for so long goes. */
const UNUSED_MS = 24 * 3600 * 1000;
/** Work that is done and approvals that are settled are kept for so long where sessions are kept for ever. */
const SETTLED_MS = 90 * 24 * 3600 * 1000;

/** As it is now: what happens to our own environment later is not the commands'. */
function ownEnvironment(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined) env[name] = value;
  return env;
}

function retentionOf({ retention }: Settings, given: Partial<Retention> = {}): Retention {
  const { maxAgeHours, maxCount, maxBytes } = retention;
  return { maxAgeMs: maxAgeHours * 3600 * 1000, maxCount, maxBytes, ...given };
}

/** Opens the door: the state folder's database and keepers, for one agent in one workspace. */
export async function openGateway(options: GatewayOptions = {}): Promise<Gateway> {
  return openWith(options, () => {});
}

/** The same, with a say between the steps of a request: for traces, and for tests that die there. */
export async function openWith(options: GatewayOptions, checkpoint: Rooms["checkpoint"]): Promise<Gateway> {
  insistOnKnownOptions(options);
  const rooms = await furnish(options, checkpoint);
  try {
    const { settings } = rooms.config.look().config;
    const retention = () => retentionOf(rooms.config.look().config.settings, options.retention);
    const clean = () => {
      if (!cleanIfDue(rooms.registry, rooms.state, retention())) return;
      rooms.work.purge(retention().maxAgeMs || SETTLED_MS);
      rooms.approvals.forget(Date.now() - (retention().maxAgeMs || SETTLED_MS));
      clearPrivateFolders(rooms.state, { unusedMs: UNUSED_MS, live: rooms.registry.store.live().length > 0 });
    };
    clean();
    cleanLogs(rooms, retention().maxAgeMs);
    const upkeep = new Upkeep();
    const gateway = new Gateway(rooms, retention, upkeep);
    upkeep.every(CLEAN_EVERY_MS, clean);
    await rooms.executor.learn(() => rooms.registry.store.live());
    if (options.attach ?? true) {
      await rooms.registry.recover();
      upkeep.every(LOOK_AROUND_MS, () => void rooms.registry.recover().catch(() => {}));
      upkeep.callBack(callbackOf(settings, rooms));
    }
    return gateway;
  } catch (error) {
    await rooms.executor.close();
    rooms.database.close();
    throw error;
  }
}

/** Nobody asked for it, so nobody is troubled when it does not work out this time. */
function cleanLogs({ workspace, registry }: Rooms, maxAgeMs: number): void {
  if (maxAgeMs === 0) return;
  try {
    cleanExecLogs(workspace, maxAgeMs, (id) => registry.store.get(id)?.status === "running");
  } catch {
    // Read-only, or removed meanwhile.
  }
}

/** `callbacks`: false where somebody else tells of ends. `here`: on this machine, whatever fleet is configured. */
export async function furnish(
  options: GatewayOptions,
  checkpoint: Rooms["checkpoint"],
  { callbacks = true, here = false }: { callbacks?: boolean; here?: boolean } = {},
): Promise<Rooms> {
  const workspace = resolve(options.workspace ?? process.cwd());
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
  const database = openDatabase(join(state, "sallyport.db"));
  const executor = await executorFor(state, here ? null : (options.fleet ?? fleetFromEnvironment() ?? settings.fleet));
  const audit = new AuditLog(database);
  const work = new WorkQueue(database);
  const store = new SessionStore(database);
  const registry = new Registry(database, store, executor, onEnded(audit, callbacks ? work : null, executor));
  const approvals = new Approvals(database, {
    audit: (entry) => audit.append(entry),
    expiresMs: settings.approvals.expiresMinutes * 60_000,
  });
  const rooms: Rooms = {
    state,
    workspace,
    agent: options.agent ?? "default",
    actor: options.agent ?? "default",
    channel: options.channel ?? "library",
    env,
    config,
    database,
    executor,
    tier: () => tierOf(executor, state),
    told: new Set(),
    registry,
    approvals,
    audit,
    allowlistUse: new AllowlistUse(database),
    work,
    quota: new Quota({
      running: (agent, limit) => registry.running(agent, limit),
      startedSince: (agent, sinceMs) => store.startedSince(agent, sinceMs),
    }),
    tiers: {},
    patience: { patienceMs: undefined, signal: undefined },
    ownOnly: false,
    approve: options.approve ?? null,
    notify: steady(options.onEvent ?? (() => {})),
    checkpoint,
  };
  if (config.look().config.files.length > 0) auditConfig(rooms, null);
  return rooms;
}

/** Loaded where it is used: most gateways have no fleet, and none of them should start later for it. */
async function executorFor(state: string, fleet: FleetGatewayOptions | null): Promise<Executor> {
  if (fleet === null) return openExecutor(state, new LocalSessionReader());
  const { FleetExecutor } = await import("../fleet/executor.ts");
  return new FleetExecutor(state, fleet);
}

/** Elsewhere it is seen to where the command runs: who cannot confine it there judges it as what it then is. */
const SOMEWHERE: SandboxTier = {
  landlock: 1,
  mounts: "root",
  isolation: true,
  networkNamespace: true,
  seccomp: true,
};

function tierOf({ abilities }: Executor, state: string): SandboxTier | null {
  if (abilities.elsewhere) return SOMEWHERE;
  return abilities.confines ? cachedSandboxTier(state) : null;
}

/** A listener that throws must not break off a request half-way: its command would run with nobody following it. */
function steady(listener: Rooms["notify"]): Rooms["notify"] {
  return (event) => {
    try {
      listener(event);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  };
}
