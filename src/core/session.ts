import type { Recovery } from "./error.ts";
import type { ResourceUsage, Status } from "./result.ts";
import type { TerminalSize } from "./terminal.ts";

/** What to wait for besides the exit, which is always waited for. */
export interface WaitConditions {
  /**
   * In output that came since this gateway last typed something (else from now on), or after `offset`; escape sequences
   * do not get in its way.
   */
  pattern?: RegExp | undefined;
  offset?: number | undefined;
  /** Nothing was written for so long. */
  quietMs?: number | undefined;
  /** A process of the terminal's foreground group is blocked reading from it. */
  input?: boolean | undefined;
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface WaitOutcome {
  /** Which came first. */
  reason: "exit" | "pattern" | "quiet" | "input" | "timeout";
  /** What the pattern matched, and where in the log its match ends. */
  match: string | null;
  offset: number;
  info: SessionInfo;
}

export type Capture = "apart" | "merged";
export type StreamName = "stdout" | "stderr" | "output";

/** How much of one stream exists, was punched out to keep the disk cap, or could not be written. */
export interface StreamInfo {
  bytes: number;
  droppedStart: number;
  droppedEnd: number;
  lost: number;
}

/** Of a command with all it starts, but `openFiles` and `fileSize`, which are of each process and each file. */
export interface SessionLimits {
  cpu: number | null;
  memoryBytes: number | null;
  processes: number | null;
  diskBytes: number | null;
  fileSize: number | null;
  openFiles: number | null;
}

/** One session as `list`, `ps` and `inspect --json` show it. */
export interface SessionInfo {
  id: string;
  name: string;
  agent: string;
  status: Status;
  command: string;
  /** The argv when it was run directly, else null (`command` is shell text). */
  args: string[] | null;
  cwd: string;
  envNames: string[];
  background: boolean;
  capture: Capture;
  /** The size of its terminal; null: it runs on pipes. */
  pty: TerminalSize | null;
  intent: string | null;
  logFile: string | null;
  /** The machine of the fleet it runs or ran on; null: this one, or not known yet. */
  host: string | null;
  /** The gateway that asked for it, where that is another one of the fleet; null: this one. */
  gateway: string | null;
  pid: number | null;
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  coreDumped: boolean;
  startedAt: string;
  endedAt: string | null;
  durationMs: number;
  timeoutMs: number;
  timedOut: boolean;
  /** Descendants alive when the main process ended. */
  leftover: number;
  /** The main process ended but descendants of this background session live on under its keeper. */
  lingering: boolean;
  /** What its process tree may use; null within: no limit. Null: it was refused before that was settled. */
  limits: SessionLimits | null;
  resourceUsage: ResourceUsage | null;
  streams: Partial<Record<StreamName, StreamInfo>>;
  /** What the kernel kept it from: `workspace-write`, `isolated, network off`, `off`. */
  sandbox: string;
  warnings: string[];
  /** What probably was the matter where the sandbox stopped it, and what to ask for. */
  hints: string[];
  error: { type: string; message: string; recovery: readonly Recovery[] } | null;
}

/** Which slice of a log to read. Lines count from 1; a negative `fromLine` counts from the end. */
export interface LogQuery {
  /** Default: both, merged in order. */
  stream?: "stdout" | "stderr" | "merged";
  /** Byte offset and limit (of the stream as written; dropped bytes count). */
  offset?: number;
  limit?: number;
  /** The last N lines. */
  tail?: number;
  /** A range of lines, 1-based and inclusive. */
  fromLine?: number;
  toLine?: number;
  /** Only what came at or after this time (ms since the epoch). */
  sinceMs?: number;
}

/** A piece of a log. */
export interface LogChunk {
  stream: StreamName;
  /** Where in its stream it starts. */
  offset: number;
  bytes: Uint8Array;
  /** Bytes missing right before this piece (punched out for the disk cap, or lost to a full disk). */
  dropped: number;
  /** ms since the epoch when the keeper saw its first byte, where known. */
  timeMs: number | null;
}
