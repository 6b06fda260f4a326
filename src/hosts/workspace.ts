import { readFileSync, readlinkSync, realpathSync } from "node:fs";
import { basename } from "node:path";
import { SallyportError } from "../core/error.ts";
import { operatorStep } from "../core/next-step.ts";
import { isWithin } from "../sandbox/workspace.ts";

/** The process that calls the shell. */
export interface ShellCaller {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The PID of the caller's parent. */
  parent: number;
}

const SHELLS = /^(?:ba|da|z|k|fi|a)?sh$|^busybox$/;
const MAX_SHELLS = 8;

/**
 * Returns the workspace for a shell: the folder in which the agent host runs. The working directory would not do,
 * because the agent chooses it, and the workspace is what its commands may write to (invariant 7). Without a host, a
 * person has started the shell, and the workspace is the working directory.
 */
export function hostWorkspace({ cwd, env, parent }: ShellCaller): string {
  const own = realPathOf(cwd) ?? cwd;
  const host = hostFolder(parent, env);
  if (host === null) return own;
  const named = env.SALLYPORT_WORKSPACE;
  const set = named?.startsWith("/") ? realPathOf(named) : null;
  const found = [host, set].find((folder) => folder !== null && folder !== "/" && isWithin(own, folder));
  if (found) return found;
  const message = `The working directory \`${own}\` is outside the folder in which the agent host runs (\`${host}\`).`;
  throw new SallyportError("PathOutOfScope", message, [
    { action: "check_scope", hint: "Use a working directory in the folder of the project." },
    operatorStep("set_workspace", "Start the host in the folder of the project, or set SALLYPORT_WORKSPACE to it."),
  ]);
}

/** Returns the working directory of the agent host that started this process, or null when there is none. */
function hostFolder(parent: number, env: ShellCaller["env"]): string | null {
  let pid = parent;
  for (let depth = 0; depth < MAX_SHELLS && pid > 1; depth++) {
    const program = linkOf(`/proc/${pid}/exe`);
    if (program === null) return null;
    if (!SHELLS.test(basename(program))) return linkOf(`/proc/${pid}/cwd`);
    // A person's shell, unless the host runs this shell within another one (CLAUDE_CODE_SHELL_PREFIX).
    if (env.CLAUDECODE !== "1") return null;
    pid = parentOf(pid);
  }
  return null;
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return 0;
  }
}

function realPathOf(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}
