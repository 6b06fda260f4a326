import { dirname } from "node:path";
import { operatorConfigPath } from "../config/load.ts";
import type { Settings } from "../core/settings.ts";
import { type Confinement, createConfinement } from "../sandbox/confine.ts";
import type { GatewayContext } from "./context.ts";

export interface CurrentSettings {
  settings: Settings;
  confinement: Confinement;
}

/** One per settings, which stay as they are until a file changes, and agent: each has a folder of its own. */
const prepared = new WeakMap<Settings, Map<string, Confinement>>();
/** Agents may be called anything by those who act for them. */
const MOST_AGENTS = 1000;

/** What holds for a request of this moment. A configuration that changed is audited once, also one that is bad. */
export function currentSettings(context: GatewayContext): CurrentSettings {
  const { config, changed, problem } = context.config.look();
  if (changed) auditConfig(context, problem?.message ?? null);
  const settings = config.forAgent(context.agent);
  let byAgent = prepared.get(settings);
  if (!byAgent || byAgent.size > MOST_AGENTS) {
    byAgent = new Map();
    prepared.set(settings, byAgent);
  }
  let confinement = byAgent.get(context.agent);
  if (!confinement) {
    const { workspace, agent, state, sandboxCapabilities } = context;
    const { remote: elsewhere } = context.executor.abilities;
    // Neither its own state nor the operator's word is a command's to work in (promise 7).
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
