import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** The folders of one attempt. They are not in /tmp, which sandboxed commands do not share. */
export class Place {
  readonly folder = mkdtempSync("/var/tmp/sallyport-bench-agents-");
  readonly workspace = join(this.folder, "workspace");
  readonly home = join(this.folder, "home");

  constructor() {
    for (const folder of [this.workspace, this.home]) mkdirSync(folder);
  }

  /** The environment of a server: the usual variables and a separate home directory. */
  env(): NodeJS.ProcessEnv {
    const { PATH, LANG, TERM, SHELL = "/bin/bash" } = process.env;
    return { PATH, LANG, TERM, SHELL, HOME: this.home };
  }

  write(files: Record<string, string>): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(this.workspace, name, ".."), { recursive: true });
      writeFileSync(join(this.workspace, name), text);
    }
  }

  /** Returns the text of a file of the workspace, or null if there is none. */
  read(name: string): string | null {
    try {
      return readFileSync(join(this.workspace, name), "utf8");
    } catch {
      return null;
    }
  }

  /** Kills everything that the attempt has left running, and removes its folders. */
  async leave(): Promise<void> {
    for (let tries = 0; tries < 20; tries++) {
      const left = processes((pid) => belongsTo(pid, this.folder));
      if (left.length === 0) break;
      for (const pid of left) kill(pid);
      await pause(50);
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has exited in the meantime.
  }
}

/** Tells whether a process was started by a server of this place: by its arguments, environment or directory. */
function belongsTo(pid: number, folder: string): boolean {
  const texts = [field(pid, "cmdline"), field(pid, "environ"), directoryOf(pid)];
  return texts.some((text) => text.includes(folder));
}

function processes(matches: (pid: number) => boolean): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => pid !== process.pid && matches(pid));
}

/** Returns the processes whose command line contains this text; arguments are separated by a space. */
export function withArguments(text: string): number[] {
  return processes((pid) => field(pid, "cmdline").replaceAll("\0", " ").includes(text));
}

export function directoryOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "";
  }
}

function field(pid: number, name: "cmdline" | "environ"): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}
