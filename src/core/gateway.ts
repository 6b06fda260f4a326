import type { Approval, ApprovalDecision } from "./approval.ts";
import type { AllowEntry, Ask, Decision, Security, UserRule } from "./policy.ts";
import type { RunRequest } from "./request.ts";
import type { ResourceUsage, Status } from "./result.ts";
import type { LogChunk, LogQuery, SessionInfo, StreamName, WaitConditions, WaitOutcome } from "./session.ts";
import type { Repaint, Screen, TerminalSize } from "./terminal.ts";

/**
 * Asks a person about a command that requires approval. Resolves with the decision, with null to leave the decision to
 * others (`sallyport approvals`, the console) while the call waits for it, or with `{ decision: "later" }` to end the
 * call at once with the status `pending`; `why` is added to its message. `signal` is aborted when the request is decided
 * elsewhere.
 *
 * @example
 * ```ts
 * import type { ApprovalCallback } from "sallyport";
 *
 * const approve: ApprovalCallback = async ({ request }) => ({
 *   decision: request.command.text.startsWith("git push") ? "deny" : "once",
 *   who: "ann",
 * });
 * const asking = await openGateway({ policy: { ask: "always" }, approve });
 * console.log((await asking.run({ command: "git push" })).status); // denied
 * await asking.close();
 * ```
 */
export type ApprovalCallback = (
  approval: Approval,
  signal: AbortSignal,
) => Promise<
  | (Omit<ApprovalDecision, "channel"> & { channel?: ApprovalDecision["channel"] })
  | { decision: "later"; why?: string }
  | null
>;

/**
 * An event that `onEvent` receives. `operation` reports an operation if its permission is `notify`; for `run` it follows
 * `started`. `approval-failed` reports an error that the `approve` callback threw.
 *
 * @example
 * ```ts
 * const watched = await openGateway({ onEvent: (event) => console.log(event.type) });
 * await watched.run({ command: "true" }); // prints "started"
 * await watched.close();
 * ```
 */
export type GatewayEvent =
  | { type: "started"; session: string; command: string }
  | { type: "refused"; session: string; command: string; status: "blocked" | "denied" | "pending" | "failed" }
  | { type: "operation"; session: string; operation: string }
  | { type: "approval-requested"; approval: Approval }
  | { type: "approval-failed"; approval: Approval; error: Error };

/**
 * Options for `gateway.check`: the fields of a request that affect the verdict.
 *
 * @example
 * ```ts
 * console.log(gateway.check("make", { security: "allowlist", ask: "off" }).verdict); // deny
 * ```
 */
export interface CheckOptions {
  /** The working directory. Default: the workspace. */
  cwd?: string;
  /** A stricter security mode than configured. A less strict one is ignored. */
  security?: Security;
  /** A stricter approval mode than configured. A less strict one is ignored. */
  ask?: Ask;
  /** The sandbox profile. A less strict one than configured requires approval. */
  sandbox?: RunRequest["sandbox"];
  /** The network access. More access than configured requires approval. */
  network?: RunRequest["network"];
  /** Additional writable paths. Paths that are not configured require approval. */
  writable?: RunRequest["writable"];
}

/**
 * Options for `gateway.start`.
 *
 * @example
 * ```ts
 * const session = await gateway.start({ command: "sleep 60" }, { approvalTimeoutMs: 10_000 });
 * console.log(session.info().status); // running
 * await session.kill();
 * ```
 */
export interface StartOptions {
  /**
   * Cancels the call. Before the command has started, the call rejects with the reason of the signal. With `run`, a
   * command that has started is ended with its process tree.
   */
  signal?: AbortSignal;
  /** How long to wait for an approval, in milliseconds. The status is then `pending`. Default: until it expires. */
  approvalTimeoutMs?: number;
  /** A folder in the workspace, created if missing, in which the output is also written as plain text to `<id>.log`. */
  logFolder?: string;
}

