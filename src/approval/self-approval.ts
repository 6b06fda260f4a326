/**
 * Whether this process was started by an agent's command, however indirectly (promise 7: no command approves itself).
 *
 * A variable in the environment can be unset, a terminal or process group can be left; parents cannot. A keeper is the
 * subreaper of all its command started, so what forks twice and calls setsid is handed to the keeper, and the keeper
 * stays among its ancestors. Where the chain cannot be followed the answer is "unknown", which is as good as yes.
 *
 * A portable keeper is no subreaper: what it started and lost is known by a variable only, which can be unset
 * (docs/portable.md).
 */
import { readFileSync, readlinkSync, statfsSync } from "node:fs";
import { keeperBinary } from "../executor/native/zygote.ts";
import { SESSION_VARIABLE } from "../executor/processes.ts";
import { selfApproval } from "./errors.ts";

export type Ancestry = "keeper" | "none" | "unknown";

const PROC_MAGIC = 0x9fa0;
const KEEPER_TITLE = "keeper: ";
/** A parent that ends while we look hands us on to another: look again. */
const ATTEMPTS = 5;
const DEEPEST = 10_000;

export function readAncestry(): Ancestry {
  if (process.env[SESSION_VARIABLE] !== undefined) return "keeper";
  if (process.platform !== "linux") return "none";
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const answer = searchAncestors();
    if (answer !== "unknown") return answer;
  }
  return "unknown";
}

function searchAncestors(): Ancestry {
  try {
    // Another file system mounted over /proc could tell any story.
    if (statfsSync("/proc").type !== PROC_MAGIC) return "unknown";
    // Not process.pid: in a pid namespace of its own that number means another process here.
    let pid = parentOf("self");
    for (let level = 0; level < DEEPEST; level++) {
      if (pid === 0) return "none";
      if (isKeeper(pid)) return "keeper";
      pid = parentOf(pid);
    }
  } catch {
    // gone, or hidden from us
  }
  return "unknown";
}

function parentOf(pid: number | "self"): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The name in parentheses may hold anything, also parentheses and blanks.
  const [, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const own = Number.parseInt(stat, 10);
  if (!parent || (pid !== "self" && own !== pid)) throw new Error("not the file it should be");
  return Number(parent);
}

/** By its title or by its program: either is enough, since nobody gains from looking like a keeper. */
function isKeeper(pid: number): boolean {
  if (readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith(KEEPER_TITLE)) return true;
  try {
    return readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, "") === keeperBinary();
  } catch {
    return false; // another user's process; a keeper is ours
  }
}

/** The pid namespace we live in: in one of its own, a command would not see the keeper above it. */
export function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

/** Throws unless this process is a person's. `origin` is the namespace the request came from. */
export function assertPerson(above: Ancestry, origin: string | null): void {
  if (above === "keeper") throw selfApproval("this runs inside a Sallyport session");
  if (above === "unknown") throw selfApproval("it cannot be seen here what started this process");
  if (origin !== null && origin !== pidNamespace()) {
    throw selfApproval("this runs in another process namespace than what asked");
  }
}
