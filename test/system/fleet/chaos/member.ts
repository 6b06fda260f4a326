/** A process of the fleet that can be killed and restarted: a worker, or a gateway that accepts requests on stdin. */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { isRunning } from "../../../fixtures/processes.ts";
import { until } from "../../../fixtures/until.ts";
import type { Line } from "./line.ts";

export interface MemberOptions {
  name: string;
  line: Line;
  /** Returns the command line for the given server URLs. */
  argv: (urls: string[]) => string[];
  env: NodeJS.ProcessEnv;
}

const WORKER_IS_UP = "is accepting jobs from fleet";

export class Member {
  readonly name: string;
  readonly line: Line;
  readonly #options: MemberOptions;
  #child: ChildProcess | null = null;
  #said = "";
  #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #ready = false;
  #n = 0;
  kills = 0;

  constructor(options: MemberOptions) {
    this.name = options.name;
    this.line = options.line;
    this.#options = options;
  }

  get isUp(): boolean {
    return this.#child !== null && this.#ready;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** The end of its stderr. */
  get complaints(): string {
    return this.#said.slice(-4000);
  }

  start(): void {
    if (this.#child) return;
    const { line, argv, env } = this.#options;
    const [file = "", ...args] = [...line.within, ...argv(line.urls)];
    const child = spawn(file, args, { env, stdio: ["pipe", "pipe", "pipe"] });
    this.#child = child;
    child.stdin?.on("error", () => {});
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#said = (this.#said + chunk).slice(-20_000);
      if (this.#child === child && chunk.includes(WORKER_IS_UP)) this.#ready = true;
    });
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (text) => {
      if (this.#child === child) this.#hear(text);
    });
    const gone = () => {
      if (this.#child === child) this.#lost();
    };
    child.on("exit", gone);
    child.on("error", gone);
  }

  async started(): Promise<void> {
    // A process that exits is started again, as a service manager would do.
    const look = () => {
      this.start();
      return this.isUp;
    };
    await until(`${this.name} is up`, look, 60_000).catch((error: Error) => {
      throw new Error(`${error.message}: ${this.complaints}`);
    });
  }

  /** Kills the process with SIGKILL. Its child processes keep running, and pending requests are rejected. */
  async kill(): Promise<void> {
    const pid = this.pid;
    if (pid === null) return;
    this.kills++;
    this.#child?.kill("SIGKILL");
    await until(`${this.name} has exited`, () => !isRunning(pid));
    this.#lost();
  }

  freeze(): void {
    this.#child?.kill("SIGSTOP");
  }

  thaw(): void {
    this.#child?.kill("SIGCONT");
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGCONT");
    child.kill("SIGTERM");
    const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
    await ended;
    clearTimeout(late);
  }

  /** Sends a request to the gateway. Rejects with "gone" when the process exits before it responds. */
  ask<T>(order: object): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (!this.isUp) return reject(new Error("gone"));
      const n = ++this.#n;
      this.#waiting.set(n, { resolve: resolve as (value: unknown) => void, reject });
      this.#child?.stdin?.write(`${JSON.stringify({ n, ...order })}\n`);
    });
  }

  #lost(): void {
    this.#child = null;
    this.#ready = false;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(new Error("gone"));
  }

  #hear(text: string): void {
    this.#ready = true;
    const { n, value, error } = JSON.parse(text) as { n?: number; value?: unknown; error?: { message: string } };
    const waiting = n === undefined ? undefined : this.#waiting.get(n);
    if (n === undefined || !waiting) return;
    this.#waiting.delete(n);
    if (error) waiting.reject(Object.assign(new Error(error.message), error));
    else waiting.resolve(value);
  }
}
