import { setTimeout as sleep } from "node:timers/promises";
import type { NewAuditEntry } from "../core/audit.ts";
import { LONGEST_TIMER_MS, uptimeMs } from "../core/clock.ts";
import { SallyportError } from "../core/error.ts";
import type { FollowQuery, KillOptions, LogSlice, ProcessInfo, SessionHandle } from "../core/gateway.ts";
import type { ResourceUsage } from "../core/result.ts";
import type { LogChunk, LogQuery, SessionInfo, WaitConditions, WaitOutcome } from "../core/session.ts";
import type { Repaint, Screen, TerminalSize } from "../core/terminal.ts";
import type { Execution, InputState } from "../executor/execution.ts";
import type { Executor, SessionRef } from "../executor/executor.ts";
import type { SessionData } from "../executor/session-data.ts";
import { isDiskFull } from "../storage/database.ts";
import {
  alreadyExited,
  assertMilliseconds,
  keeperUnavailable,
  notOnTerminal,
  notRunning,
  sessionRemoved,
  stdinClosed,
  unknownPictureFormat,
} from "./errors.ts";
import { type PromptedWait, promptedWait } from "./input-wait.ts";
import type { OutputSource } from "./logs/reader.ts";
import { killRequest, signalName } from "./signals.ts";
import { assertSize } from "./terminal/history.ts";
import {
  type InputHooks,
  inOrder,
  isOnTerminal,
  outputOffsetAtInput,
  writeCode,
  writeToPipe,
  writeToTerminal,
} from "./terminal/input.ts";
import { encodeKeys, encodePaste } from "./terminal/keys.ts";
import type { InputText } from "./terminal/typed-input.ts";
import { assertConditions } from "./terminal/wait-for.ts";

/** The maximum number of input bytes recorded per audit entry. */
const MOST_NOTED = 4096;

/** The source of a session's records: this state folder, or the worker that runs the session for another gateway. */
export interface SessionRecords {
  readonly executor: Pick<Executor, "data">;
  /** Returns null when the session has been removed. */
  info(id: string): SessionInfo | null;
  /** Returns null when the session has been removed. */
  located(id: string): SessionRef | null;
  /** Returns null when the session has been removed. */
  usage(id: string): { usage: ResourceUsage | null; processes: ProcessInfo[] } | null;
  /** Updates records that are cached copies of a worker's. */
  refresh?(): Promise<void>;
  /** Returns the execution if this gateway is attached to it. */
  held(id: string): Execution | null;
  /** Returns the execution of an ended session if this gateway had sent input to it. */
  endedExecution(id: string): Execution | null;
  /** Returns the execution, attaching to it if necessary; null when it has ended. */
  execution(id: string): Promise<Execution | null>;
  /** Returns false when the session has ended. */
  toBackground(execution: Execution): boolean;
  /** Records a new deadline, in milliseconds from now; 0 for none. */
  setDeadline(id: string, timeoutMs: number): void;
  /** Throws if the session's records belong to another gateway, which alone may remove them. */
  assertOwn?(): void;
  /** Rejects with `StillRunning`, which refers to the session as `label`. */
  remove(id: string, label: string): Promise<void>;
}

const DEFAULT_GRACE_MS = 5000;
/** The number of bytes at the end of the output that are searched for a prompt. */
const PROMPT_BYTES = 4096;
/**
 * The interval between attempts to attach to a session. An attempt fails if the keeper has not claimed a new session
 * yet, or has reached its connection limit.
 */
const REACH_EVERY_MS = 50;
const REACH_ATTEMPTS = 100;

