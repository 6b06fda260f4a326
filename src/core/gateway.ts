import type { Approval, ApprovalDecision } from "./approval.ts";
import type { AllowEntry, Ask, Decision, Security, UserRule } from "./policy.ts";
import type { RunRequest } from "./request.ts";
import type { ResourceUsage, Status } from "./result.ts";
import type { LogChunk, LogQuery, SessionInfo, StreamName, WaitConditions, WaitOutcome } from "./session.ts";
import type { Repaint, Screen, TerminalSize } from "./terminal.ts";

/** Resolves with what the person said; with null when somebody else is to decide. `signal`: it is decided by now. */
export type ApprovalCallback = (
  approval: Approval,
  signal: AbortSignal,
) => Promise<(Omit<ApprovalDecision, "channel"> & { channel?: ApprovalDecision["channel"] }) | null>;

export type GatewayEvent =
  | { type: "started"; session: string; command: string }
  | { type: "refused"; session: string; command: string; status: "blocked" | "denied" | "pending" | "failed" }
  /** Something was done to a session whose permission is `notify`. */
  | { type: "operation"; session: string; operation: string }
  | { type: "approval-requested"; approval: Approval }
  | { type: "approval-failed"; approval: Approval; error: Error };

/** As if the command came like this; modes can only tighten what is configured. */
export interface CheckOptions {
  cwd?: string;
  security?: Security;
  ask?: Ask;
  /** What it would ask of the sandbox; more than is configured needs a person. */
  sandbox?: RunRequest["sandbox"];
  network?: RunRequest["network"];
  writable?: RunRequest["writable"];
}

export interface StartOptions {
  signal?: AbortSignal;
  /** How long to wait for a person's approval; then the answer is `pending`. Default: until it expires. */
  approvalTimeoutMs?: number;
  /** A folder of the workspace, made where it is missing, in which a plain merged log is written as `<id>.log`. */
  logFolder?: string;
}

export interface RunOptions extends StartOptions {
  /** A command that still runs after so long carries on in the background; the answer is `running`. */
  yieldMs?: number;
  /** Answer within this time, whoever takes longer: a person (`pending`) or the command (as with `yieldMs`). */
  answerWithinMs?: number;
  /** Called about once a second while the command runs. */
  onProgress?: (progress: { elapsedMs: number; lastLine: string }) => void;
}

/** The same gateway, as one caller of one of its tools sees it. */
export interface Scope {
  /** What each operation needs where nothing is configured; left out: nothing. */
  tiers?: Partial<Record<"run" | "write" | "kill" | "extend" | "remove" | "list" | "read", Tier>>;
  /** How long an operation on a session waits for a person, and what ends that. */
  approvalTimeoutMs?: number;
  signal?: AbortSignal;
}

/** Who calls, where one gateway serves many. Without a `person` it is the agent itself. */
export interface Acting {
  /** On whose behalf; whose settings hold. */
  agent?: string;
  /** Who acts in the agent's place, and answers for it in the audit. */
  person?: string;
  /** The surface they come through, for the audit. */
  channel: string;
  /** How long an operation on a session waits for a person's yes, and what ends that. */
  approvalTimeoutMs?: number;
  signal?: AbortSignal;
}

export type Tier = "autonomous" | "notify" | "ask" | "deny";

/** Which finished sessions are kept. Never applies to a running one. 0 means no limit. */
export interface Retention {
  maxAgeMs: number;
  maxCount: number;
  maxBytes: number;
}

/** One agent among all that have sessions. */
export interface AgentInfo {
  name: string;
  /** Sessions with living processes. */
  running: number;
  total: number;
  /** When its newest session was asked for. */
  lastSeenAt: string;
}

/** What one pair of modes makes of a command. */
export interface ModeVerdict {
  security: Security;
  ask: Ask;
  verdict: Decision;
}

/** What is configured about commands; the same words as in sallyport.json. */
export interface PolicyInForce {
  security: Security;
  ask: Ask;
  sandbox: string;
  rules: readonly UserRule[];
  /** `lastUsed`: ISO time; null: never. */
  allowlist: readonly (Omit<AllowEntry, "lastUsed"> & { lastUsed: string | null })[];
  /** Null: all that are built in. */
  safeBins: readonly string[] | null;
  /** Default denials that the operator has lifted. */
  allowDenied: readonly string[];
}

export interface ListQuery {
  status?: Status | Status[];
  /** Only what has living processes: running sessions, and ended ones whose leftovers live on. */
  live?: boolean;
  /** Most recent first. Default 50. */
  limit?: number;
  /** Default: every agent's. */
  agent?: string;
  /** Only older ones than the session with this id, to go on from an earlier answer. */
  before?: string;
  /** Occurs in the command, the name or what it is for; upper and lower case of ASCII letters are alike. */
  text?: string;
}

export interface SessionsQuery extends ListQuery {
  /** Other gateways' only. */
  others?: boolean;
}

