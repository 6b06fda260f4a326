import { dirname } from "node:path";
import { operatorConfigPath } from "../config/load.ts";
import type { HostAccess } from "../core/launch.ts";
import type { Settings } from "../core/settings.ts";
import { type Confinement, createConfinement } from "../sandbox/confine.ts";
import { isDiskFull, syncEveryCommit } from "../storage/database.ts";
import type { GatewayContext } from "./context.ts";

export interface CurrentSettings {
  settings: Settings;
  confinement: Confinement;
}

/** Confinements by settings and agent. Settings are the same object until a configuration file changes. */
const prepared = new WeakMap<Settings, Map<string, Confinement>>();
/** The maximum number of cached agents. Callers can choose any agent name. */
const MAX_AGENTS = 1000;

/** Returns the settings that apply now. A changed configuration is audited once, whether or not it is valid. */
export function currentSettings(context: GatewayContext): CurrentSettings {
  const { config, changed, problem } = context.config.look();
  if (changed || unrecorded.has(context.config)) recordConfig(context, problem?.message ?? null);
  const own = config.forAgent(context.agent);
  const settings = context.host === null ? own : hostSettings(own, context.host);
  if (settings.durability === "power-loss") syncEveryCommit(context.database);
  let byAgent = prepared.get(settings);
  if (!byAgent || byAgent.size > MAX_AGENTS) {
    byAgent = new Map();
    prepared.set(settings, byAgent);
  }
  let confinement = byAgent.get(context.agent);
  if (!confinement) {
    const { workspace, agent, state, sandboxCapabilities } = context;
    const { remote: elsewhere } = context.executor.abilities;
    // Commands must not run in or write to the state folder and the operator's configuration folder (invariant 7).
    const keepOut = [context.state, dirname(operatorConfigPath(context.env))];
    confinement = createConfinement(settings, {
      workspace,
      agent,
      state,
      keepOut,
      parentEnv: context.env,
      capabilities: sandboxCapabilities,
      remote: elsewhere,
      host: context.host,
    });
    byAgent.set(agent, confinement);
  }
  return { settings, confinement };
}

/** The settings of agents' programs by those of their commands, so that they are the same object for each request. */
const ofHosts = new WeakMap<Settings, Settings>();

function hostSettings(own: Settings, host: HostAccess): Settings {
  let settings = ofHosts.get(own);
  if (!settings) {
    settings = withHostAccess(own, host);
    ofHosts.set(own, settings);
  }
  return settings;
}

/** Adds the access of an agent's program to the settings of the agent. */
function withHostAccess(settings: Settings, host: HostAccess): Settings {
  return {
    ...settings,
    // A program that Sallyport does not confine could change the rules of its own commands.
    sandbox: settings.sandbox === "off" ? "workspace-write" : settings.sandbox,
    writable: [...settings.writable, ...host.writable],
    readable: [...settings.readable, ...host.writable, ...host.readable],
    env: { ...settings.env, pass: [...settings.env.pass, ...host.variables] },
  };
}

/** The configurations whose last change is not in the audit log yet, because the disk was full. */
const unrecorded = new WeakSet<GatewayContext["config"]>();

/** Audits the configuration that a new gateway has loaded. */
export function recordLoadedConfig(context: GatewayContext): void {
  if (context.config.look().config.files.length > 0) recordConfig(context, null);
}

/** The contexts whose configuration is audited with their first command. */
const deferred = new WeakSet<GatewayContext["config"]>();

/** Audits the loaded configuration with the first command that is decided by it, and not if there is none. */
export function recordConfigWithRun(context: GatewayContext): void {
  if (context.config.look().config.files.length > 0) deferred.add(context.config);
}

/** Audits the configuration of a command that is about to be recorded, unless that has been done. */
export function recordDeferredConfig(context: GatewayContext): void {
  if (!deferred.delete(context.config)) return;
  recordConfig(context, null);
}

/**
 * Audits a configuration. On a full disk that is tried again later, so that sessions can be removed. No command starts
 * in the meantime, because its own entry cannot be written either.
 */
function recordConfig(context: GatewayContext, problem: string | null): void {
  unrecorded.add(context.config);
  try {
    auditConfig(context, problem);
    unrecorded.delete(context.config);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

function auditConfig(context: GatewayContext, problem: string | null): void {
  const { files, ignored, warnings } = context.config.look().config;
  context.audit.append({
    kind: "config",
    agent: context.agent,
    session: null,
    actor: "sallyport",
    channel: context.channel,
    outcome: problem === null ? "loaded" : "refused",
    summary: problem ?? (files.map(({ path }) => path).join(", ") || "defaults"),
    detail: { files, ignored, warnings },
  });
}
