import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

type Answer = { id?: unknown; result?: Record<string, unknown>; error?: { message: string } };

/** The time that a server has to exit after its stdin was closed. */
const EXIT_MS = 5000;

/** Returns null if the promise does not resolve in time. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  const resolved = new AbortController();
  const timer = pause(ms, null, { signal: resolved.signal }).catch(() => null);
  try {
    return await Promise.race([promise, timer]);
  } finally {
    resolved.abort();
  }
}

/** Returns an empty answer for a line that is not JSON: a server that was killed can leave half of one. */
function parsed(line: string): Answer {
  try {
    return JSON.parse(line) as Answer;
  } catch {
    return {};
  }
}

/** The client stopped waiting for an answer. */
export class CallLimitError extends Error {}

/** An MCP server on stdio with a minimal client, so that the measurements reflect the server. */
export class StdioServer {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #id = 0;

  constructor(file: string, args: string[], options: { env?: NodeJS.ProcessEnv; cwd?: string } = {}) {
    this.#child = spawn(file, args, { ...options, stdio: ["pipe", "pipe", "ignore"] });
    if (!this.#child.stdout) throw new Error("no stdout");
    // A server that exits early closes its stdin; `exit` reports that to the pending requests.
    this.#child.stdin?.on("error", () => {});
    this.#child.once("exit", (code, signal) => {
      const error = { message: `the server exited (${signal ?? code})` };
      for (const resolve of this.#waiting.values()) resolve({ error });
    });
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      const answer = parsed(line);
      const resolve = this.#waiting.get(Number(answer.id));
      this.#waiting.delete(Number(answer.id));
      resolve?.(answer);
    });
  }

  get #exited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Sends a request. After `limitMs` it is cancelled, as clients do, and fails with a CallLimitError. */
  async request(method: string, params: object, limitMs?: number): Promise<Record<string, unknown>> {
    if (this.#exited) throw new Error(`${method}: the server has exited`);
    const id = ++this.#id;
    const answered = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve));
    this.#send({ id, method, params });
    const { result, error } = await (limitMs === undefined ? answered : this.#within(limitMs, id, answered));
    if (!result) throw new Error(`${method}: ${error?.message}`);
    return result;
  }

  async #within(limitMs: number, id: number, answered: Promise<Answer>): Promise<Answer> {
    const answer = await within(limitMs, answered);
    if (answer !== null) return answer;
    this.#waiting.delete(id);
    this.#send({ method: "notifications/cancelled", params: { requestId: id, reason: "timeout" } });
    throw new CallLimitError(`MCP error -32001: Request timed out after ${limitMs / 1000} s`);
  }

  #send(message: object): void {
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  async initialize(): Promise<void> {
    const clientInfo = { name: "bench", version: "1" };
    await this.request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    this.#send({ method: "notifications/initialized" });
  }

  async call(name: string, args: object): Promise<Record<string, unknown>> {
    const result = await this.request("tools/call", { name, arguments: args });
    if (result.isError) throw new Error(`${name}: ${JSON.stringify(result)}`);
    return result;
  }

  /** Closes the connection and waits until the server has exited. A server that does not exit is killed. */
  async leave(): Promise<void> {
    this.#child.stdin?.end();
    if (this.#exited) return;
    const exited = once(this.#child, "exit");
    if ((await within(EXIT_MS, exited)) !== null) return;
    this.#child.kill("SIGKILL");
    await exited;
  }
}
