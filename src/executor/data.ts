import type { FollowQuery, LogSlice, ProcessInfo } from "../core/gateway.ts";
import type { ResourceUsage, RunResult } from "../core/result.ts";
import type { Capture, LogChunk, LogQuery, StreamInfo, StreamName } from "../core/session.ts";
import type { Repaint, Screen, TerminalSize, WaitConditions, WaitOutcome } from "../core/terminal.ts";
import type { NewSession } from "../storage/sessions.ts";
import type { Execution, Parting } from "./executor.ts";

/** From this byte of the output on the terminal had this size. */
export interface SizeChange extends TerminalSize {
  offset: number;
}

/** Of a session that was to be on a terminal: how large that was when, or why it got none and runs on pipes. */
export type TerminalStory = { sizes: [SizeChange, ...SizeChange[]] } | { failed: { step: string; errno: number } };

type Asked = Omit<NewSession, "name">;
type Shown = { id: string; name: string };
export type LiveUsage = { usage: ResourceUsage; processes: ProcessInfo[] };

/**
 * What there is to read of one command, wherever it runs. An answer that is no promise is what is known here at once;
 * one that may be a promise is at hand where the command runs on this machine, so that nobody waits there for nothing.
 */
export interface SessionData {
  streams(): Partial<Record<StreamName, StreamInfo>>;
  /** Null: it never was to be on a terminal. */
  terminal(): TerminalStory | null;
  /** Bytes written so far, both streams together; undefined: only where it runs is that known. */
  size(): number | undefined;
  /** What a foreground run resolves to. */
  result(name: string, session: Asked, ending: Parting): RunResult | Promise<RunResult>;
  /** The end of what it wrote, both streams in order. */
  tail(maxBytes: number): string | Promise<string>;
  /** The last it said about its end. */
  complaint(maxBytes: number): string;
  /** Where a person can read its output, and the last lines of it. */
  forCallback(): { logPath: string | null; lastLines: string[] };
  logs(query: LogQuery, live: boolean): Promise<LogSlice>;
  read(query: LogQuery, live: boolean): AsyncGenerator<LogChunk, void, undefined>;
  /** `execution`: null once it has ended. */
  follow(
    query: Omit<FollowQuery, "signal">,
    execution: Execution | null,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<LogChunk, void, undefined>;
  /** `execution`: null once it has ended. Without an `offset`, what comes from now on counts. */
  waitFor(execution: Execution | null, conditions: WaitConditions): Promise<Omit<WaitOutcome, "info">>;
  screen(session: Shown, options: { attributes?: boolean; scrollback?: boolean }): Promise<Screen>;
  repaint(session: Shown): Promise<Repaint>;
  recording(session: Shown & { command: string; startedAt: string }): AsyncGenerator<string, void, undefined>;
  /** Of a living one. */
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
