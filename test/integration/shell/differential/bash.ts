import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface Observed {
  /** Programs that bash started, each as its name followed by its arguments. */
  executions: string[][];
  /** Files that the text created. */
  files: string[];
}

/** Maximum duration of a text. Most take a few milliseconds, so this only stops runaway ones. */
const TIMEOUT_MS = 1000;
/** Options for the removal of folders, with retries because surviving processes may still be writing. */
const REMOVING = { recursive: true, force: true, maxRetries: 10 } as const;
/** User that the texts run as when the test runs as root, so that the process limit applies. */
const NOBODY = 65534;

/**
 * Runs text in a real bash, in a temporary folder, with a PATH of logging stand-ins and a few real wrappers.
 *
 * A driver shell keeps running and starts each text as a job, which is cheaper than spawning bash from Node each time.
 */
export class Bash {
  readonly home: string;
  readonly cwd: string;
  readonly bin: string;
  private readonly root: string;
  private readonly logs: string;
  private readonly confinement: string[];
  private readonly driver: ChildProcessWithoutNullStreams;
  private readonly replies: AsyncIterator<string>;
  private runs = 0;

  constructor(standIns: readonly string[], wrappers: readonly string[]) {
    this.root = mkdtempSync(join(tmpdir(), "differential-"));
    this.home = join(this.root, "home");
    this.cwd = join(this.root, "work");
    this.bin = join(this.root, "bin");
    this.logs = join(this.root, "logs");
    this.confinement = confine();
    chmodSync(this.root, 0o755);
    for (const folder of [this.home, this.logs, this.bin]) this.folder(folder);
    const standIn = `#!/bin/sh\nprintf '%s\\0' "$#" "\${0##*/}" "$@" >&9\n`;
    for (const name of standIns) {
      writeFileSync(join(this.bin, name), standIn);
      chmodSync(join(this.bin, name), 0o755);
    }
    for (const name of wrappers) {
      const real = ["/usr/bin", "/bin"].map((folder) => join(folder, name)).find((path) => existsSync(path));
      if (real !== undefined) symlinkSync(real, join(this.bin, name));
    }
    writeFileSync(join(this.root, "driver.sh"), driverScript);
    const [command = "", ...args] = [...this.confinement, "/bin/bash", "--norc", join(this.root, "driver.sh")];
    const limit = this.unprivileged ? "256" : "unlimited";
    this.driver = spawn(command, [...args, this.root, limit], {
      env: { PATH: this.bin, HOME: this.home, LC_ALL: "C.UTF-8" },
    });
    this.driver.stderr.resume();
    this.replies = createInterface({ input: this.driver.stdout })[Symbol.asyncIterator]();
  }

  /** Runs the text with `bash -c` and returns what bash did. */
  async run(text: string): Promise<Observed> {
    const run = String(this.runs++);
    this.folder(this.cwd);
    writeFileSync(join(this.root, "text"), text);
    this.driver.stdin.write(`${run}\n`);
    const group = Number(await this.reply());
    const timer = setTimeout(() => kill(group), TIMEOUT_MS);
    await this.reply();
    clearTimeout(timer);
    // Background processes get a moment to be observed, and are then killed with their process group.
    if (/&|>\(|coproc/.test(text)) await new Promise((resolve) => setTimeout(resolve, 4));
    kill(group);
    const files = readdirSync(this.cwd).map((name) => join(this.cwd, name));
    const executions = parsed(readFileSync(join(this.logs, run), "utf8"));
    // `timeout` leaves the process group. Processes that survive it keep a folder and a log that no later run uses.
    renameSync(this.cwd, `${this.cwd}-${run}`);
    rmSync(`${this.cwd}-${run}`, REMOVING);
    return { executions, files };
  }

  close(): void {
    this.driver.stdin.end();
    this.driver.kill("SIGKILL");
    rmSync(this.root, REMOVING);
  }

  private get unprivileged(): boolean {
    return this.confinement.some((part) => part.endsWith("setpriv"));
  }

  private folder(path: string): void {
    mkdirSync(path);
    if (this.unprivileged) chownSync(path, NOBODY, NOBODY);
  }

  private async reply(): Promise<string> {
    const { value, done } = await this.replies.next();
    if (done) throw new Error("the driver shell has exited");
    return value;
  }
}

/** With job control each text gets its own process group, so that one signal ends all its processes. */
const driverScript = `root=$1 limit=$2
set -m
exec 2>/dev/null
while read -r run; do
  mapfile -d '' -t text < "$root/text"
  (
    ulimit -t 2 -f 2048 -c 0
    [ "$limit" = unlimited ] || ulimit -u "$limit"
    cd "$root/work"
    exec 9>> "$root/logs/$run"
    unset root limit run OLDPWD
    exec bash -c "\${text[0]}" </dev/null >/dev/null 2>&1
  ) &
  echo $!
  wait $!
  echo done
done
`;

/**
 * Returns a command prefix that restricts the texts further, where the machine supports it: no network, and an
 * unprivileged user instead of root.
 */
function confine(): string[] {
  const works = (command: string[]): boolean =>
    spawnSync(command[0] ?? "", [...command.slice(1), "/bin/true"], { stdio: "ignore" }).status === 0;
  const network =
    [["/usr/bin/unshare", "-n"], ["/usr/bin/unshare", "-rn"], []].find((try_) => try_.length === 0 || works(try_)) ??
    [];
  if (process.getuid?.() !== 0) return network;
  const drop = ["/usr/bin/setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", "--no-new-privs"];
  return works([...network, ...drop]) ? [...network, ...drop] : network;
}

function kill(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // The process group has already exited.
  }
}

function parsed(log: string): string[][] {
  const fields = log.split("\0");
  const found: string[][] = [];
  for (let at = 0; at < fields.length - 1; ) {
    const count = Number(fields[at]);
    found.push(fields.slice(at + 1, at + 2 + count));
    at += 2 + count;
  }
  return found;
}
