import type { ExceededLimit, LaunchLimits, LaunchSpec } from "../core/launch.ts";
import type { RunResult, Status } from "../core/result.ts";
import type { Capture, SessionInfo, StreamInfo } from "../core/session.ts";
import type { TerminalSize } from "../core/terminal.ts";
import type { SessionData } from "./data.ts";
import type { PeerSessions } from "./peer-sessions.ts";

export const NO_LIMITS: LaunchLimits = {
  processes: null,
  exactProcesses: false,
  openFiles: null,
  fileSize: null,
  cpu: null,
  memoryBytes: null,
  diskBytes: null,
};

/** What became of a command, as its keeper recorded it. */
export interface ExitRecord {
  reason: "exited" | "timeout" | "killed" | "failed" | "limit";
  pid: number;
  code: number | null;
  signal: number;
  core: boolean;
  /** Only when it could not be started: the step that failed, and its errno. */
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
  /** The first limit that was exceeded. With another `reason` than "limit" the command itself ended otherwise. */
  limit?: ExceededLimit;
  /** Memory and processor time of the whole tree, where the kernel counted them. */
  treePeakBytes?: number;
  treeCpuUs?: number;
  /** Limits that were asked for and that the kernel does not keep here: `cpu` not at all, the others were watched. */
  loose?: ("memory" | "processes" | "cpu")[];
  leftover: number;
  /** False: the main process has ended, but descendants live on under the keeper. */
  final: boolean;
  streams: StreamInfo[];
  /** What of its sandbox this machine could not do, by name; missing: nothing. */
  gaps?: string[] | undefined;
  /** What there is to say of it, where it ran on another machine. */
  account?: Account | undefined;
}

/** An end in words, told by who could look at the command's files, folders and programs. */
export interface Account {
  status: Status;
  warnings: string[];
  hints: string[];
  error: SessionInfo["error"];
  logPath: string | null;
  lastLines: string[];
  /** What a foreground run resolves to. */
  result?: RunResult | undefined;
}

/** "lost": the keeper is gone and left no record. */
export type Ending = ExitRecord | "lost";

/** "detached": we let go of it, and it runs on. */
export type Parting = Ending | "detached";

export interface KillRequest {
  signal: number;
  /** Every descendant, or the main process only. */
  scope: "tree" | "main";
  /** Meant to end the command: it then counts as killed, and SIGKILL follows after `graceMs`. */
  ends: boolean;
  graceMs: number | null;
}

/** What the program in a terminal's foreground is doing about input. */
export interface InputState {
  /** One of its threads is blocked reading the terminal, with nothing typed ahead. Null: it cannot be seen. */
  reading: boolean | null;
  /** What is typed is shown. Off, with `canonical` on, is how passwords are asked for. */
  echo: boolean;
  /** Input comes by the line, with the kernel's editing; off: key by key. */
  canonical: boolean;
  /** The process that waits, else the first of the foreground group. */
  foreground: TerminalProcess | null;
  /** Bytes of output so far: everything it wrote before it began to wait is among them. */
  bytes: number;
  /** Every process that has the terminal, parents first. At most 32. */
  processes: TerminalProcess[];
  /** What was typed, by whomever, since the last end of a line. */
  typed: Uint8Array;
  /** It was longer than what is kept of it. */
  typedOverlong: boolean;
  /** So many bytes of it were typed while another program was in front: who took which of these is not known. */
  typedBefore: number;
  /** What the program switched on. */
  modes: { applicationCursor: boolean; bracketedPaste: boolean };
}

export interface TerminalProcess {
  pid: number;
  /** Links followed; null: it cannot be seen. */
  program: string | null;
  argv: string[];
  cwd: string | null;
}

/** Output of a command with one stream, on its way to whoever has read up to its `offset`. It is in the log as well. */
export interface FreshOutput {
  offset: number;
  bytes: Buffer;
  timeMs: number;
}

