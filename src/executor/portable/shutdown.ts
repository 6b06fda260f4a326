import { constants } from "node:os";
import type { LaunchSpec } from "../../core/launch.ts";
import type { ExitRecord, KillRequest } from "../executor.ts";
import { deliver, Tree } from "../process-tree.ts";
import type { Running } from "./launch.ts";

const { SIGTERM, SIGHUP, SIGKILL } = constants.signals;
/** What a foreground command leaves behind gets this long to end by itself, then a SIGTERM, then a SIGKILL. */
const LEFTOVER_TERM_MS = 200;
const LEFTOVER_KILL_MS = 1000;
/** After the first SIGKILL nobody is waited for longer than this. */
const STOP_WAITING_MS = 600;
const SWEEP_EVERY_MS = 10;
/** Nobody tells when a process that is not our child ends: so often is looked. */
const LOOK_EVERY_MS = 20;
const LOOK_LINGERING_MS = 500;
/** Where it cannot be known whether all output was read, this long after the end it is taken for granted. */
const SETTLE_MS = 50;
const LONGEST_TIMER_MS = 3_600_000;
const NEVER = Number.POSITIVE_INFINITY;

/** How the main process ended, and what of its tree was left. */
export type End = Pick<ExitRecord, "reason" | "code" | "signal" | "leftover" | "final"> & {
  endedUnixMs: number;
  endedMs: number;
};

export interface Witness {
  /** Stores what is there of the output. False: it cannot be known whether that was all. */
  drain(): boolean;
  /** Called once for the main process's end and, if that was not final, once more. */
  report(end: End): void;
}

/** How a command and its tree come to their end; the same steps as native/session/shutdown.c. */
export class Ending {
  readonly #running: Running;
  readonly #tree: Tree;
  readonly #witness: Witness;
  readonly #graceMs: number;
  #background: boolean;
  #mainAlive = true;
  #end: End = { reason: "exited", code: null, signal: 0, leftover: 0, final: false, endedUnixMs: 0, endedMs: 0 };
  #reported = false;
  #deadlineAt = NEVER;
  #leftoverTermAt = NEVER;
  #killAt = NEVER;
  #nextSweepAt = 0;
  #stopWaitingAt = NEVER;
  #lookAt = NEVER;
  #timer: NodeJS.Timeout | null = null;

