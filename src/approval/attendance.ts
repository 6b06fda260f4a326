/**
 * Determines whether a person uses this process: it has a terminal, and no agent host has started it (invariant 7: an
 * agent cannot approve its own commands with the shell of its host).
 *
 * A process can change its environment, leave its session, or allocate a terminal (`script`), but not change its
 * ancestors or their environment. A process that has left its ancestors, by forking twice, has no terminal any more, or
 * one whose session it does not descend from.
 */
import { closeSync, openSync, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { loadConfig } from "../config/load.ts";
import type { CommandLineUse } from "../core/settings.ts";
import { shownLine } from "../text/visible.ts";
import { agentHostOf, ancestors, hostVariable, statusOf } from "./agent-hosts.ts";
import { notAttended } from "./errors.ts";

export type Attendance =
  | { kind: "person" }
  /** Agent hosts have started this process. `env` is the environment of the outermost one. */
  | { kind: "host"; why: string; env: NodeJS.ProcessEnv }
  /** No terminal, as in a script or a job. */
  | { kind: "script"; why: string };

/** How many times the search is tried: a parent that exits in the meantime changes the chain. */
const ATTEMPTS = 5;

export function readAttendance(): Attendance {
  if (process.platform !== "linux") return withoutProc();
  for (let attempt = 1; ; attempt++) {
    try {
      return searchAncestors();
    } catch {
      if (attempt < ATTEMPTS) continue;
      return { kind: "script", why: "the parent processes of this process cannot be determined" };
    }
  }
}

function searchAncestors(): Attendance {
  const chain = ancestors();
  const hosts = chain.flatMap((pid) => agentHostOf(pid) ?? []);
  const [nearest] = hosts;
  // A person has started the outermost host. Its commands can start others, or set a variable of one, with any environment
  // (invariant 7).
  if (nearest) return hostAttendance(nearest, hosts.at(-1)?.env ?? null);
  const own = hostVariable(process.env);
  if (own) return hostAttendance({ ...own, pid: null }, process.env);
  const { session, terminal } = statusOf("self");
  if (terminal === 0) return { kind: "script", why: "this process has no terminal" };
  const self = Number.parseInt(readFileSync("/proc/self/stat", "latin1"), 10);
  // Session 0 has its leader in another PID namespace, as with `docker exec`.
  if (session !== 0 && session !== self && !chain.includes(session))
    return { kind: "script", why: "this process has left the shell of its terminal" };
  if (isDetachedRecorder(session === 0 ? 0 : statusOf(session).parent))
    return { kind: "script", why: "a program without a terminal allocated the terminal of this process" };
  return { kind: "person" };
}

function hostAttendance(
  { host, by, pid }: { host: string; by: string; pid: number | null },
  env: NodeJS.ProcessEnv | null,
): Attendance {
  const what = pid === null ? by : `${by}, PID ${pid}`;
  return { kind: "host", why: `${host} has started this process (${shownLine(what)})`, env: env ?? ownEnvironment() };
}

/** Returns the environment for a host of another user: this process's own could be one that the host has chosen. */
function ownEnvironment(): NodeJS.ProcessEnv {
  try {
    return { HOME: userInfo().homedir };
  } catch {
    return {}; // The user has no entry, as in some containers.
  }
}

/** Programs that run a command on a terminal that they allocate. */
const RECORDERS = new Set(["script", "expect", "unbuffer"]);

/** Reports whether a process is such a program that has left the terminal and the processes that it was started by. */
function isDetachedRecorder(pid: number): boolean {
  if (pid <= 1) return false;
  const { parent, terminal } = statusOf(pid);
  if (terminal !== 0 || !RECORDERS.has(nameOf(pid))) return false;
  return parent <= 1 || nameOf(parent) === "systemd";
}

function nameOf(pid: number): string {
  return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
}

/** Other systems show the environment of this process only. */
function withoutProc(): Attendance {
  const host = hostVariable(process.env);
  if (host) return hostAttendance({ ...host, pid: null }, process.env);
  try {
    closeSync(openSync("/dev/tty", "r"));
    return { kind: "person" };
  } catch {
    return { kind: "script", why: "this process has no terminal" };
  }
}

/** Returns whether the operator allows the command line to decide where no person uses it. */
function isAllowed(attendance: Attendance): boolean {
  if (attendance.kind === "person") return true;
  // Commands of a host cannot change its environment, so they cannot point to another operator file.
  const env = attendance.kind === "host" ? attendance.env : process.env;
  const use: CommandLineUse = loadConfig({ workspace: process.cwd(), env }).settings.approvals.commandLine;
  return use === "anywhere" || (use === "script" && attendance.kind === "script");
}

/** Throws unless a person uses this process, or the operator allows others to decide on the command line. */
export function assertAttended(attendance: Attendance = readAttendance()): void {
  if (attendance.kind !== "person" && !isAllowed(attendance)) throw notAttended(attendance);
}

/** Reports whether a person uses this process, or the operator allows others to decide on the command line. */
export function isAttended(): boolean {
  const attendance = readAttendance();
  return attendance.kind === "person" || isAllowed(attendance);
}
