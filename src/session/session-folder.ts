import { statSync } from "node:fs";
import { join } from "node:path";
import type { FollowQuery, LogSlice } from "../core/gateway.ts";
import type { RunResult } from "../core/result.ts";
import type { Capture, LogChunk, LogQuery, WaitConditions, WaitOutcome } from "../core/session.ts";
import type { Repaint, Screen } from "../core/terminal.ts";
import type { Execution, ExecutionOutcome } from "../executor/execution.ts";
import type { LiveUsage, SessionData, SessionReader, SizeChange, TerminalHistory } from "../executor/session-data.ts";
import type { SessionFields } from "../storage/sessions.ts";
import { terminalText } from "../text/terminal/terminal-text.ts";
import { notOnTerminal } from "./errors.ts";
import { followLog, outputNotifier } from "./logs/follow.ts";
import { readLog, streamLog } from "./logs/read.ts";
import { streamInfo, syncOutput } from "./logs/session-log.ts";
import { readMergedText, readStreamText } from "./logs/text.ts";
import { runResult, terminalOutput } from "./result.ts";
import { readTerminalHistory } from "./terminal/history.ts";
import { asciicast } from "./terminal/recording.ts";
import { ScreenCache } from "./terminal/screen-cache.ts";
import { outputSize, waitForCondition } from "./terminal/wait-for.ts";
import { highestUsage, liveUsage } from "./usage.ts";

const LINES = 5;
/** The number of bytes from which the last lines are taken. Long lines are truncated (invariant 6). */
const TAIL_BYTES = 64 * 1024;
const LONGEST_LINE = 2000;

/**
 * Returns the last lines of an ended session's output as a model sees them, both streams in order; none if the log is
 * unreadable.
 */
function lastLines(folder: string, capture: Capture): string[] {
  const lines = tailOf(folder, capture).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.slice(-LINES).map((line) => (line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line));
}

function tailOf(folder: string, capture: Capture): string {
  try {
    const { text, omittedAt } = readMergedText(folder, capture, TAIL_BYTES);
    const tail = omittedAt === null ? text : text.slice(omittedAt);
    return terminalText(tail);
  } catch {
    // The callback is sent even if the log cannot be quoted.
    return "";
  }
}

/** Reads session folders on this machine. One cache of rendered screens serves all sessions. */
export class LocalSessionReader implements SessionReader {
  readonly #screens = new ScreenCache();
  readonly #durable: () => boolean;

  /** `durable` reports whether output must be on the disk before it is returned. */
  constructor(durable: () => boolean = () => false) {
    this.#durable = durable;
  }

  open(
    session: { id: string; capture: Capture },
    folder: string,
    processes: (id: string) => number[] | null,
  ): SessionData {
    return new SessionFolder(session, folder, this.#screens, processes, this.#durable);
  }

  forget(id: string): void {
    this.#screens.forget(id);
  }

  close(): void {
    this.#screens.close();
  }
}

/** The data that a keeper on this machine wrote to a session folder. */
class SessionFolder implements SessionData {
  readonly #id: string;
  readonly #folder: string;
  readonly #capture: Capture;
  readonly #screens: ScreenCache;
  readonly #processes: (id: string) => number[] | null;
  readonly #durable: () => boolean;

  constructor(
    session: { id: string; capture: Capture },
    folder: string,
    screens: ScreenCache,
    processes: (id: string) => number[] | null,
    durable: () => boolean,
  ) {
    this.#id = session.id;
    this.#durable = durable;
    this.#capture = session.capture;
    this.#folder = folder;
    this.#screens = screens;
    this.#processes = processes;
  }

  streams() {
    return streamInfo(this.#folder, this.#capture);
  }

  terminal(): TerminalHistory | null {
    // A terminal always has a single merged stream.
    return this.#capture === "merged" ? readTerminalHistory(this.#folder) : null;
  }

  size(): number {
    // Called for every key. For a single stream the file size is enough.
    if (this.#capture === "merged") return statSync(join(this.#folder, "output"), { throwIfNoEntry: false })?.size ?? 0;
    return outputSize(this.#folder, this.#capture);
  }

  result(name: string, session: SessionFields, ending: ExecutionOutcome): RunResult | Promise<RunResult> {
    const result = runResult(name, session, ending, this.#folder);
    return this.#capture === "merged" ? this.#asText(result) : result;
  }

  async #asText(result: RunResult): Promise<RunResult> {
    return Object.assign(result, await terminalOutput(this.#folder));
  }

  tail(maxBytes: number): string {
    return readMergedText(this.#folder, this.#capture, maxBytes).text;
  }

  errorTail(maxBytes: number): string {
    return readStreamText(this.#folder, this.#capture === "merged" ? "output" : "stderr", maxBytes).text;
  }

  forCallback(): { logPath: string; lastLines: string[] } {
    return {
      logPath: join(this.#folder, this.#capture === "merged" ? "output" : "stdout"),
      lastLines: lastLines(this.#folder, this.#capture),
    };
  }

  async logs(query: LogQuery, live: boolean): Promise<LogSlice> {
    const slice = await readLog(this.#folder, this.#capture, query, { live });
    // The keeper flushes the output of a command that has ended.
    if (live && this.#durable()) await syncOutput(this.#folder, this.#capture);
    return slice;
  }

  read(query: LogQuery, live: boolean): AsyncGenerator<LogChunk, void, undefined> {
    return streamLog(this.#folder, this.#capture, query, { live });
  }

  async *follow(
    query: Omit<FollowQuery, "signal">,
    execution: Execution | null,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<LogChunk, void, undefined> {
    const release = execution?.hold();
    const notifier = outputNotifier(execution);
    try {
      yield* followLog(this.#folder, this.#capture, query, notifier, signal);
    } finally {
      notifier.stop();
      release?.();
    }
  }

  waitFor(execution: Execution | null, conditions: WaitConditions): Promise<Omit<WaitOutcome, "info">> {
    return waitForCondition(execution, this.#folder, this.#capture, conditions);
  }

  async screen({ name }: { name: string }, options: { attributes?: boolean; scrollback?: boolean }): Promise<Screen> {
    this.#sizes(name);
    return this.#screens.with(this.#id, this.#folder, (terminal) => terminal.screen(options));
  }

  async repaint({ name }: { name: string }): Promise<Repaint> {
    this.#sizes(name);
    return this.#screens.with(this.#id, this.#folder, (terminal) => terminal.repaint());
  }

  recording(session: { name: string; command: string; startedAt: string }): AsyncGenerator<string, void, undefined> {
    const { name, command, startedAt } = session;
    const head = { startedMs: Date.parse(startedAt), command, title: name };
    return asciicast(this.#folder, this.#sizes(name), head);
  }

  usage(keeperPid: number): LiveUsage {
    const { usage, processes } = liveUsage(keeperPid, this.#processes(this.#id));
    return { usage: highestUsage(this.#id, usage), processes };
  }

  /** Returns all sizes of the session's terminal, in order. Throws for a session without a terminal. */
  #sizes(name: string): [SizeChange, ...SizeChange[]] {
    const history = this.terminal();
    if (history && "sizes" in history) return history.sizes;
    throw notOnTerminal(name);
  }
}
