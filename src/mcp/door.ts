import type { Gateway } from "../gateway/gateway.ts";
import type { ToolsetName } from "../toolsets/tool.ts";
import { currentCall } from "./call.ts";
import { ResourceWatch } from "./resources/watch.ts";
import { ToolShelf } from "./tool-shelf.ts";
import { Turnstile } from "./turnstile.ts";

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
    this.watch = new ResourceWatch(this);
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
