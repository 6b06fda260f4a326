import { dirname } from "node:path";
import { operatorConfigPath } from "../config/load.ts";
import type { Settings } from "../core/settings.ts";
import { type Confinement, createConfinement } from "../sandbox/confine.ts";
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
  if (changed) auditConfig(context, problem?.message ?? null);
  const settings = config.forAgent(context.agent);
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
    });
    byAgent.set(agent, confinement);
  }
  return { settings, confinement };
}

export function auditConfig(context: GatewayContext, problem: string | null): void {
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
