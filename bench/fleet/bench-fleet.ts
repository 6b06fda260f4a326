/** A fleet on this machine: a server, workers in separate processes, and a gateway that uses them. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { NatsServer } from "../../test/fixtures/nats.ts";
import { benchGateway, UNLIMITED } from "../measure.ts";

const PROCESS = fileURLToPath(new URL("../../test/fixtures/worker-process.ts", import.meta.url));
const MS_PER_TICK = 10;

export interface BenchWorker {
  name: string;
  child: ChildProcess;
  leave(): Promise<void>;
}

export class BenchFleet {
  readonly server: NatsServer;
  readonly workers: BenchWorker[] = [];

  private constructor(server: NatsServer) {
    this.server = server;
  }

  static async start(): Promise<BenchFleet> {
    return new BenchFleet(await NatsServer.start());
  }

  async addWorker(slots: number): Promise<void> {
    const name = `h${this.workers.length + 1}`;
    const folder = mkdtempSync(join(tmpdir(), "sallyport-bench-worker-"));
    const options = {
      fleet: { servers: this.server.url, as: name },
      state: join(folder, "state"),
      workspaces: join(folder, "workspaces"),
      slots,
      ...UNLIMITED,
    };
    const child = spawn(process.execPath, [PROCESS], {
      env: { ...process.env, WORKER_OPTIONS: JSON.stringify(options) },
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout as NonNullable<typeof child.stdout>, "data");
    const leave = async () => {
      // The zygote is a child of the worker and keeps running unless it is stopped.
      const zygotes = childrenOf(child.pid ?? 0);
      child.kill("SIGTERM");
      if (child.exitCode === null) await once(child, "exit");
      for (const pid of zygotes) process.kill(pid, "SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    };
    this.workers.push({ name, child, leave });
  }

  /** Any free worker may run the commands, because they need no workspace of their own. */
  gateway() {
    return benchGateway({ fleet: { servers: this.server.url, as: "bench", sticky: false } });
  }

  /** Returns the CPU time in ms that the server and the workers have used, excluding the commands. */
  cpuMs(): number {
    const pids = [this.server.pid ?? 0, ...this.workers.map(({ child }) => child.pid ?? 0)];
    return pids.reduce((sum, pid) => sum + cpuOf(pid), 0);
  }

  async close(): Promise<void> {
    for (const worker of this.workers) await worker.leave();
    await this.server.close();
  }
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.split(" ").filter(Boolean).map(Number);
}

function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}
