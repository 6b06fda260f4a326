import type { Recovery } from "../core/error.ts";
import type { BrokenMasks, ExceededLimit } from "../core/launch.ts";
import type { RunResult, Status } from "../core/result.ts";
import type { SessionInfo, StreamInfo } from "../core/session.ts";
import type { TerminalSize } from "../core/terminal.ts";

/** How a command ended, as its keeper recorded it. */
export interface ExitRecord {
  reason: "exited" | "timeout" | "killed" | "failed" | "limit" | "mask" | "input";
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
  /** The first limit that was exceeded. It ended the main process only if the reason is "limit". */
  limit?: ExceededLimit;
  /**
   * Set if the kernel killed the main process, or a child whose exit it reports, because the machine or its container had
   * no memory left.
   */
  outOfMemory?: boolean | undefined;
  /** Memory and processor time of the whole tree, where the kernel counted them. */
  treePeakBytes?: number;
  treeCpuUs?: number;
  /** Requested limits that the kernel does not enforce: `cpu` has no effect, and the others are enforced by polling. */
  loose?: ("memory" | "processes" | "cpu")[];
  leftover: number;
  /** False while descendants of the main process still run under the keeper. */
  final: boolean;
  streams: StreamInfo[];
  /** The number of NULs at the end of each stream, if there are any. */
  nuls?: number[] | undefined;
  /** Names of the sandbox features that are not supported here. */
  gaps?: string[] | undefined;
  /** Masks that broke while the command ran. They ended the main process only if the reason is "mask". */
  masks?: BrokenMasks | undefined;
  /** Protected paths that the kernel did not protect, and that were created or changed while the command ran. */
  created?: { count: number; paths: string[] } | undefined;
  /** The program that waited for input when the command timed out or, with the reason "input", could get none. */
  input?: InputWait | undefined;
  /** Set if the command ran on another machine. */
  account?: ExitReport | undefined;
}

/** The outcome as text, written on the machine that ran the command and has its files. */
export interface ExitReport {
  status: Status;
  warnings: string[];
  hints: readonly Recovery[];
  error: SessionInfo["error"];
  logPath: string | null;
  lastLines: string[];
  /** The result of a foreground run. */
  result?: RunResult | undefined;
}

/** An exit record, or "lost" if the keeper exited without writing one. */
export type ExitOutcome = ExitRecord | "lost";

/** An exit outcome, or "detached" if this gateway stopped following the command, which still runs. */
export type ExecutionOutcome = ExitOutcome | "detached";

export interface KillRequest {
  signal: number;
  /** Whether every descendant or only the main process gets the signal. */
  scope: "tree" | "main";
  /** Whether the signal should end the command: its status is then killed, and SIGKILL follows after `graceMs`. */
  ends: boolean;
  graceMs: number | null;
}

/** A program that is blocked until it gets input. */
export interface InputWait {
  /** The name of its process. */
  program: string;
  /** Where it reads. `output` is the write end of its own output pipe, on which no input can arrive. */
  source: "terminal" | "stdin" | "output";
  /** Whether the terminal does not show what is typed, as for a password. */
  hidden: boolean;
  /** Whether it reads lines, and not single keys. */
  lines: boolean;
  /** Whether it also waits for other events, as a server does. */
  events: boolean;
}

/** How the program in the foreground of a terminal handles input. */
export interface InputState {
  /** Whether a thread is blocked reading the terminal and no input is pending. Null if this is unknown. */
  reading: boolean | null;
  /** Whether the terminal shows typed text. Password prompts turn this off and leave `canonical` on. */
  echo: boolean;
  /** Whether the program reads whole lines, and not single keys. */
  canonical: boolean;
  /** The process that waits for input or, if none does, the first process of the foreground group. */
  foreground: TerminalProcess | null;
  /** The size of the output in bytes, including everything written before the program began to wait. */
  bytes: number;
  /** At most 32 processes on the terminal, parents first. */
  processes: TerminalProcess[];
  /** The input of all clients since the last end of line. */
  typed: Uint8Array;
  /** Whether `typed` is truncated. */
  typedOverlong: boolean;
  /** The number of these bytes that were typed while another program was in the foreground and may have read them. */
  typedBefore: number;
  /** Terminal modes that the program has turned on. */
  modes: { applicationCursor: boolean; bracketedPaste: boolean };
}

