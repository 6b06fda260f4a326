import { dirname } from "node:path";
import { operatorConfigPath } from "../config/load.ts";
import type { Settings } from "../core/settings.ts";
import { type Confinement, confinementOf } from "../sandbox/confine.ts";
import type { Rooms } from "./rooms.ts";

export interface InForce {
  settings: Settings;
  confinement: Confinement;
}

/** One per settings, which stay as they are until a file changes, and agent: each has a folder of its own. */
const prepared = new WeakMap<Settings, Map<string, Confinement>>();
/** Agents may be called anything by those who act for them. */
const MOST_AGENTS = 1000;

/** What holds for a request of this moment. A configuration that changed is audited once, also one that is bad. */
export function inForce(rooms: Rooms): InForce {
  const { config, changed, problem } = rooms.config.look();
  if (changed) auditConfig(rooms, problem?.message ?? null);
  const settings = config.forAgent(rooms.agent);
  let byAgent = prepared.get(settings);
  if (!byAgent || byAgent.size > MOST_AGENTS) {
    byAgent = new Map();
    prepared.set(settings, byAgent);
  }
  let confinement = byAgent.get(rooms.agent);
  if (!confinement) {
    const { workspace, agent, state, tier } = rooms;
    const { elsewhere } = rooms.executor.abilities;
    // Neither its own state nor the operator's word is a command's to work in (promise 7).
    const keepOut = [rooms.state, dirname(operatorConfigPath(rooms.env))];
    confinement = confinementOf(settings, { workspace, agent, state, keepOut, parentEnv: rooms.env, tier, elsewhere });
    byAgent.set(agent, confinement);
  }
  return { settings, confinement };
}

export function auditConfig(rooms: Rooms, problem: string | null): void {
  const { files, ignored, warnings } = rooms.config.look().config;
  rooms.audit.append({
    kind: "config",
    agent: rooms.agent,
    session: null,
    actor: "sallyport",
    channel: rooms.channel,
    outcome: problem === null ? "loaded" : "refused",
    summary: problem ?? (files.map(({ path }) => path).join(", ") || "defaults"),
    detail: { files, ignored, warnings },
  });
}
