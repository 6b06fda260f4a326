import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { openDatabase } from "../../src/storage/database.ts";
import { type TokenRole, Tokens } from "../../src/storage/tokens.ts";

/** High quotas; all other settings are the defaults. */
const CONFIGURATION = { limits: { sessions: 10_000, startsPerMinute: 1_000_000 } };

/** A service in a separate process with its own state folder. */
export class BenchService {
  readonly folder = mkdtempSync(join(tmpdir(), "sallyport-bench-"));
  readonly state = join(this.folder, "state");
  readonly workspace = join(this.folder, "workspace");
  readonly #entry: string;
  #child: ChildProcess | null = null;
  url = "";

  constructor(entry: string) {
    this.#entry = entry;
    mkdirSync(this.state, { mode: 0o700 });
    mkdirSync(this.workspace);
    mkdirSync(join(this.folder, "sallyport"));
    writeFileSync(join(this.folder, "sallyport", "sallyport.json"), JSON.stringify(CONFIGURATION));
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Starts the service and waits until it listens. */
  async start(): Promise<void> {
    const env = { ...process.env, SALLYPORT_STATE: this.state, XDG_CONFIG_HOME: this.folder };
    const args = ["serve", "--json", "--no-link", "--listen", "0", "--workspace", this.workspace];
    this.#child = spawn(process.execPath, [this.#entry, ...args], { env, stdio: ["ignore", "pipe", "inherit"] });
    const lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream });
    const [line] = await Promise.race([once(lines, "line"), once(this.#child, "exit")]);
    if (typeof line !== "string") throw new Error(`the service did not start: it exited with code ${line}`);
    this.url = JSON.parse(line).url;
  }

  async stop(): Promise<void> {
    if (!this.#child || this.#child.exitCode !== null) return;
    const left = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    await left;
  }

  /** Creates a token and returns the request headers that contain it. */
  caller(name: string, role: TokenRole = "operator"): Record<string, string> {
    const database = openDatabase(join(this.state, "sallyport.db"));
    const { secret } = new Tokens(database).create({ name, role, agent: "", createdBy: "bench" });
    database.close();
    return { authorization: `Bearer ${secret}` };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
