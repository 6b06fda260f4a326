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

/** The terminal has this size from this byte of the output on. */
export interface SizeChange extends TerminalSize {
  offset: number;
}

/** The sizes of a session's terminal, or why a session that requested one runs on pipes. */
export type TerminalHistory = { sizes: [SizeChange, ...SizeChange[]] } | { failed: { step: string; errno: number } };

type NamedSession = { id: string; name: string };
export type LiveUsage = { usage: ResourceUsage; processes: ProcessInfo[] };

/**
 * Access to the output and state of one command, on any machine. Methods that do not return a promise answer with what
 * is known here. Methods that may return one do not if the command runs on this machine.
 */
export interface SessionData {
  streams(): Partial<Record<StreamName, StreamInfo>>;
  /** Null: no terminal was requested. */
  terminal(): TerminalHistory | null;
  /** The size of both streams together; undefined: only the other machine knows. */
  size(): number | undefined;
  /** The result of a foreground run. */
  result(name: string, session: SessionFields, ending: ExecutionOutcome): RunResult | Promise<RunResult>;
  /** The end of the output, both streams in order. */
  tail(maxBytes: number): string | Promise<string>;
  /** The end of stderr, or of the output if the streams are merged. */
  errorTail(maxBytes: number): string;
  /** The path of its log for people, and the last lines of its output. */
  forCallback(): { logPath: string | null; lastLines: string[] };
  logs(query: LogQuery, live: boolean): Promise<LogSlice>;
  read(query: LogQuery, live: boolean): AsyncGenerator<LogChunk, void, undefined>;
  /** `execution`: null if the command has ended. */
  follow(
    query: Omit<FollowQuery, "signal">,
    execution: Execution | null,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<LogChunk, void, undefined>;
  /** `execution`: null if the command has ended. Without an `offset`, only new output counts. */
  waitFor(execution: Execution | null, conditions: WaitConditions): Promise<Omit<WaitOutcome, "info">>;
  screen(session: NamedSession, options: { attributes?: boolean; scrollback?: boolean }): Promise<Screen>;
  repaint(session: NamedSession): Promise<Repaint>;
  recording(session: NamedSession & { command: string; startedAt: string }): AsyncGenerator<string, void, undefined>;
  /** Of a running command. */
  usage(keeperPid: number): LiveUsage;
}

/** Opens the data of sessions on this machine. The session folder implements it, so that executors do not import it. */
export interface SessionReader {
  /** `processes`: the pids of a command whose keeper has other commands too; null: all processes of its keeper. */
  open(
    session: { id: string; capture: Capture },
    folder: string,
    processes: (id: string) => number[] | null,
  ): SessionData;
  /** Drops what is cached about a session. */
  forget(id: string): void;
  close(): void;
}
