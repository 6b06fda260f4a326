/**
 * Determines whether this process was started by an agent's command, directly or indirectly (invariant 7: a command
 * cannot approve itself).
 *
 * A process can unset an environment variable and leave its terminal or process group, but it cannot change its
 * ancestors. A keeper is the subreaper of its command, so a process that forks twice and calls setsid is reparented to
 * the keeper, which remains an ancestor. If the chain cannot be followed, the result is "unknown", and the process may
 * not approve anything.
 *
 * A portable keeper is not a subreaper: its reparented descendants are recognized only by an environment variable,
 * which they can unset (docs/portable.md).
 */
import { readFileSync, readlinkSync, statfsSync } from "node:fs";
import { keeperBinary } from "../executor/native/zygote.ts";
import { SESSION_VARIABLE } from "../executor/processes.ts";
import { selfApproval } from "./errors.ts";

export type Ancestry = "keeper" | "none" | "unknown";

const PROC_MAGIC = 0x9fa0;
const KEEPER_TITLE = "keeper: ";
/** How many times the search is tried: a parent that exits in the meantime changes the chain. */
const ATTEMPTS = 5;
const MAX_DEPTH = 10_000;

export function readAncestry(): Ancestry {
  if (process.env[SESSION_VARIABLE] !== undefined) return "keeper";
  if (process.platform !== "linux") return "none";
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const answer = searchAncestors();
    if (answer !== "unknown") return answer;
  }
  return "unknown";
}

/**
 * Reports whether this process runs in a session. The environment is not considered, because an agent host may load it
 * from a file of the agent.
 */
export function isInsideSession(): boolean {
  return process.platform === "linux" && (searchAncestors() === "keeper" || isSandboxed());
}

/**
 * Reports whether this process has the restrictions of a sandbox and its masks, which only root can mount. A sandbox
 * that has a /proc of its own hides the keeper.
 */
function isSandboxed(): boolean {
  try {
    const status = readFileSync("/proc/self/status", "latin1");
    if (!/^NoNewPrivs:\t1$/m.test(status) || !/^Seccomp:\t2$/m.test(status)) return false;
    return / \/(?:nothing|empty) \/.* - tmpfs none /.test(readFileSync("/proc/self/mountinfo", "latin1"));
  } catch {
    return false;
  }
}

function searchAncestors(): Ancestry {
  try {
    // A different file system mounted over /proc could contain anything.
    if (statfsSync("/proc").type !== PROC_MAGIC) return "unknown";
    // process.pid cannot be used: /proc may belong to another PID namespace, where that PID is a different process.
    let pid = parentOf("self");
    for (let level = 0; level < MAX_DEPTH; level++) {
      if (pid === 0) return "none";
      if (isKeeper(pid)) return "keeper";
      pid = parentOf(pid);
    }
  } catch {
    // The process has exited, or is hidden from this user.
  }
  return "unknown";
}

/** Returns the parent of a process. Throws when it has exited or is hidden. */
export function parentOf(pid: number | "self"): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The process name in parentheses can itself contain parentheses and spaces.
  const [, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const own = Number.parseInt(stat, 10);
  if (!parent || (pid !== "self" && own !== pid)) throw new Error(`/proc/${pid}/stat does not describe process ${pid}`);
  return Number(parent);
}

/** Reports whether a process is a keeper, by its title or its executable. A process gains nothing by imitating one. */
export function isKeeper(pid: number): boolean {
  if (readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith(KEEPER_TITLE)) return true;
  try {
    return readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, "") === keeperBinary();
  } catch {
    return false; // A process of another user. Keepers run as this user.
  }
}

/** Returns the PID namespace of this process. A command in its own namespace would not see its keeper. */
export function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

/** Throws unless a person started this process. `origin` is the PID namespace of the request. */
export function assertPerson(ancestry: Ancestry, origin: string | null): void {
  if (ancestry === "keeper") throw selfApproval("this process runs inside a Sallyport session");
  if (ancestry === "unknown") throw selfApproval("the parent processes of this process cannot be determined");
  if (origin !== null && origin !== pidNamespace()) {
    throw selfApproval("this process and the request are in different PID namespaces");
  }
}
