import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { ENTRY } from "../cli/sallyport.ts";
import { TestHouse } from "../fixtures/gateway.ts";
import { killAndWait } from "../fixtures/processes.ts";

export const ERAS = ["2025", "2026"] as const;
export type Era = (typeof ERAS)[number];

const NO_QUOTAS = { scope: "anywhere", limits: { sessions: 10_000, startsPerMinute: 1_000_000 } };

export interface Connected {
  client: Client;
  /** The server's, over stdio. */
  pid: number | null;
  stderr: () => string;
  close(): Promise<void>;
}

export interface HttpServer {
  url: string;
  process: ChildProcess;
  stderr: () => string;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** A state folder with the real program serving it, spoken to by real clients. */
export class McpHouse {
  readonly house = new TestHouse();
  readonly #closing: (() => Promise<unknown>)[] = [];
  readonly #configFolder = join(this.house.folder, "config");

  constructor(config: object = {}) {
    this.configure(config);
  }

  /** The operator's word. */
  configure(config: object): void {
    const folder = join(this.#configFolder, "sallyport");
    mkdirSync(folder, { recursive: true });
    // Whole or not at all: a server may be reading it.
    const draft = join(folder, "draft.json");
    writeFileSync(draft, JSON.stringify({ ...NO_QUOTAS, ...config }));
    renameSync(draft, join(folder, "sallyport.json"));
  }

  get env(): Record<string, string> {
    const env: NodeJS.ProcessEnv = { ...this.house.env, XDG_CONFIG_HOME: this.#configFolder };
    return Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined));
  }

  spawn(args: string[], env: Record<string, string> = {}): ChildProcess {
    const child = spawn(process.execPath, [ENTRY, ...args], {
      cwd: this.house.workspace,
      env: { ...this.env, ...env },
      stdio: "pipe",
    });
    this.#closing.push(() => killAndWait(child, "SIGTERM"));
    return child;
  }

  /** Runs a command of the command line to its end. */
  async run(...args: string[]): Promise<string> {
    const child = this.spawn(args);
    child.stdin?.end();
    let out = "";
    child.stdout?.on("data", (data) => {
      out += data;
    });
    const [code] = await once(child, "close");
    if (code !== 0) throw new Error(`sallyport ${args.join(" ")} ended with ${code}`);
    return out.trim();
  }

  /** A client of one of the two eras, connected over stdio. */
  async stdio(args: string[] = [], options: ClientOptions & { era?: Era } = {}): Promise<Connected> {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [ENTRY, "mcp", ...args],
      cwd: this.house.workspace,
      env: this.env,
      stderr: "pipe",
    });
    let errors = "";
    (transport.stderr as NodeJS.ReadableStream | null)?.on("data", (data) => {
      errors += data;
    });
    const client = makeClient(options);
    await client.connect(transport);
    return this.#connected(client, { pid: transport.pid, stderr: () => errors });
  }

  async http(args: string[] = []): Promise<HttpServer> {
    const child = this.spawn(["mcp", "--http", "0", ...args]);
    let errors = "";
    const url = await new Promise<string>((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${errors}`)));
      child.stderr?.on("data", (data) => {
        errors += data;
        const [, found] = /Serving MCP at (\S+)/.exec(errors) ?? [];
        if (found) resolve(found);
      });
    });
    return {
      url,
      process: child,
      stderr: () => errors,
      stop: async (signal = "SIGTERM") => {
        await killAndWait(child, signal);
        return child.exitCode;
      },
    };
  }

  /** A good token of this agent. */
  token(agent: string, name = `${agent}-token`): Promise<string> {
    return this.run("token", "create", name, "--agent", agent);
  }

  async httpClient(url: string, token: string, options: ClientOptions & { era?: Era } = {}): Promise<Connected> {
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    });
    const client = makeClient(options);
    await client.connect(transport);
    return this.#connected(client, { pid: null, stderr: () => "" });
  }

  #connected(client: Client, more: Pick<Connected, "pid" | "stderr">): Connected {
    const close = () => client.close();
    this.#closing.push(close);
    return { client, close, ...more };
  }

  async close(): Promise<void> {
    for (const close of this.#closing.reverse()) await close();
    await this.house.close();
  }
}

function makeClient({ era = "2025", ...options }: ClientOptions & { era?: Era }): Client {
  const mode = era === "2025" ? ("legacy" as const) : { pin: "2026-07-28" };
  return new Client({ name: "test", version: "1" }, { versionNegotiation: { mode }, ...options });
}

/** Speaks to the server line by line, also what no client would say. */
export class RawClient {
  readonly child: ChildProcess;
  readonly received: Record<string, unknown>[] = [];
  /** Lines that are no JSON-RPC message. */
  readonly rubbish: string[] = [];
  #waiting: (() => void)[] = [];
  #id = 0;

  constructor(child: ChildProcess) {
    this.child = child;
    child.stdin?.on("error", () => {});
    if (!child.stdout) throw new Error("no stdout");
    createInterface({ input: child.stdout }).on("line", (line) => {
      try {
        const message = JSON.parse(line) as Record<string, unknown>;
        if (message.jsonrpc !== "2.0") throw new Error(line);
        this.received.push(message);
      } catch {
        this.rubbish.push(line);
      }
      for (const wake of this.#waiting.splice(0)) wake();
    });
  }

  send(line: string | Uint8Array): void {
    this.child.stdin?.write(line);
    this.child.stdin?.write("\n");
  }

  /** Resolves with the first message that is wanted, also one that came before. */
  async wanted(what: (message: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    for (;;) {
      const found = this.received.find(what);
      if (found) return found;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  async request(method: string, params: object = {}): Promise<Record<string, unknown>> {
    const id = `raw-${++this.#id}`;
    this.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return this.wanted((message) => message.id === id && !("method" in message));
  }

  notify(method: string, params: object = {}): void {
    this.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  async initialize(capabilities: object = {}): Promise<Record<string, unknown>> {
    const clientInfo = { name: "raw", version: "1" };
    const answer = await this.request("initialize", { protocolVersion: "2025-06-18", capabilities, clientInfo });
    this.notify("notifications/initialized");
    return answer;
  }

  /** Ends stdin and waits for the server to leave. */
  async leave(): Promise<number | null> {
    this.child.stdin?.end();
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, "exit");
    return this.child.exitCode;
  }
}
