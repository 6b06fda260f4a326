import { AsyncLocalStorage } from "node:async_hooks";
import type { Approval, ApprovalDecision } from "../core/approval.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { ToolsetName } from "../toolsets/tool.ts";
import { ResourceWatcher } from "./resource-watcher.ts";
import { ToolRegistry } from "./tool-registry.ts";

/** What came of asking the host's user. Null when the request was decided elsewhere, or the call ended. */
export type HostAnswer =
  /** The user decided. The channel is added later. */
  | { kind: "decision"; decision: Pick<ApprovalDecision, "decision" | "who"> }
  /** No person in the host decided. `answered` is an answer that the host gave without a person. */
  | { kind: "later"; why: string | null; answered: { action: string; client: string; afterMs: number } | null };

/** A tool call in progress. */
export interface Call {
  /** Asks the host's user for a decision. */
  ask(approval: Approval, signal: AbortSignal): Promise<HostAnswer | null>;
  /** IDs of the sessions that the call has started. */
  readonly started: string[];
  /** Sends the client a log message about an operation whose permission is `notify`, if it asked for messages. */
  notify(operation: string, session: string): void;
}

/**
 * The call that is being served. The gateway does not know about connections, so its callbacks find the right call
 * through this context, even when many calls run concurrently.
 */
const serving = new AsyncLocalStorage<Call>();

export function inCall<T>(call: Call, work: () => Promise<T>): Promise<T> {
  return serving.run(call, work);
}

function currentCall(): Call | null {
  return serving.getStore() ?? null;
}

/** What happens to background sessions when the client that started them disconnects. */
export type OnDisconnect = "keep" | "end";

export interface AgentOptions {
  agent: string;
  state: string;
  workspace: string;
  toolsets: readonly ToolsetName[];
  /** Maximum duration of a call in milliseconds. A command that takes longer continues as a session. */
  answerWithinMs: number;
  onDisconnect: OnDisconnect;
  /** Whether results also have structured content. Many hosts show it to the model next to the text, or instead of it. */
  structured: boolean;
  /** Whether a person watches for requests, so that the first call about one also waits for the decision. */
  attended?: boolean;
  /** Put before the names of the tools, with `_` in between. Null for none. */
  prefix?: string | null;
}

/** The maximum number of approvals that are remembered (invariant 6). */
const MAX_REMEMBERED = 10_000;

/** When the forms of approvals were sent, for clients that answer a form with another call. */
export class SentForms {
  readonly #sentMs = new Map<string, number>();

  add(approval: string): void {
    this.#sentMs.delete(approval);
    this.#sentMs.set(approval, performance.now());
    const [oldest] = this.#sentMs.keys();
    if (this.#sentMs.size > MAX_REMEMBERED && oldest !== undefined) this.#sentMs.delete(oldest);
  }

  /** Returns the time from sending the form to `nowMs`. A form of an earlier process counts from its request. */
  untilMs({ id, createdAt }: Approval, nowMs: number): number {
    const sentMs = this.#sentMs.get(id);
    return sentMs === undefined ? Date.now() - Date.parse(createdAt) : nowMs - sentMs;
  }
}

/** The state of one agent, shared by all of its connections. */
export class AgentContext {
  readonly options: AgentOptions;
  readonly startLimiter = new StartLimiter();
  readonly tools: ToolRegistry;
  readonly watcher: ResourceWatcher;
  readonly sentForms = new SentForms();
  /** IDs of approvals about which a call was answered at once. Later calls wait for the decision. */
  readonly #postponed = new Set<string>();
  #opening: Promise<Gateway> | null = null;
  #ranCommand = false;

  constructor(options: AgentOptions) {
    this.options = options;
    this.tools = new ToolRegistry(() => this.gateway(), options);
    this.watcher = new ResourceWatcher(options.agent, () => this.gateway());
  }

  /** Whether a command has been started. */
  get ranCommand(): boolean {
    return this.#ranCommand;
  }

  /** Opens the gateway on first use, so that it does not delay the handshake. */
  gateway(): Promise<Gateway> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = null; // retried by the next call: the cause may be temporary, such as a full disk
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
        if (event.type === "operation") currentCall()?.notify(event.operation, event.session);
        if (event.type !== "started") return;
        this.#ranCommand = true;
        currentCall()?.started.push(event.session);
        this.watcher.sessionStarted(event.session);
      },
      approve: async (approval, signal) => {
        const answer = await currentCall()?.ask(approval, signal);
        if (!answer || this.options.attended) return null;
        if (answer.kind === "decision") return { ...answer.decision, channel: "mcp-host" };
        if (answer.answered) (await this.gateway()).approvals.recordHostAnswer(approval.id, answer.answered);
        return this.#postpone(approval.id) ? { decision: "later", ...(answer.why ? { why: answer.why } : {}) } : null;
      },
    });
  }

  /**
   * Reports whether a call about this approval is to be answered at once: the first one is, so that the agent can tell
   * its user without delay. Those that repeat it wait for the decision.
   */
  #postpone(approval: string): boolean {
    if (this.#postponed.has(approval)) return false;
    this.#postponed.add(approval);
    const [oldest] = this.#postponed;
    if (this.#postponed.size > MAX_REMEMBERED && oldest !== undefined) this.#postponed.delete(oldest);
    return true;
  }

  async close(): Promise<void> {
    this.tools.close();
    this.watcher.close();
    const gateway = await this.#opening?.catch(() => null);
    await gateway?.close();
  }
}

/** Number of commands that may start concurrently. It is well below the session limit, so bursts do not exceed that. */
const MAX_STARTING = 32;
/** A command that has run for this long no longer counts as starting. */
const STARTING_MS = 10_000;

/**
 * Limits how many commands start concurrently. A client may send hundreds of calls in a burst. With this limit they
 * start in order; without it, most of them would exceed the session limit and fail.
 */
export class StartLimiter {
  readonly #startingMs: number;
  readonly #waiting = new Set<() => void>();
  #free = MAX_STARTING;

  constructor({ startingMs = STARTING_MS }: { startingMs?: number } = {}) {
    this.#startingMs = startingMs;
  }

  /**
   * Acquires a slot. Resolves with the function that releases it. After `answerWithinMs` it resolves without a slot,
   * and the session limit applies. Rejects when `signal` aborts first.
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

  /** Waits for a slot. Resolves with false when none became free in time. */
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

  /** Passes the slot to the oldest waiting call, if any. */
  #next(): void {
    const [go] = this.#waiting;
    if (go) go();
    else this.#free++;
  }
}