/**
 * Options for `gateway.run`.
 *
 * @example
 * ```ts
 * const result = await gateway.run({ command: "sleep 60" }, { yieldMs: 100 });
 * console.log(result.status); // running
 * await gateway.session(result.id).kill();
 * ```
 */
export interface RunOptions extends StartOptions {
  /** Milliseconds after which a running command continues in the background. The status is then `running`. */
  yieldMs?: number;
  /**
   * The longest time until the call resolves, in milliseconds: with `pending` when an approval takes longer, with
   * `running` when the command does.
   */
  answerWithinMs?: number;
  /** Called about once a second while the command runs, with the elapsed time and the last line of output. */
  onProgress?: (progress: { elapsedMs: number; lastLine: string }) => void;
}

/**
 * Options for `gateway.scoped`.
 *
 * @example
 * ```ts
 * const tool = gateway.scoped({ tiers: { kill: "deny" } });
 * const session = await tool.start({ command: "sleep 60" });
 * await session.kill().catch((error) => console.log(error.type)); // CommandDenied
 * await gateway.session(session.id).kill();
 * ```
 */
export interface Scope {
  /** The permission of each operation that is not configured. Default: `autonomous`. */
  tiers?: Partial<Record<"run" | "write" | "kill" | "extend" | "remove" | "list" | "read", Tier>>;
  /** How long operations on sessions wait for an approval, in milliseconds. Default: until it expires. */
  approvalTimeoutMs?: number;
  /** Cancels operations that wait for an approval. */
  signal?: AbortSignal;
}

/**
 * Options for `gateway.acting`: the caller on whose behalf the gateway acts.
 *
 * @example
 * ```ts
 * const builder = gateway.acting({ agent: "builder", channel: "chat" });
 * const { id } = await builder.run({ command: "true" });
 * console.log(builder.session(id).info().agent); // builder
 * ```
 */
export interface Acting {
  /** The agent whose settings apply and that owns new sessions. Default: the agent of the gateway. */
  agent?: string;
  /** The person who acts for the agent and is named in the audit log. Without it, the agent itself acts. */
  person?: string;
  /** The surface that the caller uses, for the audit log. */
  channel: string;
  /** How long operations on sessions wait for an approval, in milliseconds. Default: until it expires. */
  approvalTimeoutMs?: number;
  /** Cancels operations that wait for an approval. */
  signal?: AbortSignal;
}

/**
 * The permission of an operation: `autonomous` allows it, `notify` allows it and reports it to `onEvent`, `ask`
 * requires approval, `deny` disables it.
 *
 * @example
 * ```ts
 * import type { Tier } from "sallyport";
 *
 * const kill: Tier = "notify";
 * const watched = await openGateway({ policy: { permissions: { kill } }, onEvent: ({ type }) => console.log(type) });
 * const session = await watched.start({ command: "sleep 60" }); // prints "started"
 * await session.kill(); // prints "operation"
 * await watched.close();
 * ```
 */
export type Tier = "autonomous" | "notify" | "ask" | "deny";

/**
 * Limits on the finished sessions that are kept. The oldest are removed first; 0 means no limit. Running sessions are
 * never removed.
 *
 * @example
 * ```ts
 * const { removed } = await gateway.clean({ maxCount: 100 });
 * console.log(removed.length); // 0
 * ```
 */
export interface Retention {
  /** The age, in milliseconds since the end. Default: 14 days. */
  maxAgeMs: number;
  /** The number of sessions. Default: 10,000. */
  maxCount: number;
  /** The size of all logs, in bytes. Default: 10 GiB. */
  maxBytes: number;
}

/**
 * An agent that has sessions.
 *
 * @example
 * ```ts
 * await gateway.run({ command: "true" });
 * for (const { name, total } of gateway.agents()) console.log(name, total); // default 1
 * ```
 */
export interface AgentInfo {
  /** The name of the agent. */
  name: string;
  /** The number of sessions that have running processes. */
  running: number;
  /** The number of all sessions. */
  total: number;
  /** The time of the newest session (ISO 8601). */
  lastSeenAt: string;
}