/** Functions of the gateway that a session calls. */
interface SessionHooks {
  /** How errors refer to the session: by its name or its ID. */
  readonly label: string;
  /** Records an operation on a session in the audit log. */
  audit(entry: Pick<NewAuditEntry, "kind" | "session" | "outcome" | "summary" | "detail"> & { agent?: string }): void;
  /** Throws or rejects unless the operation is allowed. Returns a promise only if approval is required. */
  authorize(
    operation: "write" | "kill" | "extend" | "remove" | "read",
    session: { id: string; name: string },
    detail?: { words?: readonly string[]; input?: Uint8Array },
  ): Promise<void> | undefined;
  /** Rejects unless policy allows the code in the input. */
  authorizeInput(session: { id: string; name: string }, input: SessionInput): Promise<void>;
  /** Reports whether the command of a session on pipes runs its input as code. */
  readsCode(session: { id: string; name: string }): boolean;
}

/** Input for a session: keys with the texts that programs on the terminal may read, or bytes for a pipe. */
export type SessionInput =
  | { bytes: Uint8Array; typed: readonly InputText[] }
  /** With `end`, no more input follows, so that an incomplete line runs, too. */
  | { bytes: Uint8Array; typed: null; end: boolean };

/** The output of a session whose reader has been authorized. */
export interface SessionOutput extends OutputSource {
  screen(): Promise<Screen>;
}

/** A handle to one session, which any gateway may have started. */
export class Session implements SessionHandle {
  readonly id: string;
  readonly name: string;
  readonly #records: SessionRecords;
  readonly #hooks: SessionHooks;

  constructor(records: SessionRecords, { id, name }: { id: string; name: string }, hooks: SessionHooks) {
    this.#records = records;
    this.#hooks = hooks;
    this.id = id;
    this.name = name;
  }

  info(): SessionInfo {
    return this.#records.info(this.id) ?? this.#gone();
  }

  async wait(options: { timeoutMs?: number; signal?: AbortSignal } = {}): Promise<SessionInfo> {
    const { timeoutMs = Number.POSITIVE_INFINITY, signal } = options;
    const end = uptimeMs() + timeoutMs;
    for (let info = this.info(); ; info = this.info()) {
      signal?.throwIfAborted();
      if (info.status !== "running" || uptimeMs() > end) return info;
      const execution = await this.#records.execution(this.id);
      if (!execution) {
        await sleep(Math.max(0, Math.min(REACH_EVERY_MS, end - uptimeMs())));
        continue;
      }
      await holdUntil(execution, execution.exited, options);
      return this.info();
    }
  }

  async logs(query: LogQuery = {}): Promise<LogSlice> {
    return (await this.reading()).logs(query);
  }

  /** Authorizes reading once, and returns a source for any number of reads of the log. */
  async reading(): Promise<SessionOutput> {
    await this.#hooks.authorize("read", this);
    return this.ownOutput();
  }

  /** Returns the output for the result of a command that the caller was allowed to run, without another permission. */
  ownOutput(): SessionOutput {
    return {
      info: () => this.info(),
      screen: () => this.#terminalData().screen(this, {}),
      logs: (query) => {
        const info = this.info();
        return this.#data(info).logs(query, isLive(info));
      },
    };
  }

  async *read(query: LogQuery = {}): AsyncGenerator<LogChunk, void, undefined> {
    await this.#hooks.authorize("read", this);
    const info = this.info();
    yield* this.#data(info).read(query, isLive(info));
  }

  async *follow(query: FollowQuery = {}): AsyncGenerator<LogChunk, void, undefined> {
    const { signal, ...rest } = query;
    await this.#hooks.authorize("read", this);
    const info = this.info();
    const execution = isLive(info) ? await this.#records.execution(this.id) : null;
    yield* this.#data(info).follow(rest, execution, signal);
  }

  async write(data: string | Uint8Array): Promise<void> {
    // Copied, so that the bytes written are the bytes that were authorized and audited.
    const bytes = Buffer.from(data as Uint8Array);
    // Always yields, so that a `waitFor` that the caller starts right after this call sees the output of this input.
    await this.#hooks.authorize("write", this, { input: bytes });
    await this.#write(this.#records.held(this.id) ?? (await this.#live()), bytes);
  }