export interface TerminalProcess {
  pid: number;
  /** The resolved path of the executable, or null if it is unknown. */
  program: string | null;
  argv: string[];
  cwd: string | null;
}

/** New output of a command with one stream, for readers that have read up to `offset`. It is also in the log. */
export interface OutputDelta {
  offset: number;
  bytes: Buffer;
  timeMs: number;
}

/** A running command. Several gateways may follow the same one. */
export interface Execution {
  readonly id: string;
  readonly keeperPid: number;
  /** The pid of the main process; null if it ended or failed to start before it was announced. */
  readonly started: Promise<number | null>;
  /** Names of the sandbox features that are not supported here; known once the command has started. */
  readonly unsupported: readonly string[];
  /** The machine that the command runs on, once it is known. Null for this machine. */
  readonly host: string | null;
  /** Resolves when the main process has ended or this execution was released. Never rejects. */
  readonly exited: Promise<ExecutionOutcome>;
  /** Resolves when the whole tree has ended or this execution was released. Never rejects. */
  readonly ended: Promise<ExecutionOutcome>;
  /**
   * Calls `listener` when the output has grown, sometimes with the new output. Returns a function that unsubscribes.
   */
  onGrew(listener: (fresh?: OutputDelta) => void): () => void;
  /**
   * Writes to stdin. Resolves with the number of accepted bytes, which may be less than the length of `data` if the
   * command does not read; null if stdin is closed.
   */
  write(data: Uint8Array): Promise<number | null>;
  /** Whether the last write went to a terminal in canonical mode without echo, and so is probably a password. */
  readonly wroteHidden: boolean;
  /** The size of the output at the last write, if known. */
  readonly wroteAt?: number | undefined;
  /** Resolves with whether the command has a terminal. If this is undefined, use `SessionData.terminal`. */
  onTerminal?(): Promise<boolean>;
  closeStdin(): Promise<void>;
  /** Resizes the terminal. Resolves with false if the command has no terminal or has ended. */
  resize(size: TerminalSize): Promise<boolean>;
  /** Reads the input state. Resolves with null if the command has no terminal or has ended. */
  inputState(): Promise<InputState | null>;
  /** Resolves with the program that waits for input, or null. Undefined if this cannot be determined. */
  inputWait?(): Promise<InputWait | null>;
  /** Sends a signal. Resolves with false if the command has ended. */
  kill(request: KillRequest): Promise<boolean>;
  /**
   * Sets the deadline, counted from now; 0 removes it. Resolves with false if the previous deadline has passed or the
   * command has ended.
   */
  setDeadline(timeoutMs: number): Promise<boolean>;
  /** Lets processes that outlive the main process continue. */
  toBackground(): Promise<void>;
  /** Keeps the calling process alive until the returned function is called. */
  hold(): () => void;
  /** Stops following the command, which still runs. */
  release(): void;
}

/** Returns the exit record of a command that never ran and has no keeper to write one. */
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

const SIGNAL_BASE = 128;

/**
 * Returns the exit code of an ended command as callbacks and `process_poll` report it: 128+n after signal n, and null
 * after a timeout or when it is unknown.
 */
export function reportedExitCode(status: string, ending: Pick<ExitRecord, "code" | "signal"> | "lost"): number | null {
  if (ending === "lost" || status === "timed_out") return null;
  return ending.code ?? (ending.signal > 0 ? SIGNAL_BASE + ending.signal : null);
}
