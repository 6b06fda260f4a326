import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

type Answer = { id?: unknown; result?: Record<string, unknown>; error?: { message: string } };

/** An MCP server on stdio with a minimal client, so that the measurements reflect the server. */
export class StdioServer {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #id = 0;

  constructor(file: string, args: string[], options: { env?: NodeJS.ProcessEnv; cwd?: string } = {}) {
    this.#child = spawn(file, args, { ...options, stdio: ["pipe", "pipe", "ignore"] });
    if (!this.#child.stdout) throw new Error("no stdout");
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      const answer = JSON.parse(line) as Answer;
      const resolve = this.#waiting.get(Number(answer.id));
      this.#waiting.delete(Number(answer.id));
      resolve?.(answer);
    });
  }

  async request(method: string, params: object): Promise<Record<string, unknown>> {
    const id = ++this.#id;
    const answered = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve));
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    const { result, error } = await answered;
    if (!result) throw new Error(`${method}: ${error?.message}`);
    return result;
  }

  async initialize(): Promise<void> {
    const clientInfo = { name: "bench", version: "1" };
    await this.request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    this.#child.stdin?.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  }

  async call(name: string, args: object): Promise<Record<string, unknown>> {
    const result = await this.request("tools/call", { name, arguments: args });
    if (result.isError) throw new Error(`${name}: ${JSON.stringify(result)}`);
    return result;
  }

  async leave(): Promise<void> {
    this.#child.stdin?.end();
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, "exit");
  }
}
