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
  /** The programs that bash really started, each as its name, then its arguments. */
  executions: string[][];
  /** The files that were not there before. */
  files: string[];
}

/** Far under what a runaway needs to be felt; generated texts take a few milliseconds. */
const TIMEOUT_MS = 1000;
/** What survives may still be writing. */
const REMOVING = { recursive: true, force: true, maxRetries: 10 } as const;
/** The unprivileged user a root-run test falls back to, so that the process limit binds. */
const NOBODY = 65534;

/**
 * A real bash in a throw-away folder whose PATH holds logging stand-ins and the few real wrappers asked for.
 *
 * A driver shell stays up and runs each text in a job of its own, which is cheaper than a spawn from Node for each.
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

  /** What bash did while it ran the text with `bash -c`. */
  async run(text: string): Promise<Observed> {
    const run = String(this.runs++);
    this.folder(this.cwd);
    writeFileSync(join(this.root, "text"), text);
    this.driver.stdin.write(`${run}\n`);
    const group = Number(await this.reply());
    const timer = setTimeout(() => kill(group), TIMEOUT_MS);
    await this.reply();
    clearTimeout(timer);
    // What it left in the background gets a moment to be seen, and is then ended with its process group.
    if (/&|>\(|coproc/.test(text)) await new Promise((resolve) => setTimeout(resolve, 4));
    kill(group);
    const files = readdirSync(this.cwd).map((name) => join(this.cwd, name));
    const executions = parsed(readFileSync(join(this.logs, run), "utf8"));
    // `timeout` leaves the process group: what survives keeps a folder and a log that no later run looks at.
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
    if (done) throw new Error("the driver shell is gone");
    return value;
  }
}

/** Job control gives each text a process group of its own, so that one signal ends all it started. */
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

/** Further walls where they can be had: no network, and an unprivileged user instead of root. */
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
    // Nothing of it is left.
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
