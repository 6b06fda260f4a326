import { spawn } from "node:child_process";
import { constants } from "node:os";
import { allProcesses, anyCarriesMark, bornOf, carriesMark, exists, type Process } from "./process-table.ts";

const { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGCONT, SIGKILL } = constants.signals;
/** A stopped process would take these only after it is continued. */
const POLITE = new Set([SIGTERM, SIGINT, SIGHUP, SIGQUIT]);

/** Whose tree it is. `group`: it leads a process group (and a session) of its own. */
export interface Root {
  pid: number;
  born: string;
  group: boolean;
}

/**
 * Of all processes those that belong to a command: the main process, its group and session, everybody seen in its tree
 * before, who carries its mark, and the descendants of all these. Not found is who left the group, lost its parent
 * before anybody looked, and cannot be known by the mark.
 */
export function membersOf(
  root: Root,
  known: ReadonlyMap<number, string>,
  all: readonly Process[],
  isMarked: (process: Process) => boolean,
): Process[] {
  // Were the main process's pid another's by now, a group of that number would be that one's as well.
  const holder = all.find(({ pid }) => pid === root.pid);
  const mine = root.group && (holder === undefined || holder.born === root.born);
  const children = new Map<number, Process[]>();
  for (const each of all) {
    const siblings = children.get(each.parent);
    if (siblings) siblings.push(each);
    else children.set(each.parent, [each]);
  }
  const queue = all.filter((each) => {
    const { pid, group, session, born } = each;
    if (pid === root.pid && born === root.born) return true;
    return (mine && (group === root.pid || session === root.pid)) || known.get(pid) === born || isMarked(each);
  });
  const found = new Map<number, Process>();
  for (let next = queue.pop(); next; next = queue.pop()) {
    if (found.has(next.pid)) continue;
    found.set(next.pid, next);
    queue.push(...(children.get(next.pid) ?? []));
  }
  return [...found.values()];
}

/** What ends a tree where there are neither groups nor signals; null: process.kill does it. */
export function killProgram(pid: number, signal: number, platform: NodeJS.Platform): string[] | null {
  if (platform !== "win32") return null;
  const force = signal === SIGKILL ? ["/F"] : [];
  return ["taskkill", "/PID", String(pid), "/T", ...force];
}

/** A command's processes, as far as they can be found. */
export class Tree {
  readonly #root: Root;
  readonly #session: string;
  readonly #platform: NodeJS.Platform;
  #known = new Map<number, string>();
  #strays = false;

  constructor(root: Root, session: string, platform: NodeJS.Platform = process.platform) {
    this.#root = root;
    this.#session = session;
    this.#platform = platform;
  }

  /** The quick look, for most commands leave nobody. */
  get seemsEmpty(): boolean {
    if (this.#strays) return false;
    if (this.#platform !== "win32" && this.#root.group && exists(-this.#root.pid)) return false;
    return !anyCarriesMark(this.#session, this.#root.pid, this.#platform);
  }

  members(): Process[] {
    const found = membersOf(this.#root, this.#known, allProcesses(this.#platform), (each) => this.#isMarked(each));
    this.#known = new Map(found.map(({ pid, born }) => [pid, born]));
    this.#strays = found.some(({ group }) => group !== this.#root.pid);
    return found;
  }

  #isMarked({ pid, born }: Process): boolean {
    if (this.#platform !== "linux" || Number(born) < Number(this.#root.born)) return false;
    return carriesMark(pid, this.#session);
  }

  /** To all of them. How many there were. */
  signal(signal: number): number {
    const program = killProgram(this.#root.pid, signal, this.#platform);
    if (program) {
      const [file = "", ...args] = program;
      spawn(file, args, { stdio: "ignore", windowsHide: true }).on("error", () => {});
      return 1;
    }
    const members = this.members();
    const group = this.#root.group && members.some((each) => each.group === this.#root.pid);
    // The group at once: nobody in it has the time to fork away.
    if (group) deliver(-this.#root.pid, signal);
    for (const { pid, group: of, born } of members) {
      if ((group && of === this.#root.pid) || bornOf(pid, this.#platform) !== born) continue;
      deliver(pid, signal);
    }
    return members.length;
  }
}

/** False: there is nobody (any more). */
export function deliver(pid: number, signal: number): boolean {
  try {
    process.kill(pid, signal);
    if (POLITE.has(signal)) process.kill(pid, SIGCONT);
    return true;
  } catch {
    return false;
  }
}
