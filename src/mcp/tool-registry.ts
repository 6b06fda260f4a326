import type { Tool as ListedTool } from "@modelcontextprotocol/server";
import type { Gateway } from "../gateway/gateway.ts";
import type { Tool, ToolsetName } from "../toolsets/tool.ts";

/** How often the enabled toolsets are checked. The gateway does not reload its configuration more often than this. */
const POLL_MS = 1000;

interface Offer {
  /** The requested toolsets that are enabled. */
  gates: string;
  tools: ReadonlyMap<string, Tool>;
  listed: ListedTool[];
}

/** The tools that are currently available. */
export class ToolRegistry {
  readonly #gateway: () => Promise<Gateway>;
  readonly #toolsets: readonly ToolsetName[];
  readonly #structured: boolean;
  readonly #listeners = new Set<() => void>();
  #offer: Offer | null = null;
  /** Loaded by the first call, so that it does not delay the handshake. */
  #module: Promise<typeof import("../toolsets/tools.ts")> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(gateway: () => Promise<Gateway>, options: { toolsets: readonly ToolsetName[]; structured: boolean }) {
    this.#gateway = gateway;
    this.#toolsets = options.toolsets;
    this.#structured = options.structured;
  }

  async list(): Promise<ListedTool[]> {
    return (await this.#poll()).listed;
  }

  async find(name: string): Promise<Tool | null> {
    return (await this.#poll()).tools.get(name) ?? null;
  }

  /** Adds a listener for changes of the tool list. Returns a function that removes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#timer ??= setInterval(() => void this.#poll().catch(() => {}), POLL_MS).unref();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  async #poll(): Promise<Offer> {
    this.#module ??= import("../toolsets/tools.ts");
    const [gateway, { tools }] = await Promise.all([this.#gateway(), this.#module]);
    const enabled = gateway.toolsets;
    const gates = this.#toolsets.filter((name) => enabled[name]).join(" ");
    if (this.#offer?.gates === gates) return this.#offer;
    const offered = tools(gateway, this.#toolsets);
    const changed = this.#offer !== null;
    this.#offer = {
      gates,
      tools: new Map(offered.map((tool) => [tool.name, tool])),
      listed: offered.map((tool) => listedTool(tool, this.#structured)),
    };
    if (changed) for (const listener of [...this.#listeners]) listener();
    return this.#offer;
  }
}

/** An output schema obliges a server to send structured content. */
function listedTool(tool: Tool, structured: boolean): ListedTool {
  const { name, title, description, annotations, meta } = tool;
  return {
    name,
    title,
    description,
    inputSchema: tool.inputSchema as ListedTool["inputSchema"],
    ...(structured ? { outputSchema: tool.outputSchema as ListedTool["outputSchema"] } : {}),
    annotations: { title, ...annotations },
    _meta: { "sallyport/toolset": tool.toolset, "sallyport/permission": tool.permission, ...meta },
  };
}