  async sendKeys(keys: string[]): Promise<void> {
    const { execution, modes } = await this.#terminal();
    const bytes = encodeKeys(keys, modes);
    await this.#hooks.authorize("write", this, { input: bytes });
    await this.#write(execution, bytes);
  }

  async paste(text: string, { submit = false }: { submit?: boolean } = {}): Promise<void> {
    const { execution, modes } = await this.#terminal();
    // A line that is submitted is typed: in the command mode of an editor, a paste would go into the text. Line ends and
    // tabs are typed only into programs that do not distinguish a paste, because they would submit or complete the line.
    const asKeys = submit && !/[\r\n\t]/.test(text);
    const typed = encodePaste(text, modes.bracketedPaste && !asKeys);
    const bytes = Buffer.from(submit ? `${typed}\r` : typed);
    await this.#hooks.authorize("write", this, { input: bytes });
    await this.#write(execution, bytes, !asKeys);
  }

  async #terminal(): Promise<{ execution: Execution; modes: InputState["modes"] }> {
    const execution = await this.#live();
    const state = await execution.inputState();
    if (state) return { execution, modes: state.modes };
    throw this.info().pty === null ? notOnTerminal(this.#hooks.label) : alreadyExited(this.#hooks.label);
  }

  async #write(execution: Execution, bytes: Uint8Array, pasted = false): Promise<void> {
    const release = execution.hold();
    const inputHooks: InputHooks = {
      authorize: (input) => this.#authorizeInput(input),
      audit: (part, hidden) => this.#audit("stdin", "written", typedSummary(part, hidden), { bytes: part.length }),
      closed: () => stdinClosed(this.#hooks.label),
    };
    try {
      if (await this.#onTerminal(execution)) return await writeToTerminal(execution, bytes, inputHooks, pasted);
      if (this.#hooks.readsCode(this)) await inOrder(execution, () => writeCode(execution, bytes, inputHooks));
      else await writeToPipe(execution, bytes, inputHooks);
    } finally {
      release();
    }
  }

  /** This runs for every key, so sessions on this machine are checked synchronously. */
  #onTerminal(execution: Execution): boolean | Promise<boolean> {
    return execution.onTerminal ? execution.onTerminal() : isOnTerminal(execution, () => this.#ownData());
  }

  /** Authorizes the code in the input and audits a refusal. */
  async #authorizeInput(input: SessionInput): Promise<void> {
    try {
      await this.#hooks.authorizeInput(this, input);
    } catch (error) {
      const hidden = input.typed?.some((text) => text.hidden) === true;
      const text = hidden
        ? typedSummary(input.bytes, true)
        : (input.typed?.[0]?.text ?? typedSummary(input.bytes, false));
      this.#auditIfPossible("stdin", "refused", text, { why: (error as Error).message });
      throw error;
    }
  }

  async closeStdin(): Promise<void> {
    await this.#hooks.authorize("write", this, { words: ["--close"] });
    const execution = await this.#live();
    if (!(await this.#onTerminal(execution)) && this.#hooks.readsCode(this)) {
      await inOrder(execution, async () => {
        await this.#authorizeInput({ bytes: new Uint8Array(), typed: null, end: true });
        await execution.closeStdin();
      });
    } else await execution.closeStdin();
    this.#auditIfPossible("stdin", "closed", `end of input to ${this.name}`, {});
  }

  async waitFor(conditions: WaitConditions = {}): Promise<WaitOutcome> {
    assertConditions(conditions);
    // Output counts from the time of the call, not from the time of an approval.
    const data = this.#data(this.info());
    const now = data.size();
    await this.#hooks.authorize("read", this);
    const { status, pty } = this.info();
    if (conditions.input && status === "running" && pty === null) throw notOnTerminal(this.#hooks.label);
    const execution = status === "running" ? await this.#liveOrEnded() : null;
    // This gateway's last input may have produced output, or ended the session, before `waitFor` was called.
    const typedInto = execution ?? this.#records.endedExecution(this.id);
    const typedAt = typedInto ? outputOffsetAtInput(typedInto) : undefined;
    const { readTo } = conditions;
    const since = readTo === undefined ? (typedAt ?? now) : Math.max(readTo, typedAt ?? 0);
    // Another machine knows the size of its log and when the input arrived there.
    const offset = conditions.offset ?? (now === undefined && typedAt === undefined ? undefined : since);
    const found = await data.waitFor(execution, offset === undefined ? conditions : { ...conditions, offset });
    await this.#records.refresh?.();
    return { ...found, info: this.info() };
  }

  /** Returns the program of the session that waits for input, with its prompt; null when none does. */
  async inputWait(): Promise<PromptedWait | null> {
    await this.#hooks.authorize("read", this);
    const info = this.info();
    const execution = info.status === "running" ? await this.#records.execution(this.id) : null;
    const wait = await execution?.inputWait?.();
    return wait ? promptedWait(wait, await this.#data(info).tail(PROMPT_BYTES)) : null;
  }

  async resize(size: TerminalSize): Promise<void> {
    assertSize(size);
    await this.#hooks.authorize("write", this, { words: [`--size ${size.columns}x${size.rows}`] });
    const execution = await this.#live();
    if (await execution.resize(size)) return;
    throw this.info().pty === null ? notOnTerminal(this.#hooks.label) : alreadyExited(this.#hooks.label);
  }

  async screen(options: { attributes?: boolean; scrollback?: boolean } = {}): Promise<Screen> {
    await this.#hooks.authorize("read", this);
    return this.#terminalData().screen(this, options);
  }

  async repaint(): Promise<Repaint> {
    await this.#hooks.authorize("read", this);
    return this.#terminalData().repaint(this);
  }

  async picture(format: "svg"): Promise<Uint8Array> {
    if (format !== "svg") throw unknownPictureFormat(format);
    await this.#hooks.authorize("read", this);
    const screen = await this.#terminalData().screen(this, { attributes: true });
    const { screenSvg } = await import("./terminal/render/svg.ts");
    return Buffer.from(screenSvg(screen));
  }

  async *recording(): AsyncGenerator<string, void, undefined> {
    await this.#hooks.authorize("read", this);
    yield* this.#terminalData().recording(this.info());
  }

  async kill({ signal = "SIGTERM", graceMs = DEFAULT_GRACE_MS, intent }: KillOptions = {}): Promise<SessionInfo> {
    const order = killRequest(signal, graceMs);
    const name = signalName(order.signal);
    await this.#hooks.authorize("kill", this, name === "SIGTERM" ? {} : { words: [`-s ${name}`] });
    const execution = await this.#live();
    const release = execution.hold();
    try {
      if (!(await execution.kill(order))) throw alreadyExited(this.#hooks.label);
      // The signal is sent even if the audit entry cannot be written: a command that fills the disk must be killable.
      this.#auditIfPossible("signal", "sent", `${name} to ${this.name}`, {
        signal: order.signal,
        graceMs,
        ...(intent === undefined ? {} : { intent }),
      });
      const willEnd = order.ends && (order.graceMs !== null || order.signal === 9);
      if (willEnd) await execution.ended;
    } finally {
      release();
    }
    return this.info();
  }

  async extend(timeoutMs: number): Promise<void> {
    assertMilliseconds("timeoutMs", timeoutMs, "Use 0 to remove the deadline. Other values count from now.");
    await this.#hooks.authorize("extend", this, { words: [`${timeoutMs}ms`] });
    const execution = await this.#live();
    if (!(await execution.setDeadline(timeoutMs))) throw alreadyExited(this.#hooks.label);
    this.#records.setDeadline(this.id, timeoutMs);
    this.#audit("deadline", "moved", `${this.name}: ${timeoutMs} ms from now`, { timeoutMs });
  }

  async toBackground(): Promise<boolean> {
    const execution = await this.#records.execution(this.id);
    if (!execution || !this.#records.toBackground(execution)) return false;
    await execution.toBackground();
    await execution.started;
    return true;
  }

  usage(): { usage: ResourceUsage | null; processes: ProcessInfo[] } {
    return this.#records.usage(this.id) ?? this.#gone();
  }

  async remove({ force = false }: { force?: boolean } = {}): Promise<SessionInfo> {
    this.#records.assertOwn?.();
    await this.#hooks.authorize("remove", this);
    const { status, lingering } = this.info();
    if (force && (status === "running" || lingering)) await this.kill({ signal: "SIGKILL" });
    const last = this.info();
    const { agent, command } = last;
    await this.#records.remove(this.id, this.#hooks.label);
    const [kind, summary] = ["remove", `${this.name}: ${command}`];
    this.#ifPossible(() =>
      this.#hooks.audit({ kind, session: this.id, agent, outcome: "removed", summary, detail: {} }),
    );
    return last;
  }

  #ownData(): SessionData {
    return this.#data(this.#records.located(this.id) ?? this.#gone());
  }

  /** Returns the data of a session on a terminal. Its errors refer to the session as the caller did. */
  #terminalData(): SessionData {
    const info = this.info();
    if (info.pty === null) throw notOnTerminal(this.#hooks.label);
    return this.#data(info);
  }

  #data(session: SessionRef): SessionData {
    return this.#records.executor.data(session);
  }

  /** Records an operation on this session in the audit log. */
  #audit(kind: string, outcome: string, summary: string, detail: object): void {
    this.#hooks.audit({ kind, session: this.id, outcome, summary, detail });
  }

  #auditIfPossible(kind: string, outcome: string, summary: string, detail: object): void {
    this.#ifPossible(() => this.#audit(kind, outcome, summary, detail));
  }

  #ifPossible(write: () => void): void {
    try {
      write();
    } catch (error) {
      if (!isDiskFull(error)) throw error;
    }
  }