/**
 * The verdict for a command under one combination of modes.
 *
 * @example
 * ```ts
 * for (const { security, ask, verdict } of gateway.modes("npm install")) console.log(security, ask, verdict);
 * ```
 */
export interface ModeVerdict {
  /** The security mode. */
  security: Security;
  /** The approval mode. */
  ask: Ask;
  /** The decision under these modes. */
  verdict: Decision;
}

/**
 * The effective policy of an agent. The keys are those of `sallyport.json`; see docs/configuration.md.
 *
 * @example
 * ```ts
 * const { security, ask, sandbox } = gateway.policy;
 * console.log(security, ask, sandbox); // full on-miss off
 * ```
 */
export interface PolicyInForce {
  /** The security mode. */
  security: Security;
  /** The approval mode. */
  ask: Ask;
  /** The sandbox profile. */
  sandbox: string;
  /** The configured rules. The built-in rules are not included. */
  rules: readonly UserRule[];
  /** The allowlist. `lastUsed` is the time of the last use (ISO 8601), or null when an entry was never used. */
  allowlist: readonly (Omit<AllowEntry, "lastUsed"> & { lastUsed: string | null })[];
  /** The text filters that need no allowlist entry. Null for all built-in ones. */
  safeBins: readonly string[] | null;
  /** The IDs of built-in denials that require approval instead. */
  allowDenied: readonly string[];
}

/**
 * A filter for sessions. A session must meet all conditions.
 *
 * @example
 * ```ts
 * await gateway.run({ command: "make test" });
 * console.log(gateway.list({ text: "make", limit: 10 }).length); // 1
 * ```
 */
export interface ListQuery {
  /** Only sessions in one of these states. */
  status?: Status | Status[];
  /** Only sessions with running processes, including ended ones whose descendants still run. */
  live?: boolean;
  /** The maximum number of sessions to return, newest first. Default: 50. */
  limit?: number;
  /** Only sessions of this agent. Default: all agents that the gateway can see. */
  agent?: string;
  /** Only sessions older than the one with this ID, to get the next page. */
  before?: string;
  /** Only sessions whose command, name or intent contains this text. ASCII letters match in either case. */
  text?: string;
}

/** A filter for `gateway.sessions`. */
export interface SessionsQuery extends ListQuery {
  /** Only sessions that other gateways of the fleet have started. */
  others?: boolean;
}

/** A page of sessions, newest first. */
export interface SessionList {
  /** The sessions. */
  sessions: SessionInfo[];
  /** The value of `before` for the next page. Null on the last page. */
  next: string | null;
  /** The number of matching sessions on all pages. */
  total: number;
  /** Whether the sessions of other gateways are included. */
  fleet: boolean;
  /** Why sessions may be missing, such as workers that did not respond. */
  warnings: string[];
}

/**
 * A part of a log.
 *
 * @example
 * ```ts
 * const { id } = await gateway.run({ command: "seq 1000" });
 * const { text, totalBytes } = await gateway.session(id).logs({ tail: 1 });
 * console.log(text.trim(), totalBytes); // 1000 3893
 * ```
 */
export interface LogSlice {
  /** The pieces, in the order in which they were written. */
  chunks: LogChunk[];
  /** The bytes of all chunks as text. Never ends inside a character. */
  text: string;
  /** The `offset` for the next read. */
  nextOffset: number;
  /** The number of bytes that the command has written to the selected streams. */
  totalBytes: number;
  /** The number of bytes that are missing from this part because of the disk cap or a full disk. */
  droppedBytes: number;
  /** The number of lines in the selected streams that are stored. Only set when lines were selected by number. */
  totalLines?: number;
  /** The number of bytes that are stored of each stream at most. Null when there is no limit. */
  diskCap: number | null;
}

