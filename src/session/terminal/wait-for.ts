import type { Capture } from "../../core/session.ts";
import type { WaitConditions, WaitOutcome } from "../../core/terminal.ts";
import type { Execution } from "../../executor/executor.ts";
import { keepPace } from "../logs/pace.ts";
import { readPieces } from "../logs/pieces.ts";
import { closeSessionLog, openSessionLog, type SessionLog } from "../logs/session-log.ts";
import { endOf, viewOf } from "../logs/view.ts";
import { Alarm } from "./alarm.ts";
import { PlainStream, WINDOW } from "./plain-stream.ts";

/** Nothing tells when a process begins to read; it is looked at when output came, and then less and less often. */
const FIRST_LOOK_MS = 5;
const LONGEST_LOOK_MS = 100;

type Found = Omit<WaitOutcome, "info">;

/** Waits until one of the conditions holds, or the main process has ended. `execution` is null once it has. */
export async function waitForAny(
  execution: Execution | null,
  folder: string,
  capture: Capture,
  conditions: WaitConditions,
): Promise<Found> {
  const log = openSessionLog(folder, capture);
  const release = execution?.hold();
  const alarm = new Alarm(execution, conditions.signal);
  try {
    return await new Wait(log, execution, conditions, alarm).over();
  } finally {
    alarm.stop();
    release?.();
    closeSessionLog(log);
  }
}

/** Bytes in the log, both streams together. */
export function outputSoFar(folder: string, capture: Capture): number {
  const log = openSessionLog(folder, capture);
  try {
    return endOf(viewOf(log, undefined, true));
  } finally {
    closeSessionLog(log);
  }
}

class Wait {
  readonly #log: SessionLog;
  readonly #execution: Execution | null;
  readonly #conditions: WaitConditions;
  readonly #alarm: Alarm;
  readonly #pattern: RegExp | null;
  readonly #plain = new PlainStream();
  readonly #giveUpAt: number;
  #position: number;
  #seen: number;
  #quietAt: number;
  #lookAt: number;
  #lookAfter = FIRST_LOOK_MS;
  readonly #pace = { bytes: 0 };

  constructor(log: SessionLog, execution: Execution | null, conditions: WaitConditions, alarm: Alarm) {
    this.#log = log;
    this.#execution = execution;
    this.#conditions = conditions;
    this.#alarm = alarm;
    const { pattern, quietMs, timeoutMs } = conditions;
    // Looked for in a text that grows: where the last search ended is of no use to the next.
    this.#pattern = pattern ? new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, "")) : null;
    this.#seen = endOf(viewOf(log, undefined, execution !== null));
    this.#position = conditions.offset ?? this.#seen;
    this.#quietAt = quietMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + quietMs;
    this.#lookAt = conditions.input ? 0 : Number.POSITIVE_INFINITY;
    this.#giveUpAt = timeoutMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs;
  }

  async over(): Promise<Found> {
    for (;;) {
      this.#conditions.signal?.throwIfAborted();
      const ended = this.#execution === null || this.#alarm.ended;
      const found = (await this.#look(ended)) ?? (ended ? this.#outcome("exit") : await this.#other());
      if (found) return found;
      await this.#alarm.next(Math.min(this.#quietAt, this.#giveUpAt, this.#lookAt));
    }
  }

  #outcome(reason: Found["reason"], offset = this.#seen): Found {
    return { reason, match: null, offset };
  }

  /** Takes in what was written since. What matches came before whatever else is true by now. */
  async #look(ended: boolean): Promise<Found | null> {
    const view = viewOf(this.#log, undefined, !ended);
    const end = endOf(view);
    if (end !== this.#seen) {
      this.#seen = end;
      if (this.#conditions.quietMs !== undefined) this.#quietAt = performance.now() + this.#conditions.quietMs;
      this.#lookAfter = FIRST_LOOK_MS;
      if (this.#conditions.input) this.#lookAt = 0;
    }
    if (this.#pattern === null) return null;
    for (const { bytes, position } of readPieces(view, this.#position, end)) {
      for (let at = 0; at < bytes.length; at += WINDOW) {
        this.#plain.add(bytes.subarray(at, at + WINDOW), position + at);
        const found = this.#plain.find(this.#pattern);
        if (found) return { reason: "pattern", match: found.match, offset: found.end };
      }
      await keepPace(this.#pace, bytes.length);
    }
    this.#position = Math.max(this.#position, end);
    return null;
  }

  async #other(): Promise<Found | null> {
    if (this.#conditions.input && performance.now() >= this.#lookAt) {
      const found = await this.#input();
      if (found) return found;
    }
    const now = performance.now();
    if (now >= this.#quietAt) return this.#grewMeanwhile() ? null : this.#outcome("quiet");
    return now >= this.#giveUpAt ? this.#outcome("timeout") : null;
  }

  async #input(): Promise<Found | null> {
    const state = await this.#execution?.inputState();
    this.#lookAt = performance.now() + this.#lookAfter;
    this.#lookAfter = Math.min(this.#lookAfter * 2, LONGEST_LOOK_MS);
    if (!state?.reading) return null;
    // What it wrote before it began to wait is in the log by now, and may be what was waited for.
    return (await this.#look(false)) ?? this.#outcome("input", state.bytes);
  }

  /** Also when the news of it has not come yet: a gateway that was busy must not take its own silence for quiet. */
  #grewMeanwhile(): boolean {
    return endOf(viewOf(this.#log, undefined, true)) !== this.#seen;
  }
}
