import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { withVariable } from "../../test/fixtures/processes.ts";
import type { GatewayProcessOptions } from "./gateway-process.ts";
import { Journal } from "./journal.ts";
import type { Random } from "./random.ts";

/** An environment variable that commands inherit; it identifies their processes in /proc. */
const MARK = "SALLYPORT_SOAK_MARK";

/** A limit on file descriptors that is enough for Node to start, but not for many sessions. */
const FEW_DESCRIPTORS = 64;
const CLOCK_MS = 3_600_000;

/** A state folder that several gateway processes share. */
export class SoakEnvironment {
  readonly folder = mkdtempSync(join(tmpdir(), "sallyport-soak-"));
  readonly state = join(this.folder, "state");
  readonly workspace = join(this.folder, "workspace");
  readonly journals = join(this.folder, "journals");
  readonly mark = randomUUID();
  readonly gateways: ChildProcess[] = [];
  /** The gateways that accept commands. Killing one that is still loading would test nothing. */
  readonly ready: ChildProcess[] = [];
  readonly own: Journal;
  readonly #random: Random;
  #count = 0;

  constructor(random: Random) {
    this.#random = random;
    for (const folder of [this.workspace, join(this.workspace, "ran"), this.journals]) mkdirSync(folder);
    this.own = new Journal(this.journals, "soak");
  }

  /** Starts another gateway: an ordinary one, one whose clock jumps, or one with few file descriptors. */
  startGateway(kind: "plain" | "clock" | "descriptors"): void {
    const name = `${kind}-${this.#count++}`;
    const orders: GatewayProcessOptions = {
      state: this.state,
      workspace: this.workspace,
      journals: this.journals,
      name,
      seed: this.#random.between(0, 2 ** 31),
      atOnce: this.#random.between(2, 4),
      clockMs: kind === "clock" ? CLOCK_MS : 0,
    };
    const program = fileURLToPath(new URL("gateway-process.ts", import.meta.url));
    const argv = [process.execPath, program];
    if (kind === "descriptors") argv.unshift("sh", "-c", `ulimit -n ${FEW_DESCRIPTORS}; exec "$0" "$@"`);
    const [file = "", ...args] = argv;
    const cache = join(this.folder, "cache");
    const env = { ...process.env, NODE_COMPILE_CACHE: cache, SOAK_ORDERS: JSON.stringify(orders), [MARK]: this.mark };
    const child = spawn(file, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    let wasReady = false;
    child.stdout.once("data", () => {
      wasReady = true;
      this.ready.push(child);
    });
    let errors = "";
    child.stderr.on("data", (chunk) => {
      errors += chunk;
    });
    child.once("close", (code, signal) => {
      for (const list of [this.gateways, this.ready])
        list.splice(0, list.length, ...list.filter((each) => each !== child));
      const stoppedBeforeReady = signal === "SIGTERM" && !wasReady;
      if (signal === "SIGKILL" || code === 0 || stoppedBeforeReady) return;
      this.own.note({ what: "finding", text: `gateway ${name} exited with ${code ?? signal}: ${errors.trim()}` });
    });
    this.gateways.push(child);
  }

  /** Stops all gateways and waits until they have finished their jobs. */
  async stopGateways(limitMs: number): Promise<void> {
    await Promise.all(
      [...this.gateways].map(async (child) => {
        child.kill("SIGTERM");
        const late = setTimeout(() => {
          this.own.note({ what: "finding", text: `a gateway did not exit within ${limitMs} ms` });
          child.kill("SIGKILL");
        }, limitMs);
        await once(child, "close");
        clearTimeout(late);
      }),
    );
  }

  /** Returns the running processes that commands of this environment started, and the gateways. */
  alive(): number[] {
    return withVariable(MARK, this.mark);
  }

  remove(): void {
    this.own.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