/** One page of what `sessions` finds, the newest first. */
export interface SessionList {
  sessions: SessionInfo[];
  /** Go on with `before` this one; null: that is all. */
  next: string | null;
  /** All that match, on every page. */
  total: number;
  /** With a fleet, other gateways' sessions are among them. */
  fleet: boolean;
  /** What may be missing, in words: workers that gave no answer. */
  warnings: string[];
}

export interface LogSlice {
  chunks: LogChunk[];
  /** The chunks' bytes as text; never ends inside a character. */
  text: string;
  /** Where the next read of this stream should start. */
  nextOffset: number;
  /** Bytes of the stream(s) asked for, as written by the command. */
  totalBytes: number;
  /** Bytes missing from this slice: punched out for the disk cap, or lost to a full disk. */
  droppedBytes: number;
  /** Lines of the stream(s) asked for; known when lines were asked for by number. */
  totalLines?: number;
}

/** One process of a session's tree, live. */
export interface ProcessInfo {
  pid: number;
  ppid: number;
  state: string;
  command: string;
  cpuMs: number;
  memoryBytes: number;
}

export interface FollowQuery extends LogQuery {
  signal?: AbortSignal;
  /** How far each stream was read before: nothing of that is given again, and nothing after it left out. */
  after?: Partial<Record<StreamName, number>>;
}

export interface KillOptions {
  /** A name or a number; default SIGTERM. */
  signal?: string;
  /** Until SIGKILL follows; default 5000, 0 kills at once, null never escalates. */
  graceMs?: number | null;
  /** Why, in the caller's words; goes to the audit. */
  intent?: string;
}

export interface SessionHandle {
  readonly id: string;
  readonly name: string;
  info(): SessionInfo;
  /** Resolves when the main process has ended, or with the running info after `timeoutMs`. */
  wait(options?: { timeoutMs?: number; signal?: AbortSignal }): Promise<SessionInfo>;
  logs(query?: LogQuery): Promise<LogSlice>;
  /** Everything the query selects of what was written so far, a piece at a time, whatever its size. */
  read(query?: LogQuery): AsyncIterable<LogChunk>;
  /** Everything the query selects, then what is written from then on, until the session has ended. */
  follow(query?: FollowQuery): AsyncIterable<LogChunk>;
  write(data: string | Uint8Array): Promise<void>;
  closeStdin(): Promise<void>;
  /** Types keys by name: `Enter`, `C-c`, `Up`, `F5`, single characters, bytes as `0x1b`. */
  sendKeys(keys: string[]): Promise<void>;
  /** Pastes a text, marked as pasted where the program asked for that; `submit` presses Enter after it. */
  paste(text: string, options?: { submit?: boolean }): Promise<void>;
  /** Waits for whichever comes first: its exit, or one of the conditions. */
  waitFor(conditions?: WaitConditions): Promise<WaitOutcome>;
  /** Gives its terminal another size, which the program in front is told of. */
  resize(size: TerminalSize): Promise<void>;
  /** What a person at its terminal would see now, or saw last; also after it has ended. */
  screen(options?: { attributes?: boolean; scrollback?: boolean }): Promise<Screen>;
  /** What draws its terminal as it is now in another one, to be gone on with from there. */
  repaint(): Promise<Repaint>;
  /** The screen as an SVG image, in bytes. */
  picture(format: "svg"): Promise<Uint8Array>;
  /** What it wrote to its terminal so far, as the lines of an asciicast (version 2). */
  recording(): AsyncIterable<string>;
  /**
   * SIGTERM (or `signal`) to the whole tree, SIGKILL after `graceMs`. Resolves when it is over or the signal is sent.
   */
  kill(options?: KillOptions): Promise<SessionInfo>;
  /** Moves the deadline to `timeoutMs` from now; 0 lifts it. */
  extend(timeoutMs: number): Promise<void>;
  /** A foreground command carries on in the background. False: it has ended, or was there already. */
  toBackground(): Promise<boolean>;
  /** Live usage of the tree; the final one once it has ended. */
  usage(): { usage: ResourceUsage | null; processes: ProcessInfo[] };
  remove(options?: { force?: boolean }): Promise<void>;
}

export interface CleanReport {
  removed: string[];
  freedBytes: number;
}

/** Where in the story of a state folder somebody is who follows it. Outlives the gateway. */
export interface Position {
  /** The number of the last audit entry that is behind. */
  audit: number;
  /** The same of the changes that are in no audit entry. */
  change: number;
}

/** Something as it is by now; `position`: everything up to here is told when this is. */
export type Change = { agent: string; position: Position } & (
  | { type: "session"; session: SessionInfo }
  | { type: "removed"; id: string }
  | { type: "approval"; approval: Approval }
);

export interface ChangeList {
  changes: Change[];
  /** Where to go on. */
  position: Position;
  /** There is more to read at once. */
  more: boolean;
}
