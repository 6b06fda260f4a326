import { constants } from "node:os";
import {
  allProcesses,
  anyHasSessionVariable,
  exists,
  hasSessionVariable,
  type Process,
  startTimeOf,
} from "./process-table.ts";

const { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGCONT } = constants.signals;
/** A stopped process handles these only after SIGCONT. */
const CONTINUE_AFTER = new Set([SIGTERM, SIGINT, SIGHUP, SIGQUIT]);

/** The main process of a command. It leads a process group and a session. */
export interface TreeRoot {
  pid: number;
  born: string;
}

/**
 * The processes of a command: the main process, its group and session, processes that were in the tree before, those
 * with its session variable, and the descendants of all these. A process that left the group and lost its parent before
 * it was first seen is found by its session variable only.
 */
export function membersOf(
  root: TreeRoot,
  known: ReadonlyMap<number, string>,
  all: readonly Process[],
  isMarked: (process: Process) => boolean,
): Process[] {
  // If another process has the main process's pid by now, a group with that number is not the command's.
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

  /** A check without listing all processes: most commands leave none behind. */
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
    // The whole group in one call, so that no member can fork in between.
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

/** Returns false if there is no such process or group. */
export function sendSignal(pid: number, signal: number): boolean {
  try {
    process.kill(pid, signal);
    if (CONTINUE_AFTER.has(signal)) process.kill(pid, SIGCONT);
    return true;
  } catch {
    return false;
  }
}
