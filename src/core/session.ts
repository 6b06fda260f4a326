import type { Recovery } from "./error.ts";
import type { ResourceUsage, Status } from "./result.ts";
import type { TerminalSize } from "./terminal.ts";

/**
 * Conditions for `waitFor`. The exit of the main process always ends the wait.
 *
 * @example
 * ```ts
 * const session = await gateway.start({ command: "echo listening on 8080; sleep 60" });
 * const { reason, match } = await session.waitFor({ offset: 0, pattern: /on \d+/, timeoutMs: 10_000 });
 * console.log(reason, match); // pattern on 8080
 * await session.kill();
 * ```
 */
export interface WaitConditions {
  /**
   * Matches the output since this gateway last sent input to the session, or since the call when it sent none. Escape
   * sequences are removed first, and the last 64 KiB are searched.
   */
  pattern?: RegExp | undefined;
  /** The offset in the log from which `pattern` is searched instead. */
  offset?: number | undefined;
  /**
   * The offset in the log up to which the caller has read. `pattern` is then searched in all output after it, or after
   * the last input if that came later.
   */
  readTo?: number | undefined;
  /** Ends the wait when there was no output for this many milliseconds. */
  quietMs?: number | undefined;
  /** Ends the wait when the foreground program of the terminal waits for input. Requires a terminal. */
  input?: boolean | undefined;
  /** The longest time to wait, in milliseconds. Default: no limit. */
  timeoutMs?: number | undefined;
  /** Cancels the wait: the call rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
}

/**
 * The result of `waitFor`.
 *
 * @example
 * ```ts
 * const session = await gateway.start({ command: "exit 3" });
 * const outcome = await session.waitFor({ timeoutMs: 10_000 });
 * console.log(outcome.reason, outcome.info.exitCode); // exit 3
 * ```
 */
export interface WaitOutcome {
  /** The condition that was met first. */
  reason: "exit" | "pattern" | "quiet" | "input" | "timeout";
  /** The text that matched the pattern. Null for other reasons. */
  match: string | null;
  /** The offset in the log after the match, or the size of the log for other reasons. */
  offset: number;
  /** The session at that time. */
  info: SessionInfo;
}

/**
 * How output is captured: stdout and stderr as separate streams (`apart`), or as one stream in exact order (`merged`).
 *
 * @example
 * ```ts
 * const { output } = await gateway.run({ command: "echo 1; echo 2 >&2; echo 3", capture: "merged" });
 * console.log(output.split("\n").join(" ")); // 1 2 3
 * ```
 */
export type Capture = "apart" | "merged";

/**
 * The name of an output stream: `stdout` and `stderr` with `capture: "apart"`, otherwise `output`.
 *
 * @example
 * ```ts
 * const { id } = await gateway.run({ command: "echo hi" });
 * console.log(Object.keys(gateway.session(id).info().streams)); // [ 'stdout', 'stderr' ]
 * ```
 */
export type StreamName = "stdout" | "stderr" | "output";

/**
 * The size of one output stream. A stream that exceeds the disk cap loses bytes from its middle.
 *
 * @example
 * ```ts
 * const { id } = await gateway.run({ command: "echo hi" });
 * console.log(gateway.session(id).info().streams.stdout?.bytes); // 3
 * ```
 */
export interface StreamInfo {
  /** The number of bytes that the command has written. */
  bytes: number;
  /** The offset of the first dropped byte. */
  droppedStart: number;
  /** The offset after the last dropped byte. Equal to `droppedStart` when none were dropped. */
  droppedEnd: number;
  /** The number of bytes that could not be stored because the disk was full. */
  lost: number;
}

/**
 * The resource limits of a session. They apply to the whole process tree unless stated otherwise; null means no limit.
 *
 * @example
 * ```ts
 * const { id } = await gateway.run({ command: "true", limits: { processes: 50 } });
 * console.log(gateway.session(id).info().limits?.processes); // 50
 * ```
 */
export interface SessionLimits {
  /** CPUs; 0.5 is half a CPU. */
  cpu: number | null;
  /** Memory, in bytes. */
  memoryBytes: number | null;
  /** Concurrent processes and threads. */
  processes: number | null;
  /** Bytes written to disk. */
  diskBytes: number | null;
  /** The size of each file, in bytes. */
  fileSize: number | null;
  /** Open files of each process. */
  openFiles: number | null;
}

/**
 * The record of a session, as `sallyport inspect --json` prints it.
 *
 * @example
 * ```ts
 * await gateway.run({ command: "exit 3", name: "fails" });
 * const info = gateway.session("fails").info();
 * console.log(info.status, info.exitCode, info.background); // completed 3 false
 * ```
 */
export interface SessionInfo {
  /** The unique ID, which starts with the creation time. */
  id: string;
  /** The name, unique in the state folder. */
  name: string;
  /** The agent that the session belongs to. */
  agent: string;
  /** The current state. */
  status: Status;
  /** The shell text, or the program when `args` is set. */
  command: string;
  /** The arguments of a program that was started directly. Null for shell text. */
  args: string[] | null;
  /** The working directory. */
  cwd: string;
  /** The names of the environment variables that the request added. */
  envNames: string[];
  /** Whether the command runs in the background. */
  background: boolean;
  /** How output is captured. */
  capture: Capture;
  /** The size of the terminal. Null when the command does not run on a terminal. */
  pty: TerminalSize | null;
  /** The purpose stated by the caller. Null when none was stated. */
  intent: string | null;
  /** The file that also receives the output. Null when there is none. */
  logFile: string | null;
  /** The host in the fleet that runs the command. Null for this machine, or while no host is known. */
  host: string | null;
  /** The gateway that started the session, if that is another one of the fleet. Null for this gateway. */
  gateway: string | null;
  /** The process ID of the main process. Null when it was not started. */
  pid: number | null;
  /** The exit code. Null while the command runs, or when a signal ended it. */
  exitCode: number | null;
  /** The signal that ended the main process. Null when none did. */
  signal: NodeJS.Signals | null;
  /** Whether the main process dumped core. */
  coreDumped: boolean;
  /** The time of the start (ISO 8601). */
  startedAt: string;
  /** The time of the end (ISO 8601). Null while the command runs, and when a `lost` one ended at an unknown time. */
  endedAt: string | null;
  /** How long the command has run, in milliseconds. Null when a `lost` one ended at an unknown time. */
  durationMs: number | null;
  /** The timeout, in milliseconds; 0 for none. */
  timeoutMs: number;
  /** True when the status is `timed_out`. */
  timedOut: boolean;
  /** The number of descendant processes that were running when the main process ended. */
  leftover: number;
  /** True when the main process of a background session has ended and some of its descendants still run. */
  lingering: boolean;
  /** The resource limits. Null when the command was refused before they were determined. */
  limits: SessionLimits | null;
  /** The resources used by the process tree. Null until the command has ended; see `usage()`. */
  resourceUsage: ResourceUsage | null;
  /** The size of each output stream. */
  streams: Partial<Record<StreamName, StreamInfo>>;
  /** The sandbox, such as `workspace-write`, `isolated, network off` or `off`. */
  sandbox: string;
  /** Remarks about the run, such as an unsupported sandbox feature. */
  warnings: string[];
  /** Likely reasons for a failure that the sandbox caused, and what to request instead. */
  hints: readonly Recovery[];
  /** Why the command did not run or could not be completed. Null for other outcomes, whatever the exit code. */
  error: { type: string; message: string; recovery: readonly Recovery[] } | null;
}

/**
 * The part of a log to read. `tail` takes precedence over line numbers, and those over `offset`.
 *
 * @example
 * ```ts
 * const { id } = await gateway.run({ command: "seq 5" });
 * const { text } = await gateway.session(id).logs({ fromLine: 2, toLine: 3 });
 * console.log(text.split("\n").join(" ").trim()); // 2 3
 * ```
 */
export interface LogQuery {
  /** The stream. Default: `merged`, both streams in the order in which they were written. */
  stream?: "stdout" | "stderr" | "merged";
  /** The byte offset to start at. Dropped bytes count. Default: 0. */
  offset?: number;
  /** The maximum number of bytes to return. Default for `logs`: 1 MiB (at most 16 MiB). `follow` ignores it. */
  limit?: number;
  /** The number of lines to return from the end. */
  tail?: number;
  /** The first line, counted from 1. A negative number counts from the end. */
  fromLine?: number;
  /** The last line, included in the result. A negative number counts from the end. */
  toLine?: number;
  /** Only output at or after this time, in milliseconds since the epoch. */
  sinceMs?: number;
}

/**
 * A piece of a log.
 *
 * @example
 * ```ts
 * const { id } = await gateway.run({ command: "echo hi" });
 * for await (const chunk of gateway.session(id).read()) {
 *   console.log(chunk.stream, chunk.offset, chunk.bytes.length); // stdout 0 3
 * }
 * ```
 */
export interface LogChunk {
  /** The stream that the bytes belong to. */
  stream: StreamName;
  /** The offset of the first byte in its stream. */
  offset: number;
  /** The bytes. They never end inside a character, unless the selection does. */
  bytes: Uint8Array;
  /** The number of bytes that are missing before this piece because of the disk cap or a full disk. */
  dropped: number;
  /** When the first byte was written, in milliseconds since the epoch. Null when it is not known. */
  timeMs: number | null;
}
