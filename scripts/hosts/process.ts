import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

export interface Ended {
  /** The exit code, or null if the program was killed. */
  code: number | null;
  stdout: string;
  stderr: string;
  timedOut: boolean;
}

/** Runs a program in a process group of its own, without a terminal or input, until it exits or the time is over. */
export async function run(
  program: string,
  args: string[],
  { cwd, env, timeoutMs }: { cwd: string; env: NodeJS.ProcessEnv; timeoutMs: number },
): Promise<Ended> {
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.stderr += text;
  });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    killGroup(child.pid);
  }, timeoutMs);
  // `exit`, not `close`: daemons that the host leaves behind keep its output open.
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  }).finally(() => clearTimeout(timer));
  killGroup(child.pid);
  child.stdout.destroy();
  child.stderr.destroy();
  return { code, ...output, timedOut };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group is gone.
  }
}

/**
 * Kills every process whose command line or environment names `folder`, which is new for each trial. Hosts start
 * daemons in sessions of their own, and keepers outlive their gateways.
 */
export function killAllOf(folder: string): void {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    if (Number(pid) === process.pid) continue;
    if (!names(pid, "cmdline", folder) && !names(pid, "environ", folder)) continue;
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // It exited in the meantime.
    }
  }
}

function names(pid: string, file: "cmdline" | "environ", folder: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1").includes(folder);
  } catch {
    // Another user's process, or one that exited.
    return false;
  }
}