/** A command under an executor's care. Several gateways may hold one for the same command. */
export interface Execution {
  readonly id: string;
  readonly keeperPid: number;
  /** The main process's pid; null when it ended (or failed to start) before it was announced. */
  readonly started: Promise<number | null>;
  /** What of its sandbox this machine could not do, by name; known once it has started. */
  readonly gaps: readonly string[];
  /** The machine it runs on, once that is known; null: this one. */
  readonly host: string | null;
  /** The main process has ended, or we let go of it. Never rejects. */
  readonly exited: Promise<Parting>;
  /** Nothing of its tree is left, or we let go of it. Never rejects. */
  readonly ended: Promise<Parting>;
  /** Calls back whenever output has grown, now and then with what came. Returns how to stop. */
  onGrew(listener: (fresh?: FreshOutput) => void): () => void;
  /** How many bytes were taken; fewer than given when the command does not read. Null: its stdin is closed. */
  write(data: Uint8Array): Promise<number | null>;
  /** What was written last went to a terminal that did not show it, but took it by the line: a password, most likely. */
  readonly wroteHidden: boolean;
  /** Where its output ended when that was written; undefined: nobody looked. */
  readonly wroteAt?: number | undefined;
  /** Missing: what there is to read of it tells. */
  onTerminal?(): Promise<boolean>;
  closeStdin(): Promise<void>;
  /** False: it is on no terminal, or has ended. */
  resize(size: TerminalSize): Promise<boolean>;
  /** Null: it is on no terminal, or has ended. */
  inputState(): Promise<InputState | null>;
  /** False: it had ended already. */
  kill(request: KillRequest): Promise<boolean>;
  /** A deadline from now on; 0 lifts it. False: too late. */
  setDeadline(timeoutMs: number): Promise<boolean>;
  /** Leftovers may live on from now on. */
  toBackground(): Promise<void>;
  /** Keeps the calling process from ending while something waits for this command. Returns how to let go. */
  hold(): () => void;
  /** Lets go of it without ending it. */
  release(): void;
}

/**
 * What an executor can promise. Whoever relies on one of these asks first: a command that cannot be confined is judged
 * as an unconfined one, and what is missing is said in the result's `warnings` and by `sallyport doctor`.
 */
export interface Abilities {
  readonly kind: "native" | "portable" | "fleet";
  /** Applies a `SandboxSpec` in the kernel. False: a command runs with the gateway's own rights, whatever was asked. */
  readonly confines: boolean;
  /** Commands, their deadlines and their capture outlive the gateway. */
  readonly survives: boolean;
  /** Finds and ends every descendant, wherever it has gone. False: those that stayed in its process group. */
  readonly exactTrees: boolean;
  /** Keeps `LaunchLimits`. */
  readonly limits: boolean;
  /** Opens terminals. */
  readonly pty: boolean;
  /** Runs them on other machines: what a request names is not to be looked for on this one. */
  readonly elsewhere: boolean;
}

/** What a row says of a session that it counts among the living. */
export interface Whereabouts {
  id: string;
  name: string;
  agent: string;
  keeper_pid: number;
  created_ms: number;
  background: number;
  /** Its main process has ended and others of it live on. */
  lingering: number;
}

/** A session, and on which machine it is or was, where that is known and not this one. */
export interface Located {
  id: string;
  agent: string;
  capture: Capture;
  host?: string | null;
}

/** Runs commands, here or elsewhere. Knows nothing of policy. */
export interface Executor {
  readonly abilities: Abilities;
  /** Missing: nobody else has any. */
  readonly peerSessions?: PeerSessions;
  /** Ready to take a command: what comes after is quick. */
  prepare(): Promise<Slot>;
  /** Finds a running command again. Null: it is not running (any more), or nobody can tell yet. */
  attach(session: Whereabouts): Promise<Execution | null>;
  /** Brings what is known here at once up to date; nothing to do where the disk tells all. */
  learn(live: () => Whereabouts[]): Promise<void>;
  /**
   * What became of a command that nobody follows, as far as that is known here at once; null: it lives, for all that
   * is known. `keeperNow`: whom its row names by now, since another keeper may have taken it up meanwhile.
   */
  fate(session: Whereabouts, keeperNow: () => number | undefined): Ending | null;
  /** What there is to read of a command. */
  data(session: Located): SessionData;
  /** Removes what a finished command left. */
  remove(id: string): void;
  /** Removes all it left but the record of its end. */
  makeRoom(id: string): void;
  /** Removes what no row tells of. */
  removeStrays(isKnown: (id: string) => boolean, now: number): void;
  close(): Promise<void>;
}

/** Room for one command, taken before anything is recorded about it. */
export interface Slot {
  readonly keeperPid: number;
  /** `moved` is told when another keeper takes the command up, before that one does. */
  launch(spec: LaunchSpec, moved: (keeperPid: number) => void): Execution;
  /** Gives it back unused; nothing happens once it has launched. */
  cancel(): void;
}
