import { LONGEST_TIMER_MS } from "../../core/clock.ts";
import { SallyportError } from "../../core/error.ts";
import type { Capture, WaitConditions, WaitOutcome } from "../../core/session.ts";
import type { Execution } from "../../executor/execution.ts";
import { search } from "../../text/regex.ts";
import { EscapeScanner } from "../../text/terminal/escape.ts";
import { terminalText } from "../../text/terminal/terminal-text.ts";
import { assertMilliseconds } from "../errors.ts";
import { yieldAfter } from "../logs/log-file.ts";
import { readPieces } from "../logs/pieces.ts";
import { closeSessionLog, openSessionLog, type SessionLog } from "../logs/session-log.ts";
import { endOf, viewOf } from "../logs/view.ts";

/** The number of bytes searched for a pattern: enough for any prompt or message, and bounded (invariant 6). */
const WINDOW = 64 * 1024;

const TAB = 0x09;
const FEED = 0x0a;
const RETURN = 0x0d;

/**
 * Output without escape sequences, which is searched for a pattern while it grows. Maps each remaining byte to its
 * position in the original output.
 */
class PlainOutput {
  readonly #bytes = Buffer.allocUnsafe(2 * WINDOW);
  readonly #ends = new Float64Array(2 * WINDOW);
  #used = 0;
  #raw: Buffer = Buffer.alloc(0);
  readonly #scanner = new EscapeScanner({
    text: (bytes, from, to) => this.#keepText(bytes, from, to),
    control: (code, at) => this.#keepControl(code, at),
  });
  #added: Uint8Array = this.#bytes;
  #position = 0;

  /** Adds at most WINDOW bytes, which must be searched before the next call. `position` is that of the first byte. */
  add(bytes: Uint8Array, position: number): void {
    this.#added = bytes;
    this.#position = position;
    this.#scanner.push(bytes);
    this.#keepRaw(bytes);
  }

  /**
   * Returns the first match in the current window, and the position after it. Also finds what a terminal shows after a
   * line was rewritten; the position is then the end of the window.
   */
  find(pattern: RegExp): { match: string; end: number } | null {
    const text = this.#bytes.toString("utf8", 0, this.#used);
    const found = search(pattern, text);
    if (found) {
      const length = Buffer.byteLength(text.slice(0, found.index + found[0].length));
      return { match: found[0], end: length === 0 ? 0 : (this.#ends[Math.min(length, this.#used) - 1] ?? 0) };
    }
    const shown = terminalText(this.#raw.toString("utf8"));
    const rewritten = shown === text ? null : search(pattern, shown);
    return rewritten && { match: rewritten[0], end: this.#position + this.#added.length };
  }

  /** Keeps the last output as it is, from the start of a line if possible, to find out what a terminal shows. */
  #keepRaw(bytes: Uint8Array): void {
    this.#raw = Buffer.concat([this.#raw, bytes]);
    if (this.#raw.length > 2 * WINDOW)
      this.#raw = this.#raw.subarray(lineStartIn(this.#raw, this.#raw.length - WINDOW));
  }

  #keep(byte: number, end: number): void {
    if (this.#used === this.#bytes.length) {
      // Continues at the start of a line, which `^` matches, unless there is a single long line.
      const start = lineStartIn(this.#bytes, WINDOW);
      this.#bytes.copyWithin(0, start);
      this.#ends.copyWithin(0, start);
      this.#used -= start;
    }
    this.#bytes[this.#used] = byte;
    this.#ends[this.#used++] = end;
  }

  #keepText(bytes: Uint8Array, from: number, to: number): void {
    // The scanner delivers the first byte of a split character in a separate array; it belongs to the bytes before
    // these.
    const isAdded = bytes === this.#added;
    for (let at = from; at < to; at++) this.#keep(bytes[at] as number, this.#position + (isAdded ? at + 1 : 0));
  }

  #keepControl(code: number, at: number): void {
    // CRLF ends a line like LF, as in the text that a model reads.
    if (code === FEED && this.#bytes[this.#used - 1] === RETURN && this.#used > 0) this.#used--;
    if (code === TAB || code === FEED || code === RETURN) this.#keep(code, this.#position + at + 1);
  }
}

/** Returns the start of a line at or soon after an index, or the index if there is none. */
function lineStartIn(bytes: Buffer, index: number): number {
  return index + bytes.subarray(index, index + WINDOW / 2).indexOf(FEED) + 1;
}

/**
 * Wakes one waiter when an execution's output grows, its main process exits, a time is reached, or the wait is aborted.
 */
class Wakeup {
  ended = false;
  #notified = false;
  #wake: (() => void) | null = null;
  readonly #signal: AbortSignal | undefined;
  readonly #notify = () => {
    this.#notified = true;
    this.#wake?.();
  };
  readonly #stopListening: (() => void) | undefined;

  constructor(execution: Execution | null, signal: AbortSignal | undefined) {
    this.#signal = signal;
    this.#stopListening = execution?.onGrew(this.#notify);
    void execution?.exited.then(() => {
      this.ended = true;
      this.#notify();
    });
    signal?.addEventListener("abort", this.#notify, { once: true });
  }

  /** Resolves at the next event, or at once if one occurred since the last call. `atMs` is a `performance.now` time. */
  async next(atMs: number): Promise<void> {
    const delay = Math.min(Math.max(0, Math.ceil(atMs - performance.now())), LONGEST_TIMER_MS);
    if (!this.#notified && !this.#signal?.aborted) {
      await new Promise<void>((resolve) => {
        const timer = atMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(resolve, delay);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#wake = null;
    this.#notified = false;
  }

  stop(): void {
    this.#stopListening?.();
    this.#signal?.removeEventListener("abort", this.#notify);
  }
}

/** The start of a read cannot be observed, so the process is polled: first after output, then at growing intervals. */
const FIRST_POLL_MS = 5;
const LONGEST_POLL_MS = 100;

type Outcome = Omit<WaitOutcome, "info">;

/** Waits until one of the conditions holds or the main process has exited; `execution` is null if it already has. */
export async function waitForCondition(
  execution: Execution | null,
  folder: string,
  capture: Capture,
  conditions: WaitConditions,
): Promise<Outcome> {
  const log = openSessionLog(folder, capture);
  const release = execution?.hold();
  const wakeup = new Wakeup(execution, conditions.signal);
  try {
    return await new ConditionWait(log, execution, conditions, wakeup).outcome();
  } finally {
    wakeup.stop();
    release?.();
    closeSessionLog(log);
  }
}

/** Returns the number of bytes in the log, both streams together. */
export function outputSize(folder: string, capture: Capture): number {
  const log = openSessionLog(folder, capture);
  try {
    return endOf(viewOf(log, undefined, true));
  } finally {
    closeSessionLog(log);
  }
}

class ConditionWait {
  readonly #log: SessionLog;
  readonly #execution: Execution | null;
  readonly #conditions: WaitConditions;
  readonly #wakeup: Wakeup;
  readonly #pattern: RegExp | null;
  readonly #plain = new PlainOutput();
  readonly #deadline: number;
  #position: number;
  #seen: number;
  #quietAt: number;
  #pollAt: number;
  #pollAfter = FIRST_POLL_MS;
  readonly #pace = { bytes: 0 };

  constructor(log: SessionLog, execution: Execution | null, conditions: WaitConditions, wakeup: Wakeup) {
    this.#log = log;
    this.#execution = execution;
    this.#conditions = conditions;
    this.#wakeup = wakeup;
    const { pattern, quietMs, timeoutMs } = conditions;
    // The searched text grows, so the pattern must not keep a position between searches (`g` and `y` flags).
    this.#pattern = pattern ? new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, "")) : null;
    this.#seen = endOf(viewOf(log, undefined, execution !== null));
    this.#position = conditions.offset ?? this.#seen;
    this.#quietAt = quietMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + quietMs;
    this.#pollAt = conditions.input ? 0 : Number.POSITIVE_INFINITY;
    this.#deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs;
  }

  async outcome(): Promise<Outcome> {
    for (;;) {
      this.#conditions.signal?.throwIfAborted();
      const ended = this.#execution === null || this.#wakeup.ended;
      const found = (await this.#readNew(ended)) ?? (ended ? this.#outcome("exit") : await this.#otherConditions());
      if (found) return found;
      await this.#wakeup.next(Math.min(this.#quietAt, this.#deadline, this.#pollAt));
    }
  }

  #outcome(reason: Outcome["reason"], offset = this.#seen): Outcome {
    return { reason, match: null, offset };
  }

  /** Reads new output and searches it. A match takes precedence over the other conditions. */
  async #readNew(ended: boolean): Promise<Outcome | null> {
    const view = viewOf(this.#log, undefined, !ended);
    const end = endOf(view);
    if (end !== this.#seen) {
      this.#seen = end;
      if (this.#conditions.quietMs !== undefined) this.#quietAt = performance.now() + this.#conditions.quietMs;
      this.#pollAfter = FIRST_POLL_MS;
      if (this.#conditions.input) this.#pollAt = 0;
    }
    if (this.#pattern === null) return null;
    for (const { bytes, position } of readPieces(view, this.#position, end)) {
      for (let at = 0; at < bytes.length; at += WINDOW) {
        this.#plain.add(bytes.subarray(at, at + WINDOW), position + at);
        const found = this.#plain.find(this.#pattern);
        if (found) return { reason: "pattern", match: found.match, offset: found.end };
      }
      await yieldAfter(this.#pace, bytes.length);
    }
    this.#position = Math.max(this.#position, end);
    return null;
  }

  async #otherConditions(): Promise<Outcome | null> {
    if (this.#conditions.input && performance.now() >= this.#pollAt) {
      const found = await this.#inputCondition();
      if (found) return found;
    }
    const now = performance.now();
    if (now >= this.#quietAt) return this.#grewMeanwhile() ? null : this.#outcome("quiet");
    return now >= this.#deadline ? this.#outcome("timeout") : null;
  }

  async #inputCondition(): Promise<Outcome | null> {
    const state = await this.#execution?.inputState();
    this.#pollAt = performance.now() + this.#pollAfter;
    this.#pollAfter = Math.min(this.#pollAfter * 2, LONGEST_POLL_MS);
    if (!state?.reading) return null;
    // Output written before the process began to read is in the log by now and may match the pattern.
    return (await this.#readNew(false)) ?? this.#outcome("input", state.bytes);
  }

  /** Checks the log itself: a busy gateway may not have processed the event for new output yet. */
  #grewMeanwhile(): boolean {
    return endOf(viewOf(this.#log, undefined, true)) !== this.#seen;
  }
}

/** Throws if a condition is invalid. */
export function assertConditions({ pattern, offset, quietMs, timeoutMs }: WaitConditions): void {
  if (quietMs !== undefined)
    assertMilliseconds("quietMs", quietMs, "`quietMs` is the time without new output, in milliseconds.");
  if (timeoutMs !== undefined)
    assertMilliseconds("timeoutMs", timeoutMs, "`timeoutMs` is the maximum time to wait, in milliseconds.");
  if (pattern !== undefined && !(pattern instanceof RegExp)) throw invalidCondition("pattern", "a regular expression");
  if (offset !== undefined && !(Number.isSafeInteger(offset) && offset >= 0))
    throw invalidCondition("offset", "an integer number of bytes that is not negative");
}

function invalidCondition(name: string, wanted: string): SallyportError {
  return new SallyportError("InvalidRequest", `\`${name}\` must be ${wanted}.`, [
    { action: "fix_request", hint: "For example, `waitFor({ pattern: /\\$ $/, timeoutMs: 10_000 })`." },
  ]);
}
