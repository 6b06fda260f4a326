import type { FollowQuery, LogSlice, ProcessInfo } from "../core/gateway.ts";
import type { ResourceUsage, RunResult } from "../core/result.ts";
import type {
  Capture,
  LogChunk,
  LogQuery,
  StreamInfo,
  StreamName,
  WaitConditions,
  WaitOutcome,
} from "../core/session.ts";
import type { Repaint, Screen, TerminalSize } from "../core/terminal.ts";
import type { SessionFields } from "../storage/sessions.ts";
import type { Execution, ExecutionOutcome } from "./execution.ts";

/** A size of the terminal, which applies to the output from this offset. */
export interface SizeChange extends TerminalSize {
  offset: number;
}

/** The sizes of a session's terminal, or why a session that requested one runs on pipes. */
export type TerminalHistory = { sizes: [SizeChange, ...SizeChange[]] } | { failed: { step: string; errno: number } };

type NamedSession = { id: string; name: string };
export type LiveUsage = { usage: ResourceUsage; processes: ProcessInfo[] };

/**
 * Access to the output and state of one command, on any machine. Methods that do not return a promise use the data that
 * this gateway has. Methods that may return a promise do so only if the command runs on another machine.
 */
export interface SessionData {
  streams(): Partial<Record<StreamName, StreamInfo>>;
  /** Returns null if no terminal was requested. */
  terminal(): TerminalHistory | null;
  /** Returns the total size of the streams, or undefined if only the other machine knows it. */
  size(): number | undefined;
  /** Returns the result of a foreground run. */
  result(name: string, session: SessionFields, ending: ExecutionOutcome): RunResult | Promise<RunResult>;
  /** Returns the end of the output, with both streams in order. */
  tail(maxBytes: number): string | Promise<string>;
  /** Returns the end of stderr, or of the output if the streams are merged. */
  errorTail(maxBytes: number): string;
  /** Returns the path of the log file, if one was requested, and the last lines of the output. */
  forCallback(): { logPath: string | null; lastLines: string[] };
  logs(query: LogQuery, live: boolean): Promise<LogSlice>;
  read(query: LogQuery, live: boolean): AsyncGenerator<LogChunk, void, undefined>;
  /** Yields output until the command ends. `execution` is null if it has ended. */
  follow(
    query: Omit<FollowQuery, "signal">,
    execution: Execution | null,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<LogChunk, void, undefined>;
  /**
   * Waits for a condition. `execution` is null if the command has ended. Without an `offset`, only new output counts.
   */
  waitFor(execution: Execution | null, conditions: WaitConditions): Promise<Omit<WaitOutcome, "info">>;
  screen(session: NamedSession, options: { attributes?: boolean; scrollback?: boolean }): Promise<Screen>;
  repaint(session: NamedSession): Promise<Repaint>;
  recording(session: NamedSession & { command: string; startedAt: string }): AsyncGenerator<string, void, undefined>;
  /** Returns the resource usage of a running command. */
  usage(keeperPid: number): LiveUsage;
}

/**
 * Opens the data of sessions on this machine. It is implemented in `src/session`, on which executors must not depend.
 */
export interface SessionReader {
  /**
   * Opens the data of one session. `processes` returns the pids of a command, or null if all descendants of its keeper
   * belong to it.
   */
  open(
    session: { id: string; capture: Capture },
    folder: string,
    processes: (id: string) => number[] | null,
  ): SessionData;
  /** Drops the cached data of a session. */
  forget(id: string): void;
  close(): void;
}
