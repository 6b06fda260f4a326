import type { ExceededLimit } from "../core/launch.ts";
import type { RunResult, Status } from "../core/result.ts";
import type { SessionInfo, StreamInfo } from "../core/session.ts";
import type { TerminalSize } from "../core/terminal.ts";

/** How a command ended, as its keeper recorded it. */
export interface ExitRecord {
  reason: "exited" | "timeout" | "killed" | "failed" | "limit";
  pid: number;
  code: number | null;
  signal: number;
  core: boolean;
  /** The failed step and its errno, if the command could not be started. */
  step?: string;
  errno?: number;
  startedUs: number;
  endedUs: number;
  durationUs: number;
  userUs: number;
  systemUs: number;
  maxRssKib: number;
  readBytes: number;
  writeBytes: number;
  /** The first limit that was exceeded. Only with the reason "limit" did it end the main process. */
  limit?: ExceededLimit;
  /** Memory and processor time of the whole tree, where the kernel counted them. */
  treePeakBytes?: number;
  treeCpuUs?: number;
  /** Requested limits that the kernel does not enforce here: `cpu` has no effect, the others are polled. */
  loose?: ("memory" | "processes" | "cpu")[];
  leftover: number;
  /** False: the main process has ended, but descendants still run under the keeper. */
  final: boolean;
  streams: StreamInfo[];
  /** Names of the sandbox features that are not supported here. */
  gaps?: string[] | undefined;
  /** Set if the command ran on another machine. */
  account?: ExitReport | undefined;
}

/** The outcome as text, made on the machine that has the command's files and programs. */
export interface ExitReport {
  status: Status;
  warnings: string[];
  hints: string[];
  error: SessionInfo["error"];
  logPath: string | null;
  lastLines: string[];
  /** The result of a foreground run. */
  result?: RunResult | undefined;
}

/** "lost": the keeper is gone and left no exit record. */
export type ExitOutcome = ExitRecord | "lost";

/** "detached": this gateway stopped following the command, which still runs. */
export type ExecutionOutcome = ExitOutcome | "detached";

export interface KillRequest {
  signal: number;
  /** Every descendant, or the main process only. */
  scope: "tree" | "main";
  /** The signal is meant to end the command: it counts as killed, and SIGKILL follows after `graceMs`. */
  ends: boolean;
  graceMs: number | null;
}

/** How the program in the foreground of a terminal handles input. */
export interface InputState {
  /** One of its threads is blocked reading the terminal, and no input is pending. Null: unknown. */
  reading: boolean | null;
  /** The terminal shows typed text. Password prompts turn this off and leave `canonical` on. */
  echo: boolean;
  /** The program gets input by the line; otherwise by the key. */
  canonical: boolean;
  /** The process that waits for input, or else the first one of the foreground group. */
  foreground: TerminalProcess | null;
  /** The size of the output. It includes everything written before the program began to wait. */
  bytes: number;
  /** The processes on the terminal, parents first, at most 32. */
  processes: TerminalProcess[];
  /** The input since the last end of a line, from all clients. */
  typed: Uint8Array;
  /** `typed` is truncated. */
  typedOverlong: boolean;
  /** The number of bytes typed while another program was in the foreground. Either may have read them. */
  typedBefore: number;
  /** Terminal modes that the program has turned on. */
  modes: { applicationCursor: boolean; bracketedPaste: boolean };
}

export interface TerminalProcess {
  pid: number;
  /** The resolved path; null: unknown. */
  program: string | null;
  argv: string[];
  cwd: string | null;
}

/** New output of a command with one stream, for readers that have read up to `offset`. The log has it too. */
export interface OutputDelta {
  offset: number;
  bytes: Buffer;
  timeMs: number;
}

/** A running command. Several gateways may have one for the same command. */
export interface Execution {
  readonly id: string;
  readonly keeperPid: number;
  /** The pid of the main process; null if it ended or failed to start before it was announced. */
  readonly started: Promise<number | null>;
  /** Names of the sandbox features that are not supported here; known once the command has started. */
  readonly unsupported: readonly string[];
  /** The machine it runs on, once known; null: this one. */
  readonly host: string | null;
  /** Resolves when the main process has ended or this execution was released. Never rejects. */
  readonly exited: Promise<ExecutionOutcome>;
  /** Resolves when the whole tree has ended or this execution was released. Never rejects. */
  readonly ended: Promise<ExecutionOutcome>;
  /** Calls back when output has grown, sometimes with the new output. Returns a function that unsubscribes. */
  onGrew(listener: (fresh?: OutputDelta) => void): () => void;
  /** Resolves with the number of bytes accepted, fewer if the command does not read. Null: stdin is closed. */
  write(data: Uint8Array): Promise<number | null>;
  /** The last write went to a terminal in canonical mode without echo, so it is probably a password. */
  readonly wroteHidden: boolean;
  /** The size of the output at the last write, if known. */
  readonly wroteAt?: number | undefined;
  /** Missing: `SessionData.terminal` tells. */
  onTerminal?(): Promise<boolean>;
  closeStdin(): Promise<void>;
  /** Resolves with false if the command has no terminal or has ended. */
  resize(size: TerminalSize): Promise<boolean>;
  /** Resolves with null if the command has no terminal or has ended. */
  inputState(): Promise<InputState | null>;
  /** Resolves with false if the command has ended. */
  kill(request: KillRequest): Promise<boolean>;
  /** Sets the deadline, counted from now; 0 removes it. Resolves with false if it is too late. */
  setDeadline(timeoutMs: number): Promise<boolean>;
  /** Processes left by the main process may continue from now on. */
  toBackground(): Promise<void>;
  /** Keeps the calling process alive until the returned function is called. */
  hold(): () => void;
  /** Stops following the command, which still runs. */
  release(): void;
}

/** The exit record of a command that never ran and has no keeper to write one. */
export function unstartedRecord(step: string): ExitRecord {
  const now = Date.now() * 1000;
  return {
    reason: "failed",
    step,
    errno: 0,
    pid: 0,
    code: null,
    signal: 0,
    core: false,
    startedUs: now,
    endedUs: now,
    durationUs: 0,
    userUs: 0,
    systemUs: 0,
    maxRssKib: 0,
    readBytes: 0,
    writeBytes: 0,
    leftover: 0,
    final: true,
    streams: [],
  };
}
