import { AsyncLocalStorage } from "node:async_hooks";
import type { Approval, ApprovalDecision } from "../core/approval.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { ToolsetName } from "../toolsets/tool.ts";
import { ResourceWatcher } from "./resource-watcher.ts";
import { ToolRegistry } from "./tool-registry.ts";

/** What a person said, before it is known through which channel they did. */
export type HostDecision = Pick<ApprovalDecision, "decision" | "who" | "reason">;

/** One tool call on its way through the gateway, as far as the protocol has a part in it. */
export interface Call {
  /** Asks the host's user. Null: they cannot be asked, or leave it to somebody else. */
  ask(approval: Approval, signal: AbortSignal): Promise<HostDecision | null>;
  /** Sessions it started, by id. */
  readonly started: string[];
}

/**
 * Which call is being served. The gateway knows nothing of connections; what it asks and tells while it serves a call is
 * brought back to the right one by this, however many run at once.
 */
const serving = new AsyncLocalStorage<Call>();

export function inCall<T>(call: Call, work: () => Promise<T>): Promise<T> {
  return serving.run(call, work);
}

function currentCall(): Call | null {
  return serving.getStore() ?? null;
}

/** What becomes of background sessions when the client that started them is gone. */
export type OnDisconnect = "keep" | "end";

export interface AgentOptions {
  agent: string;
  state: string;
  workspace: string;
  toolsets: readonly ToolsetName[];
  /** A call is answered within this time, whatever becomes of its command. */
  answerWithinMs: number;
  onDisconnect: OnDisconnect;
}

/** What one agent gets of Sallyport, however many connections it has. */
export class AgentContext {
  readonly options: AgentOptions;
  readonly startLimiter = new StartLimiter();
  readonly tools: ToolRegistry;
  readonly watcher: ResourceWatcher;
  #opening: Promise<Gateway> | null = null;

  constructor(options: AgentOptions) {
    this.options = options;
    this.tools = new ToolRegistry(() => this.gateway(), options.toolsets);
    this.watcher = new ResourceWatcher(options.agent, () => this.gateway());
  }

  /** Opened when it is first needed: a client is greeted before that. */
  gateway(): Promise<Gateway> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = null; // a full disk may have room again
      throw error;
    });
    return this.#opening;
  }

  async #open(): Promise<Gateway> {
    const { openGateway } = await import("../gateway/open.ts");
    const { agent, state, workspace } = this.options;
    return openGateway({
      agent,
      state,
      workspace,
      channel: "mcp",
      onEvent: (event) => {
        if (event.type !== "started") return;
        currentCall()?.started.push(event.session);
        this.watcher.sessionStarted(event.session);
      },
      approve: async (approval, signal) => {
        const said = await currentCall()?.ask(approval, signal);
        return said ? { ...said, channel: "mcp-host" } : null;
      },
    });
  }

  async close(): Promise<void> {
    this.tools.close();
    this.watcher.close();
    const gateway = await this.#opening?.catch(() => null);
    await gateway?.close();
  }
}

/** Commands that may be starting at once: well below the session limit, so that a burst is not refused. */
const MAX_STARTING = 32;
/** A command that runs for longer no longer counts as starting. */
const STARTING_MS = 10_000;

/**
 * Limits how many commands start at once. A client may send hundreds of calls in a burst; they start in order instead
 * of most of them being refused by the session limit.
 */
export class StartLimiter {
  readonly #startingMs: number;
  readonly #waiting = new Set<() => void>();
  #free = MAX_STARTING;

  constructor({ startingMs = STARTING_MS }: { startingMs?: number } = {}) {
    this.#startingMs = startingMs;
  }

  /**
   * Resolves with the function that releases the slot. After `answerWithinMs` it resolves without a slot, and the session
   * limit decides. Rejects when `signal` aborts first; nothing was started then.
   */
  async acquire(signal: AbortSignal, answerWithinMs: number): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else if (!(await this.#wait(signal, answerWithinMs))) return () => {};
    let held = true;
    const release = () => {
      if (!held) return;
      held = false;
      clearTimeout(timer);
      this.#next();
    };
    const timer = setTimeout(release, this.#startingMs).unref();
    return release;
  }

  /** False: no slot became free in time. */
  #wait(signal: AbortSignal, answerWithinMs: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const end = () => {
        this.#waiting.delete(go);
        clearTimeout(timer);
        signal.removeEventListener("abort", giveUp);
      };
      const go = () => {
        end();
        resolve(true);
      };
      const giveUp = () => {
        end();
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        end();
        resolve(false);
      }, answerWithinMs);
      this.#waiting.add(go);
      signal.addEventListener("abort", giveUp, { once: true });
    });
  }

  /** Passes the slot to the oldest waiter, if there is one. */
  #next(): void {
    const [go] = this.#waiting;
    if (go) go();
    else this.#free++;
  }
}
