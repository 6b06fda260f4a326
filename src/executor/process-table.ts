import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { readIfExists } from "./fd-exhaustion.ts";

/** A process as the system shows it. */
export interface Process {
  pid: number;
  parent: number;
  group: number;
  /** 0 where the system does not tell. */
  session: number;
  /** When it was started: together with the pid it names one process for good, a reused pid is another. */
  born: string;
}

const COLUMNS = "pid=,ppid=,pgid=,stat=,lstart=";

/** From /proc/<pid>/stat. Null: it has ended, and only waits to be reaped. */
export function parseStat(text: string): Process | null {
  // The name may hold spaces and parentheses: what counts follows the last one.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const number = (index: number) => Number(fields[index] ?? 0);
  // A process whose first thread has left looks like a zombie but runs on.
  if (fields[0] === "X" || (fields[0] === "Z" && number(17) <= 1)) return null;
  const pid = Number.parseInt(text, 10);
  return { pid, parent: number(1), group: number(2), session: number(3), born: fields[19] ?? "" };
}

/** From `ps` as macOS and the BSDs have it. */
export function parsePs(text: string): Process[] {
  return text.split("\n").flatMap((line) => {
    const found = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line);
    if (!found || found[4]?.startsWith("Z")) return [];
    const [, pid, parent, group, , born = ""] = found;
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), session: 0, born }];
  });
}

function fromProc(pid: number | string): Process | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return null; // it ended meanwhile
  }
}

/** Whether the process that was started then has this pid still. Throws where nobody can tell for now. */
export function livesAs(pid: number, born: string): boolean {
  if (process.platform !== "linux") return bornOf(pid) === born;
  const stat = readIfExists(`/proc/${pid}/stat`, "latin1");
  return stat !== null && parseStat(stat)?.born === born;
}

function ask(args: string[]): string {
  return spawnSync("ps", args, { encoding: "utf8", env: { PATH: "/bin:/usr/bin", LC_ALL: "C" } }).stdout ?? "";
}

/** Every living process; none where the system has no way to list them, as Windows. */
export function allProcesses(platform: NodeJS.Platform = process.platform): Process[] {
  if (platform === "win32") return [];
  if (platform !== "linux") return parsePs(ask(["-axo", COLUMNS]));
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (fromProc(name) ?? []) : []));
}

/** Of a process its first environment, as far as it may be seen. */
function environmentOf(pid: number): string {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}`;
  } catch {
    return "";
  }
}

/** Every command carries its session's id: so its descendants are known wherever they have gone, on Linux. */
export const MARK = "SALLYPORT_SESSION";

export function carriesMark(pid: number, session: string): boolean {
  return environmentOf(pid).includes(`\0${MARK}=${session}\0`);
}

/** The quick look for one of those: only at processes with higher pids than the main one, which are younger. */
export function anyCarriesMark(session: string, above: number, platform: NodeJS.Platform = process.platform): boolean {
  if (platform !== "linux") return false;
  return readdirSync("/proc").some((name) => Number(name) > above && carriesMark(Number(name), session));
}

/** When a living process was started; null: there is none of that pid. Windows: "" for any that lives. */
export function bornOf(pid: number, platform: NodeJS.Platform = process.platform): string | null {
  if (platform === "linux") return fromProc(pid)?.born ?? null;
  if (!exists(pid)) return null;
  if (platform === "win32") return "";
  return parsePs(ask(["-o", COLUMNS, "-p", String(pid)]))[0]?.born ?? null;
}

/** Whether anybody has this pid, or, when negative, belongs to that group. */
export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