  constructor(running: Running, spec: LaunchSpec, witness: Witness) {
    this.#running = running;
    this.#tree = new Tree(running.root, spec.id);
    this.#witness = witness;
    this.#graceMs = spec.graceMs;
    this.#background = spec.background;
    if (spec.timeoutMs > 0) this.#deadlineAt = performance.now() + spec.timeoutMs;
    running.onExit((code, signal) => this.#mainEnded(code, signal));
    this.look();
  }

  get isOver(): boolean {
    return this.#end.final;
  }

  /** False: there is nobody to get it. */
  kill({ signal, scope, ends, graceMs }: KillRequest): boolean {
    if (this.#end.final) return false;
    if (ends) this.#countsAs("killed");
    if (ends || (scope === "tree" && signal === SIGKILL)) this.#endTree(signal, graceMs);
    else if (scope === "tree") this.#tree.signal(signal);
    else return this.#mainAlive && deliver(this.#running.root.pid, signal);
    this.look();
    return true;
  }

  /** From now on; 0 lifts it. False: it has passed. */
  setDeadline(ms: number): boolean {
    if (this.#end.reason === "timeout" || this.#end.final) return false;
    this.#deadlineAt = ms > 0 ? performance.now() + ms : NEVER;
    this.look();
    return true;
  }

  toBackground(): void {
    this.#background = true;
    this.look();
  }

  /** Something may have changed. */
  look(): void {
    if (this.#end.final) return;
    const now = performance.now();
    this.#fireTimers(now);
    this.#settle(now);
    if (this.#timer) clearTimeout(this.#timer);
    const next = Math.min(this.#deadlineAt, this.#leftoverTermAt, this.#sweepAt, this.#stopWaitingAt, this.#lookAt);
    if (this.#end.final || next === NEVER) return;
    const wait = Math.min(Math.max(0, Math.ceil(next - performance.now())), LONGEST_TIMER_MS);
    this.#timer = setTimeout(() => this.look(), wait);
  }

  #mainEnded(code: number | null, signal: number): void {
    this.#mainAlive = false;
    this.#end = {
      ...this.#end,
      code: signal ? null : code,
      signal,
      endedUnixMs: Date.now(),
      endedMs: performance.now(),
    };
    this.look();
  }

  #countsAs(reason: "killed" | "timeout"): void {
    if (this.#mainAlive && this.#end.reason === "exited") this.#end.reason = reason;
  }

  /** `graceMs` null: SIGKILL never follows. */
  #endTree(signal: number, graceMs: number | null): void {
    const now = performance.now();
    if (signal === SIGKILL || graceMs === 0) {
      this.#killAt = now;
      return;
    }
    this.#tree.signal(signal);
    // An interactive shell takes no notice of SIGTERM; that its terminal is gone it understands.
    if (signal === SIGTERM && this.#running.terminal) this.#tree.signal(SIGHUP);
    if (graceMs !== null) this.#killAt = Math.min(this.#killAt, now + graceMs);
  }

  get #sweepAt(): number {
    return this.#killAt === NEVER ? NEVER : Math.max(this.#killAt, this.#nextSweepAt);
  }

  #fireTimers(now: number): void {
    if (now >= this.#deadlineAt) {
      this.#deadlineAt = NEVER;
      this.#countsAs("timeout");
      this.#endTree(SIGTERM, this.#graceMs);
    }
    if (now >= this.#leftoverTermAt) {
      this.#leftoverTermAt = NEVER;
      this.#end.leftover = this.#count();
      this.#endTree(SIGTERM, LEFTOVER_KILL_MS);
    }
    // As many passes as it takes: a child forked behind one pass's back is found by the next.
    if (now >= this.#sweepAt) {
      this.#tree.signal(SIGKILL);
      this.#nextSweepAt = now + SWEEP_EVERY_MS;
      if (this.#stopWaitingAt === NEVER) this.#stopWaitingAt = now + STOP_WAITING_MS;
    }
  }

  #settle(now: number): void {
    this.#lookAt = NEVER;
    if (this.#mainAlive) {
      if (now >= this.#stopWaitingAt) this.#stopWaitingAt = NEVER; // stuck in the kernel: nothing to tell yet
      return;
    }
    const knowsAll = this.#witness.drain();
    if (!knowsAll && now < this.#end.endedMs + SETTLE_MS) {
      this.#lookAt = this.#end.endedMs + SETTLE_MS;
      return;
    }
    if (!this.#isInhabited() || now >= this.#stopWaitingAt) {
      this.#finish();
      return;
    }
    this.#lookAt = now + (this.#reported ? LOOK_LINGERING_MS : LOOK_EVERY_MS);
    if (this.#reported || this.#killAt !== NEVER) return;
    if (this.#background) this.#live();
    else if (this.#leftoverTermAt === NEVER) this.#leftoverTermAt = this.#end.endedMs + LEFTOVER_TERM_MS;
  }

  /**
   * Whether anything of the tree lives. The first look is quick, and mostly enough. Who holds an output open is
   * somewhere, even if it cannot be found.
   */
  #isInhabited(): boolean {
    const silent = this.#running.sources.every(({ ended }) => ended);
    if (silent && this.#tree.seemsEmpty) return false;
    if (this.#tree.members().length > 0) return true;
    // Whoever holds them cannot be reached: not to be waited for once the tree is being ended.
    return !silent && this.#killAt === NEVER;
  }

  /** At least one: whoever holds an output open counts, found or not. */
  #count(): number {
    return Math.max(1, this.#tree.members().length);
  }

  /** The main process has ended, the rest lives on and is captured. */
  #live(): void {
    this.#end.leftover = this.#count();
    this.#reported = true;
    this.#witness.report(this.#end);
  }

  #finish(): void {
    this.#end.final = true;
    this.#witness.report(this.#end);
  }
}