  #gone(): never {
    throw sessionRemoved(this.#hooks.label);
  }

  async #liveOrEnded(): Promise<Execution | null> {
    try {
      return await this.#live();
    } catch (error) {
      if (error instanceof SallyportError && error.type === "AlreadyExited") return null;
      throw error;
    }
  }

  async #live(): Promise<Execution> {
    const held = this.#records.held(this.id);
    if (held) return held; // Called for every key, so no lookup here.
    for (let attempt = 0; attempt < REACH_ATTEMPTS; attempt++) {
      const info = this.info();
      if (info.status !== "running" && !info.lingering) throw notRunning({ ...info, name: this.#hooks.label });
      const execution = await this.#records.execution(this.id);
      if (execution) return execution;
      await sleep(REACH_EVERY_MS);
    }
    throw keeperUnavailable(this.#hooks.label);
  }
}

/**
 * Returns the input as the audit log records it. Input that the terminal does not echo, such as a password, is omitted.
 */
function typedSummary(bytes: Uint8Array, hidden: boolean): string {
  if (hidden) return "(not echoed by the terminal, so not recorded)";
  return Buffer.from(bytes.subarray(0, MOST_NOTED)).toString();
}

function isLive({ status, lingering }: SessionInfo): boolean {
  return status === "running" || lingering;
}

/** Waits for an event of an execution, a timeout or an abort. Keeps this process alive while it waits. */
async function holdUntil(
  execution: Pick<Execution, "hold">,
  event: Promise<unknown>,
  { timeoutMs, signal }: { timeoutMs?: number; signal?: AbortSignal },
): Promise<void> {
  const release = execution.hold();
  let timer: NodeJS.Timeout | undefined;
  let enough = () => {};
  const called = new Promise<void>((resolve) => {
    enough = resolve;
  });
  if (timeoutMs !== undefined) timer = setTimeout(enough, Math.min(timeoutMs, LONGEST_TIMER_MS));
  signal?.addEventListener("abort", enough, { once: true });
  if (signal?.aborted) enough();
  try {
    await Promise.race([event, called]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", enough);
    release();
  }
  signal?.throwIfAborted();
}
