/** The gateway of the resident process, which answers for other processes of the same user. */
import { watchConfig } from "../../config/watch.ts";
import { agentName } from "../../core/names.ts";
import type { GatewayContext } from "../../gateway/context.ts";
import { Gateway } from "../../gateway/gateway.ts";
import { Maintenance } from "../../gateway/maintenance.ts";
import { cleanLogs, cleanState, createContext, ownEnvironment, retentionIn } from "../../gateway/open.ts";
import { type CurrentSettings, currentSettings, recordConfigWithRun } from "../../gateway/settings.ts";
import { policyOf } from "../../policy/decide.ts";
import { loadPolicy } from "../../policy/load.ts";

/** The maximum number of cached contexts, one per caller, workspace and agent. */
const MAX_CONTEXTS = 32;

export interface CallerOptions {
  workspace: string;
  agent: string;
  /** Identifies the caller's environment, working directory and umask. Equal keys share a context. */
  key: string;
}

/** Stores and an executor that the gateways of all callers share. Each caller has its own settings and environment. */
export class ResidentGateway {
  readonly #shared: GatewayContext;
  readonly #contexts = new Map<string, GatewayContext>();
  /** The contexts whose configuration is in the audit log. */
  readonly #recorded = new WeakSet<GatewayContext>();

  private constructor(shared: GatewayContext) {
    this.#shared = shared;
  }

  static async open(state: string, checkpoint: GatewayContext["checkpoint"]): Promise<ResidentGateway> {
    // The settings of this context are not used, so it reads no configuration.
    const options = { state, workspace: state, channel: "cli", configuration: null, attach: false };
    return new ResidentGateway(await createContext(options, checkpoint, { here: true }));
  }

  get state(): string {
    return this.#shared.state;
  }

  /**
   * Returns the gateway for the current caller, or null when its settings need a process of its own: a fleet, or
   * operations on sessions that are denied or require approval. Throws like `openGateway`.
   */
  gateway(caller: CallerOptions): Gateway | null {
    const context = this.#contextOf(caller);
    if (!this.#recorded.has(context)) {
      this.#recorded.add(context);
      recordConfigWithRun(context);
    }
    const { fleet, permissions } = context.config.look().config.forAgent(context.agent);
    const limited = Object.values(permissions).some((permission) => permission === "ask" || permission === "deny");
    if (fleet !== null || limited) return null;
    // Warnings are given once per gateway, and each caller is to have its own.
    return new Gateway({ ...context, warnedOnce: new Set() }, retentionIn(context), new Maintenance());
  }

  /** Returns the settings of the current caller, and what they confine. Throws like `openGateway`, and records nothing. */
  settings(caller: CallerOptions): CurrentSettings {
    return currentSettings(this.#contextOf(caller));
  }

  /** Writes the ends of sessions that are still queued, so that other processes see them. */
  flush(): void {
    this.#shared.registry.flush();
  }

  /** Removes what is past its retention, which `openGateway` does for other processes. */
  clean(caller: CallerOptions): void {
    const context = this.#contexts.get(keyOf(caller));
    if (!context) return;
    const retention = retentionIn(context);
    cleanState(context, retention);
    cleanLogs(context, retention().maxAgeMs);
  }

  async close(): Promise<void> {
    await this.#shared.executor.close();
    this.#shared.registry.close();
    this.#shared.restarts.closed();
    this.#shared.database.close();
  }

  #contextOf(caller: CallerOptions): GatewayContext {
    const key = keyOf(caller);
    const known = this.#contexts.get(key);
    if (known) {
      const { changed, problem } = known.config.look();
      if (!changed && problem === null) return known;
      this.#contexts.delete(key);
    }
    const context = this.#create(caller);
    const [oldest] = this.#contexts.keys();
    if (this.#contexts.size >= MAX_CONTEXTS && oldest !== undefined) this.#contexts.delete(oldest);
    this.#contexts.set(key, context);
    return context;
  }

  #create({ workspace, agent }: CallerOptions): GatewayContext {
    // Checked on each use: a new process would read the files, too.
    const config = watchConfig({ workspace, given: {} }, { everyMs: 0 });
    loadPolicy(policyOf(config.look().config.settings));
    if (config.look().config.settings.durability !== "power-loss") this.#shared.restarts.opened();
    const name = agentName(agent);
    const context: GatewayContext = {
      ...this.#shared,
      workspace,
      agent: name,
      actor: name,
      env: ownEnvironment(),
      config,
    };
    return context;
  }
}

function keyOf({ workspace, agent, key }: CallerOptions): string {
  return JSON.stringify([workspace, agent, key]);
}
