import type { Tool as ListedTool } from "@modelcontextprotocol/server";
import type { Gateway } from "../gateway/gateway.ts";
import type { Tool, ToolsetName } from "../toolsets/tool.ts";
import { withPrefix } from "../toolsets/tool-names.ts";

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
  readonly #prefix: string | null;
  readonly #listeners = new Set<() => void>();
  #offer: Offer | null = null;
  /** Loaded by the first call, so that it does not delay the handshake. */
  #module: Promise<typeof import("../toolsets/tools.ts")> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    gateway: () => Promise<Gateway>,
    options: { toolsets: readonly ToolsetName[]; structured: boolean; prefix?: string | null },
  ) {
    this.#gateway = gateway;
    this.#toolsets = options.toolsets;
    this.#structured = options.structured;
    this.#prefix = options.prefix ?? null;
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
    const plain = tools(gateway, this.#toolsets);
    const prefix = this.#prefix;
    const names = plain.map(({ name }) => name);
    const offered = prefix === null ? plain : plain.map((tool) => withPrefix(tool, names, prefix));
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

/**
 * Keys for Claude Code, which other hosts ignore: list the tools to the model at once instead of through a tool search,
 * and show results up to this many characters instead of saving them to a file with a preview of 2 KB. 500,000 is the
 * highest value that it accepts. The tools limit their results themselves, to less than that.
 */
const CLAUDE_CODE_META = { "anthropic/alwaysLoad": true, "anthropic/maxResultSizeChars": 500_000 };

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
    _meta: {
      "sallyport/toolset": tool.toolset,
      "sallyport/permission": tool.permission,
      ...CLAUDE_CODE_META,
      ...meta,
    },
  };
}