/**
 * A running process of a session.
 *
 * @example
 * ```ts
 * const session = await gateway.start({ command: "sleep", args: ["60"] });
 * for (const { pid, command } of session.usage().processes) console.log(pid, command);
 * await session.kill();
 * ```
 */
export interface ProcessInfo {
  /** The process ID. */
  pid: number;
  /** The process ID of the parent. */
  ppid: number;
  /** The state as in `ps`, such as `R` or `S`. */
  state: string;
  /** The command line. */
  command: string;
  /** CPU time, in milliseconds. */
  cpuMs: number;
  /** Resident memory, in bytes. */
  memoryBytes: number;
}

/**
 * Where `follow` starts in the log, and when it ends.
 *
 * @example
 * ```ts
 * const session = await gateway.start({ command: "seq 3; sleep 60" });
 * for await (const { bytes } of session.follow({ signal: AbortSignal.timeout(200) })) process.stdout.write(bytes);
 * await session.kill();
 * ```
 */
export interface FollowQuery extends LogQuery {
  /** Ends the iteration, without an error. */
  signal?: AbortSignal;
  /** For each stream, the offset after the last byte already read. Continues there, without gaps or repetition. */
  after?: Partial<Record<StreamName, number>>;
}

/**
 * Options for `session.kill`.
 *
 * @example
 * ```ts
 * const session = await gateway.start({ command: "sleep 60" });
 * const { status, signal } = await session.kill({ signal: "SIGINT", graceMs: 1000, intent: "no longer needed" });
 * console.log(status, signal); // killed SIGINT
 * ```
 */
export interface KillOptions {
  /** The name or number of the signal. Default: `SIGTERM`. */
  signal?: string;
  /** Milliseconds until `SIGKILL` follows; 0 to kill immediately, null to never send it. Default: 5000. */
  graceMs?: number | null;
  /** The reason, for the audit log. */
  intent?: string;
}

/**
 * A handle to a session, which may have been started by another process or gateway. Operations are subject to the
 * agent's permissions, and those that affect the command are recorded in the audit log.
 *
 * Methods throw `SessionNotFound` when the session was removed. Methods that need a running command throw
 * `AlreadyExited` when it has ended. Methods for terminals throw `NotOnTerminal` when the session has none.
 *
 * @example
 * ```ts
 * const session = await gateway.start({ command: "read name; echo hello $name", stdin: "open", name: "greeter" });
 * await session.write("world\n");
 * const { exitCode } = await session.wait({ timeoutMs: 10_000 });
 * const { text } = await gateway.session("greeter").logs();
 * console.log(exitCode, text.trim()); // 0 hello world
 * ```
 */
