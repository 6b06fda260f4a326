import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { readIfExists } from "./errors.ts";

/** One row of the system's process table. */
export interface Process {
  pid: number;
  parent: number;
  group: number;
  /** The session ID, or 0 where the system does not report it. */
  session: number;
  /** The start time. It distinguishes a process from a later one with the same pid. */
  born: string;
  /** The device number of the terminal, or 0 if there is none or it is not reported. */
  terminal: number;
  /** The foreground process group of that terminal, or 0. */
  foreground: number;
}

const LINUX = process.platform === "linux";
const PS_COLUMNS = "pid=,ppid=,pgid=,stat=,lstart=";

/** Parses /proc/<pid>/stat. Returns null for a zombie. */
export function parseStat(text: string): Process | null {
  // The name may contain spaces and parentheses, so the fields start after the last parenthesis.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const number = (index: number) => Number(fields[index] ?? 0);
  // A process whose first thread has exited has state Z but still runs.
  if (fields[0] === "X" || (fields[0] === "Z" && number(17) <= 1)) return null;
  const pid = Number.parseInt(text, 10);
  const [parent = 0, group = 0, session = 0, terminal = 0, foreground = 0] = [1, 2, 3, 4, 5].map(number);
  return { pid, parent, group, session, born: fields[19] ?? "", terminal, foreground: Math.max(0, foreground) };
}

/** Parses the output of `ps` on macOS and the BSDs. */
export function parsePs(text: string): Process[] {
  return text.split("\n").flatMap((line) => {
    const found = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line);
    if (!found || found[4]?.startsWith("Z")) return [];
    const [, pid, parent, group, , born = ""] = found;
    const shown = { pid: Number(pid), parent: Number(parent), group: Number(group), born };
    return [{ ...shown, session: 0, terminal: 0, foreground: 0 }];
  });
}

function ps(args: string[]): Process[] {
  const env = { PATH: "/bin:/usr/bin", LC_ALL: "C" };
  return parsePs(spawnSync("ps", [...args, "-o", PS_COLUMNS], { encoding: "utf8", env }).stdout ?? "");
}

function readStat(pid: number | string): Process | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return null; // the process ended in the meantime
  }
}

/** Returns all running processes. */
export function allProcesses(): Process[] {
  if (!LINUX) return ps(["-ax"]);
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (readStat(name) ?? []) : []));
}

/** Returns the running process with this pid, or null. */
export function findProcess(pid: number): Process | null {
  return LINUX ? readStat(pid) : (ps(["-p", String(pid)])[0] ?? null);
}

/** Returns the start time of the running process with this pid, or null. */
export function startTimeOf(pid: number): string | null {
  return findProcess(pid)?.born ?? null;
}

/** Reports whether the process with this pid and start time still runs. Throws when descriptors are exhausted. */
export function isSameProcess(pid: number, born: string): boolean {
  if (!LINUX) return startTimeOf(pid) === born;
  const stat = readIfExists(`/proc/${pid}/stat`, "latin1");
  return stat !== null && parseStat(stat)?.born === born;
}

/** Reports whether a process with this pid exists or, for a negative number, a process of that group. */
export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The environment variable with the session's ID, which identifies the descendants of a command on Linux. */
export const SESSION_VARIABLE = "SALLYPORT_SESSION";

function hasSessionVariable(pid: number, session: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}`.includes(`\0${SESSION_VARIABLE}=${session}\0`);
  } catch {
    return false;
  }
}

/**
 * Reports whether any process has the session variable. Checks only pids above that of the main process: its
 * descendants are younger, and pids normally increase.
 */
function anyHasSessionVariable(session: string, mainPid: number): boolean {
  if (!LINUX) return false;
  return readdirSync("/proc").some((name) => Number(name) > mainPid && hasSessionVariable(Number(name), session));
}

const { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGCONT } = constants.signals;
/** Signals that a stopped process handles only after SIGCONT. */
const CONTINUE_AFTER = new Set([SIGTERM, SIGINT, SIGHUP, SIGQUIT]);

/** The main process of a command. It leads a process group and a session. */
export interface TreeRoot {
  pid: number;
  born: string;
}

/**
 * Returns the processes of a command: the main process, its group and session, processes that were in the tree before,
 * those with its session variable, and the descendants of all these. A process that left the group and lost its parent
 * before it was first seen is found only by its session variable.
 */
export function membersOf(
  root: TreeRoot,
  known: ReadonlyMap<number, string>,
  all: readonly Process[],
  isMarked: (process: Process) => boolean,
): Process[] {
  // If another process has reused the pid of the main process, a group with that number is not the command's.
  const holder = all.find(({ pid }) => pid === root.pid);
  const ownsGroup = holder === undefined || holder.born === root.born;
  const children = Map.groupBy(all, ({ parent }) => parent);
  const queue = all.filter((each) => {
    const { pid, group, session, born } = each;
    if (pid === root.pid && born === root.born) return true;
    return (ownsGroup && (group === root.pid || session === root.pid)) || known.get(pid) === born || isMarked(each);
  });
  const found = new Map<number, Process>();
  for (let next = queue.pop(); next; next = queue.pop()) {
    if (found.has(next.pid)) continue;
    found.set(next.pid, next);
    queue.push(...(children.get(next.pid) ?? []));
  }
  return [...found.values()];
}

/** The processes of one command, as far as they can be found. */
export class ProcessTree {
  readonly #root: TreeRoot;
  readonly #session: string;
  #known = new Map<number, string>();
  #hasStrays = false;

  constructor(root: TreeRoot, session: string) {
    this.#root = root;
    this.#session = session;
  }

  /** Checks for processes without listing them all, since most commands leave none behind. */
  get seemsEmpty(): boolean {
    return !this.#hasStrays && !exists(-this.#root.pid) && !anyHasSessionVariable(this.#session, this.#root.pid);
  }

  members(): Process[] {
    const found = membersOf(this.#root, this.#known, allProcesses(), (each) => this.#isMarked(each));
    this.#known = new Map(found.map(({ pid, born }) => [pid, born]));
    this.#hasStrays = found.some(({ group }) => group !== this.#root.pid);
    return found;
  }

  signal(signal: number): void {
    const members = this.members();
    // The group is signaled in one call, so that no member can fork in between.
    const hasGroup = members.some(({ group }) => group === this.#root.pid);
    if (hasGroup) sendSignal(-this.#root.pid, signal);
    for (const { pid, group, born } of members) {
      if (group !== this.#root.pid && startTimeOf(pid) === born) sendSignal(pid, signal);
    }
  }

  #isMarked({ pid, born }: Process): boolean {
    if (process.platform !== "linux" || Number(born) < Number(this.#root.born)) return false;
    return hasSessionVariable(pid, this.#session);
  }
}

/** Sends a signal to a process or, for a negative number, a group. Returns false if it does not exist. */
export function sendSignal(pid: number, signal: number): boolean {
  try {
    process.kill(pid, signal);
    if (CONTINUE_AFTER.has(signal)) process.kill(pid, SIGCONT);
    return true;
  } catch {
    return false;
  }
}
