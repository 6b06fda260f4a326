/** A minimal MCP host: starts `sallyport mcp` and exchanges JSON-RPC messages with it, one per line. */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

interface Reply {
  id?: number;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}

export class McpHost {
  readonly #server: ChildProcess;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #id = 0;

  /** Starts a server with a command line such as `["sallyport", "mcp", "--tools", "bash"]`. */
  constructor([command = "sallyport", ...args]: string[], env = process.env) {
    this.#server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"], env });
    if (!this.#server.stdout) throw new Error("the server has no output");
    createInterface({ input: this.#server.stdout }).on("line", (line) => {
      const reply = JSON.parse(line) as Reply;
      if (reply.id !== undefined) this.#waiting.get(reply.id)?.(reply);
    });
  }

  async open(): Promise<void> {
    const client = { name: "example", version: "1.0.0" };
    await this.request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: client });
    this.#send({ method: "notifications/initialized" });
  }

  async listTools(): Promise<{ name: string; inputSchema: object }[]> {
    return (await this.request("tools/list", {})).tools as { name: string; inputSchema: object }[];
  }

  /** Calls a tool and returns the text for the model. With `--structured`, programs can use `structuredContent`. */
  async callTool(name: string, args: object): Promise<{ text: string; isError: boolean }> {
    const { content, isError = false } = await this.request("tools/call", { name, arguments: args });
    const text = (content as { text: string }[]).map((part) => part.text).join("");
    return { text, isError: isError as boolean };
  }

  /** Stops the server, which also stops the foreground commands of this connection. */
  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#server.once("exit", resolve));
    this.#server.stdin?.end();
    await ended;
  }

  async request(method: string, params: object): Promise<Record<string, unknown>> {
    const id = ++this.#id;
    const reply = await new Promise<Reply>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#send({ id, method, params });
    });
    this.#waiting.delete(id);
    if (reply.error) throw new Error(reply.error.message);
    return reply.result ?? {};
  }

  #send(message: object): void {
    this.#server.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
}
