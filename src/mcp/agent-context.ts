import { AsyncLocalStorage } from "node:async_hooks";
import type { Approval, ApprovalDecision } from "../core/approval.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { ToolsetName } from "../toolsets/tool.ts";
import { ResourceWatch } from "./resource-watcher.ts";
import { Turnstile } from "./start-limiter.ts";
import { ToolShelf } from "./tool-registry.ts";

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

export function currentCall(): Call | null {
  return serving.getStore() ?? null;
}

/** What becomes of background sessions when the client that started them is gone. */
export type OnDisconnect = "keep" | "end";

export interface DoorOptions {
  agent: string;
  state: string;
  workspace: string;
  toolsets: readonly ToolsetName[];
  /** A call is answered within this time, whatever becomes of its command. */
  patienceMs: number;
  onDisconnect: OnDisconnect;
}

/** What one agent gets of Sallyport, however many connections it has. */
export class Door {
  readonly options: DoorOptions;
  readonly turnstile = new Turnstile();
  readonly shelf: ToolShelf;
  readonly watch: ResourceWatch;
  #opening: Promise<Gateway> | null = null;

  constructor(options: DoorOptions) {
    this.options = options;
    this.shelf = new ToolShelf(() => this.gateway(), options.toolsets);
    this.watch = new ResourceWatch(options.agent, () => this.gateway());
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
        this.watch.begun(event.session);
      },
      approve: async (approval, signal) => {
        const said = await currentCall()?.ask(approval, signal);
        return said ? { ...said, channel: "mcp-host" } : null;
      },
    });
  }

  async close(): Promise<void> {
    this.shelf.close();
    this.watch.close();
    const gateway = await this.#opening?.catch(() => null);
    await gateway?.close();
  }
}