export interface SessionHandle {
  /** The unique ID. */
  readonly id: string;
  /** The name, unique in the state folder. */
  readonly name: string;
  /** Returns the current record of the session. */
  info(): SessionInfo;
  /** Resolves when the main process has ended, or with the record of the running session after `timeoutMs`. */
  wait(options?: { timeoutMs?: number; signal?: AbortSignal }): Promise<SessionInfo>;
  /** Reads a part of the log, at most 16 MiB. */
  logs(query?: LogQuery): Promise<LogSlice>;
  /** Yields the log as it is now, in pieces. Suitable for logs of any size. */
  read(query?: LogQuery): AsyncIterable<LogChunk>;
  /** Yields the log, then new output until the session has ended. `limit` and `toLine` have no effect. */
  follow(query?: FollowQuery): AsyncIterable<LogChunk>;
  /**
   * Writes to stdin or to the terminal. Lines typed into a shell are checked against policy. Throws `StdinClosed` when
   * stdin is not open.
   */
  write(data: string | Uint8Array): Promise<void>;
  /** Closes stdin. */
  closeStdin(): Promise<void>;
  /** Sends keys to the terminal by name: `Enter`, `C-c`, `Up`, `F5`, single characters, or bytes such as `0x1b`. */
  sendKeys(keys: string[]): Promise<void>;
  /**
   * Pastes text into the terminal, bracketed if the program has enabled that. With `submit`, a single line is typed as
   * keys instead, and Enter is pressed afterwards.
   */
  paste(text: string, options?: { submit?: boolean }): Promise<void>;
  /** Waits until one of the conditions is met or the main process has ended. */
  waitFor(conditions?: WaitConditions): Promise<WaitOutcome>;
  /** Changes the size of the terminal. */
  resize(size: TerminalSize): Promise<void>;
  /** Returns the visible content of the terminal or, after the session has ended, its last visible content. */
  screen(options?: { attributes?: boolean; scrollback?: boolean }): Promise<Screen>;
  /** Returns output that brings another terminal to the state of this one. */
  repaint(): Promise<Repaint>;
  /** Returns the screen as an SVG image. */
  picture(format: "svg"): Promise<Uint8Array>;
  /** Yields the output of the terminal so far as lines of an asciicast file (version 2). */
  recording(): AsyncIterable<string>;
  /**
   * Sends a signal. Signals that end, stop or continue processes go to the whole process tree, others to the main
   * process. Resolves when the session has ended, or once the signal is sent if it does not end processes.
   */
  kill(options?: KillOptions): Promise<SessionInfo>;
  /** Sets the deadline to `timeoutMs` milliseconds from now; 0 removes it. */
  extend(timeoutMs: number): Promise<void>;
  /** Moves a foreground command to the background. Resolves to false when it has ended or is already there. */
  toBackground(): Promise<boolean>;
  /**
   * Returns the resource usage and the running processes. While the command runs, `memoryPeakBytes` is the memory in
   * use now. `usage` is null when it is not known.
   */
  usage(): { usage: ResourceUsage | null; processes: ProcessInfo[] };
  /**
   * Removes an ended session and its logs, and resolves with its last record. Throws `StillRunning`, unless `force`
   * kills a running session first.
   */
  remove(options?: { force?: boolean }): Promise<SessionInfo>;
}

/**
 * The result of `gateway.clean`.
 *
 * @example
 * ```ts
 * await gateway.run({ command: "true" });
 * await gateway.run({ command: "true" });
 * const { removed, freedBytes } = await gateway.clean({ maxCount: 1 });
 * console.log(removed.length, freedBytes >= 0); // 1 true
 * ```
 */
export interface CleanReport {
  /** The IDs of the removed sessions. */
  removed: string[];
  /** The size of the removed output, in bytes. */
  freedBytes: number;
}

/**
 * A position in the changes of a state folder. It stays valid when the gateway is closed, so it can be stored.
 *
 * @example
 * ```ts
 * const position = gateway.changes.head();
 * await gateway.run({ command: "true" });
 * console.log(gateway.changes.since(position)?.changes.length); // 1
 * ```
 */
export interface Position {
  /** The sequence number of the last audit entry that was read. */
  audit: number;
  /** The number of the last change that was read and is not in the audit log. */
  change: number;
}

/**
 * A changed session or approval in its current state, or the ID of a removed session. `position` is the position after
 * this change.
 *
 * @example
 * ```ts
 * const position = gateway.changes.head();
 * await gateway.run({ command: "true" });
 * for (const change of gateway.changes.since(position)?.changes ?? []) {
 *   if (change.type === "session") console.log(change.agent, change.session.status); // default completed
 * }
 * ```
 */
export type Change = { agent: string; position: Position } & (
  | { type: "session"; session: SessionInfo }
  | { type: "removed"; id: string }
  | { type: "approval"; approval: Approval }
);

/**
 * Changes, and the position after them.
 *
 * @example
 * ```ts
 * let position = gateway.changes.head();
 * await gateway.run({ command: "true" });
 * const list = gateway.changes.since(position);
 * if (list) position = list.position;
 * console.log(gateway.changes.since(position)?.changes.length); // 0
 * ```
 */
export interface ChangeList {
  /** The changes, oldest first. */
  changes: Change[];
  /** The position for the next read. */
  position: Position;
  /** True when there are more changes to read already. */
  more: boolean;
}
