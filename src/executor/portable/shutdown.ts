import { constants } from "node:os";
import type { LaunchSpec } from "../../core/launch.ts";
import type { ExitRecord, KillRequest } from "../execution.ts";
import { ProcessTree, sendSignal } from "../processes.ts";
import type { RunningCommand } from "./launch.ts";

const { SIGTERM, SIGHUP, SIGKILL } = constants.signals;
/** The time after which leftover processes of a foreground command get SIGTERM, and the time from then to SIGKILL. */
const LEFTOVER_TERM_MS = 200;
const LEFTOVER_KILL_MS = 1000;
/** The maximum wait for the tree to end after the first SIGKILL. */
const GIVE_UP_MS = 600;
const KILL_INTERVAL_MS = 10;
/** How often the keeper checks whether processes that are not its children have ended. */
const POLL_MS = 20;
const POLL_BACKGROUND_MS = 500;
const TIMER_MAX_MS = 3_600_000;
const NEVER = Number.POSITIVE_INFINITY;

/** How the main process ended, and how many processes of its tree were left. */
export type End = Pick<ExitRecord, "reason" | "code" | "signal" | "leftover" | "final"> & {
  endedUnixMs: number;
  endedMs: number;
};

interface ShutdownListener {
  /** Stores all output that the command has written up to now. */
  drain(): void;
  /** Called when the main process has ended and, if others still run then, again when the last one has ended. */
  report(end: End): void;
}

/** Ends a command and its tree on a deadline, a kill request or leftovers, like native/session/shutdown.c. */
export class Shutdown {
  readonly #running: RunningCommand;
  readonly #tree: ProcessTree;
  readonly #listener: ShutdownListener;
  readonly #graceMs: number;
  #background: boolean;
  #mainAlive = true;
  #end: End = { reason: "exited", code: null, signal: 0, leftover: 0, final: false, endedUnixMs: 0, endedMs: 0 };
  #reported = false;
  #deadlineAt = NEVER;
  #leftoverTermAt = NEVER;
  #killAt = NEVER;
  #giveUpAt = NEVER;
  #pollAt = NEVER;
  #timer: NodeJS.Timeout | null = null;

  constructor(running: RunningCommand, spec: LaunchSpec, listener: ShutdownListener) {
    this.#running = running;
    this.#tree = new ProcessTree(running.root, spec.id);
    this.#listener = listener;
    this.#graceMs = spec.graceMs;
    this.#background = spec.background;
    if (spec.timeoutMs > 0) this.#deadlineAt = performance.now() + spec.timeoutMs;
    running.onExit((code, signal) => this.#mainEnded(code, signal));
    this.update();
  }

  /** Sends a signal. Returns false if there is no process left to receive it. */
  kill({ signal, scope, ends, graceMs }: KillRequest): boolean {
    if (this.#end.final) return false;
    if (ends) this.#setReason("killed");
    if (ends || (scope === "tree" && signal === SIGKILL)) this.#endTree(signal, graceMs);
    else if (scope === "tree") this.#tree.signal(signal);
    else return this.#mainAlive && sendSignal(this.#running.root.pid, signal);
    this.update();
    return true;
  }

  /** Sets the deadline, counted from now; 0 removes it. Returns false if the previous deadline has passed. */
  setDeadline(ms: number): boolean {
    if (this.#end.reason === "timeout" || this.#end.final) return false;
    this.#deadlineAt = ms > 0 ? performance.now() + ms : NEVER;
    this.update();
    return true;
  }

  toBackground(): void {
    this.#background = true;
    this.update();
  }

  /** Fires due timers, checks whether the command has ended, and schedules the next check. */
  update(): void {
    if (this.#end.final) return;
    this.#fireTimers(performance.now());
    this.#checkEnd(performance.now());
    if (this.#timer) clearTimeout(this.#timer);
    const next = Math.min(this.#deadlineAt, this.#leftoverTermAt, this.#killAt, this.#giveUpAt, this.#pollAt);
    if (this.#end.final || next === NEVER) return;
    const delay = Math.min(Math.max(0, Math.ceil(next - performance.now())), TIMER_MAX_MS);
    this.#timer = setTimeout(() => this.update(), delay);
  }

  #mainEnded(code: number | null, signal: number): void {
    this.#mainAlive = false;
    const ended = { endedUnixMs: Date.now(), endedMs: performance.now() };
    this.#end = { ...this.#end, code: signal ? null : code, signal, ...ended };
    this.update();
  }

  #setReason(reason: "killed" | "timeout"): void {
    if (this.#mainAlive && this.#end.reason === "exited") this.#end.reason = reason;
  }

  /** Sends a signal to the tree. SIGKILL follows after `graceMs`, unless it is null. */
  #endTree(signal: number, graceMs: number | null): void {
    const now = performance.now();
    if (signal === SIGKILL || graceMs === 0) {
      this.#killAt = now;
      return;
    }
    this.#tree.signal(signal);
    // Interactive shells ignore SIGTERM, but exit when their terminal hangs up.
    if (signal === SIGTERM && this.#running.terminal) this.#tree.signal(SIGHUP);
    if (graceMs !== null) this.#killAt = Math.min(this.#killAt, now + graceMs);
  }

  #fireTimers(now: number): void {
    if (now >= this.#deadlineAt) {
      this.#deadlineAt = NEVER;
      this.#setReason("timeout");
      this.#endTree(SIGTERM, this.#graceMs);
    }
    if (now >= this.#leftoverTermAt) {
      this.#leftoverTermAt = NEVER;
      this.#end.leftover = this.#countLeftovers();
      this.#endTree(SIGTERM, LEFTOVER_KILL_MS);
    }
    if (now >= this.#killAt) {
      this.#tree.signal(SIGKILL);
      // Repeated, because a child forked during one pass is found by the next.
      this.#killAt = now + KILL_INTERVAL_MS;
      if (this.#giveUpAt === NEVER) this.#giveUpAt = now + GIVE_UP_MS;
    }
  }

  #checkEnd(now: number): void {
    this.#pollAt = NEVER;
    if (this.#mainAlive) {
      if (now >= this.#giveUpAt) this.#giveUpAt = NEVER; // blocked in the kernel, so there is no exit code yet
      return;
    }
    this.#listener.drain();
    if (!this.#hasProcesses() || now >= this.#giveUpAt) {
      this.#end.final = true;
      this.#listener.report(this.#end);
      return;
    }
    this.#pollAt = now + (this.#reported ? POLL_BACKGROUND_MS : POLL_MS);
    if (this.#reported || this.#killAt !== NEVER) return;
    if (this.#background) {
      this.#end.leftover = this.#countLeftovers();
      this.#reported = true;
      this.#listener.report(this.#end);
    } else if (this.#leftoverTermAt === NEVER) this.#leftoverTermAt = this.#end.endedMs + LEFTOVER_TERM_MS;
  }

  /** Reports whether processes are left. One that holds an output open counts, unless the tree is being killed. */
  #hasProcesses(): boolean {
    const outputsEnded = this.#running.outputs.every(({ ended }) => ended);
    if (outputsEnded && this.#tree.seemsEmpty) return false;
    return this.#tree.members().length > 0 || (!outputsEnded && this.#killAt === NEVER);
  }

  /** Counts the leftover processes. Returns at least 1: a process that cannot be found may hold an output open. */
  #countLeftovers(): number {
    return Math.max(1, this.#tree.members().length);
  }
}
