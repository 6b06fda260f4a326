import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { descendantsOf, exists, isRunning, send, zygotesOf } from "../../test/fixtures/processes.ts";
import { until } from "../../test/fixtures/until.ts";
import { Random } from "../soak/random.ts";
import type { CheckOptions, CheckReport } from "./check.ts";
import type { LoadOptions } from "./load.ts";

const IMAGE_BYTES = 512 << 20;
const folderOfScripts = import.meta.dirname;

/** Returns why power failures cannot be simulated here, or null. */
export function whyNot(): string | null {
  if (process.getuid?.() !== 0) return "only root can mount file systems";
  if (!existsSync("/dev/loop-control")) return "this machine has no loop devices";
  const missing = ["mkfs.ext4", "losetup", "mount", "unshare"].filter(
    (program) => spawnSync("sh", ["-c", `command -v ${program}`], { env: withSystemPath() }).status !== 0,
  );
  return missing.length === 0 ? null : `not installed: ${missing.join(", ")}`;
}

function withSystemPath(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
}

function run(program: string, args: string[]): string {
  return execFileSync(program, args, { encoding: "utf8", env: withSystemPath() });
}

export interface PowercutOptions {
  cuts: number;
  seed: number;
  durability: "process" | "power-loss";
  /** The longest time between two power failures, in ms. */
  longestMs: number;
  onCut?: (report: CheckReport) => void;
}

/**
 * Runs a gateway on a file system in an image, and copies the image at random moments. A copy has what the device had
 * received and nothing of what the kernel still held in memory, like a disk after a power failure. Each copy is mounted,
 * opened with a gateway, and compared with everything that had been acknowledged.
 */
export async function powercut({ cuts, seed, durability, longestMs, onCut }: PowercutOptions): Promise<CheckReport[]> {
  const random = new Random(seed);
  const folder = mkdtempSync(join(tmpdir(), "sallyport-powercut-"));
  const [image, mounted, workspace] = ["disk.img", "mounted", "workspace"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const name of [mounted, workspace]) mkdirSync(name);
  writeFileSync(image, "");
  truncateSync(image, IMAGE_BYTES);
  run("mkfs.ext4", ["-q", "-m", "0", image]);
  const device = run("losetup", ["--find", "--show", image]).trim();
  const state = join(mounted, "state");
  const journal = join(folder, "journal");
  const reports: CheckReport[] = [];
  try {
    // Metadata is written every second, so that the copies differ in how much is missing.
    run("mount", ["-o", "commit=1", device, mounted]);
    const load = await startLoad({ state, workspace, journal, durability, seed });
    try {
      for (let cut = 0; cut < cuts; cut++) {
        await sleep(random.between(50, longestMs));
        if (load.exitCode !== null) throw new Error(`the load has ended with exit code ${load.exitCode}`);
        const frozen = await freeze(load.pid as number, state);
        copyFileSync(journal, `${journal}.cut`);
        await copyDevice(device, image, `${image}.cut`);
        for (const pid of frozen) send(pid, "SIGCONT");
        const report = check(folder, { state, workspace, journal: `${journal}.cut`, durability });
        reports.push(report);
        onCut?.(report);
      }
    } finally {
      await end([load.pid as number, ...zygotesOf(state)]);
    }
  } finally {
    spawnSync("umount", ["-l", mounted]);
    spawnSync("losetup", ["--detach", device], { env: withSystemPath() });
    rmSync(folder, { recursive: true, force: true });
  }
  return reports;
}

/** Ends processes and their descendants, which may be stopped. */
async function end(roots: number[]): Promise<void> {
  const pids = roots.flatMap((root) => [root, ...descendantsOf(root).map(({ pid }) => pid)]);
  for (const pid of pids) if (exists(pid)) send(pid, "SIGKILL");
  await until("all processes have ended", () => pids.every((pid) => !isRunning(pid)));
}

async function startLoad(options: LoadOptions) {
  writeFileSync(options.journal, "");
  const load = spawn(process.execPath, [join(folderOfScripts, "load.ts"), JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(load.stdout, "data");
  return load;
}

/** Stops the gateway, its keepers and their commands between two system calls. Returns their pids. */
async function freeze(gateway: number, state: string): Promise<Set<number>> {
  const stopped = new Set<number>();
  for (let before = -1; before < stopped.size; ) {
    before = stopped.size;
    for (const root of [gateway, ...zygotesOf(state)]) {
      for (const pid of [root, ...descendantsOf(root).map((process) => process.pid)]) {
        if (stopped.has(pid)) continue;
        stopped.add(pid);
        send(pid, "SIGSTOP");
      }
    }
  }
  await until("no process runs", () => [...stopped].every((pid) => !/^[RSD] /.test(stateOf(pid))));
  return stopped;
}

function stateOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2);
  } catch {
    return "";
  }
}

/** Copies an image. Repeats if the device was written to in the meantime, since the copy would mix two moments. */
async function copyDevice(device: string, image: string, copy: string): Promise<void> {
  const written = () =>
    readFileSync(`/sys/block/${basename(device)}/stat`, "utf8")
      .trim()
      .split(/\s+/)
      .slice(4, 9)
      .join();
  for (;;) {
    const before = written();
    run("cp", ["--sparse=always", image, copy]);
    if (written() === before) return;
    await sleep(5);
  }
}

/**
 * Mounts the copy where the original is, and opens it in namespaces of its own: with another boot ID, and without the
 * processes that run on the original.
 */
function check(folder: string, options: CheckOptions): CheckReport {
  const boot = join(folder, "boot-id");
  writeFileSync(boot, `${crypto.randomUUID()}\n`);
  const script = `
    set -e
    mount --bind "$1" /proc/sys/kernel/random/boot_id
    umount -l "$3"
    mount -o loop "$2" "$3"
    exec "$4" "$5" "$6"`;
  const args = [boot, join(folder, "disk.img.cut"), join(folder, "mounted"), process.execPath];
  const namespaces = ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"];
  const checked = spawnSync(
    "unshare",
    [...namespaces, "sh", "-c", script, "sh", ...args, join(folderOfScripts, "check.ts"), JSON.stringify(options)],
    { encoding: "utf8", env: withSystemPath(), maxBuffer: 64 << 20 },
  );
  if (checked.status !== 0) {
    const empty = { sessions: 0, exits: 0, bytes: 0, audit: 0, work: 0 };
    const findings = [`the check has failed: ${checked.stderr || checked.stdout}`];
    return { acknowledged: empty, kept: empty, restored: 0, gaps: 0, findings };
  }
  return JSON.parse(checked.stdout) as CheckReport;
}
