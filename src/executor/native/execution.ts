import { readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { TerminalSize } from "../../core/terminal.ts";
import type {
  Execution,
  ExecutionOutcome,
  ExitRecord,
  InputState,
  InputWait,
  KillRequest,
  OutputDelta,
  TerminalProcess,
} from "../execution.ts";
import { unstartedRecord } from "../execution.ts";
import type { Connection, InputReply, KeeperEvent, Reply } from "./connection.ts";
import {
  encodeCloseStdin,
  encodeDeadline,
  encodeDetach,
  encodeInputState,
  encodeInputWait,
  encodeKill,
  encodeResize,
  encodeWatch,
  encodeWrite,
  WRITE_MAX,
} from "./frames.ts";

/** Decodes a reply. It contains only the pids of processes, so their details are read from /proc. */
function inputStateOf(reply: InputReply): InputState {
  const {
    reading,
    echo,
    canonical,
    foreground,
    bytes,
    typed,
    overlong,
    before,
    on,
    applicationCursor,
    bracketedPaste,
  } = reply;
  const processes = on.map(processOf);
  return {
    reading,
    echo,
    canonical,
    foreground: foreground > 0 ? (processes.find(({ pid }) => pid === foreground) ?? processOf(foreground)) : null,
    bytes,
    processes,
    typed: Buffer.from(typed, "hex"),
    typedOverlong: overlong,
    typedBefore: before,
    modes: { applicationCursor, bracketedPaste },
  };
}

function processOf(pid: number): TerminalProcess {
  return {
    pid,
    program: readOrNull(() => readlinkSync(`/proc/${pid}/exe`)),
    argv: readOrNull(() => readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1)) ?? [],
    cwd: readOrNull(() => readlinkSync(`/proc/${pid}/cwd`)),
  };
}

/** Returns the result of `look`, or null if the process has ended or belongs to another user. */
function readOrNull<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}

const LOOK_AGAIN_MS = 20;

/** Functions of the executor that an execution calls when its connection is lost or its command has ended. */
interface ExecutionHooks {
  /** Connects to the keeper of this command. Resolves with null if there is none. */
  reconnect(id: string): Promise<Connection | null>;
  readExit(id: string): ExitRecord | null;
  /** Makes sure that an unclaimed command never runs. Returns false if a keeper has claimed it. */
  abandon(id: string): boolean;
  /** Cleans up after a keeper that was killed. */
  cleanUp(id: string): void;
  /** Takes back a connection that can launch another command. */
  recycle(connection: Connection): void;
}

/** A command under a keeper, followed through one connection at a time. */
export class NativeExecution implements Execution {
  readonly id: string;
  readonly started: Promise<number | null>;
  readonly exited: Promise<ExecutionOutcome>;
  readonly ended: Promise<ExecutionOutcome>;
  readonly host = null;
  wroteHidden = false;
  wroteAt: number | undefined = undefined;
  readonly #hooks: ExecutionHooks;
  #connection: Connection;
  #own: boolean;
  #watching = false;
  #released = false;
  #recovered: Promise<void> = Promise.resolve();
  #holders = 0;
  #listeners = new Set<(fresh?: OutputDelta) => void>();
  #resolveStarted!: (pid: number | null) => void;
  #resolveExited!: (ending: ExecutionOutcome) => void;
  #resolveEnded!: (ending: ExecutionOutcome) => void;
  #record: ExitRecord | null = null;
  #unsupported: readonly string[] = [];

  /**
   * Follows a command through `connection`. `own` is true if this connection launched the command, so that it can
   * launch another one when the command has ended.
   */
  constructor(hooks: ExecutionHooks, id: string, connection: Connection, own: boolean) {
    this.#hooks = hooks;
    this.id = id;
    this.#connection = connection;
    this.#own = own;
    this.started = new Promise((resolve) => {
      this.#resolveStarted = resolve;
    });
    this.exited = new Promise((resolve) => {
      this.#resolveExited = resolve;
    });
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#listen(connection);
  }

  onGrew(listener: (fresh?: OutputDelta) => void): () => void {
    this.#listeners.add(listener);
    if (!this.#watching && !this.#released) {
      this.#watching = true;
      void this.#watch(this.#connection);
    }
    return () => this.#listeners.delete(listener);
  }

  async write(data: Uint8Array): Promise<number | null> {
    const reply = await this.#ask(encodeWrite(data.subarray(0, WRITE_MAX)));
    this.wroteHidden = reply?.hidden ?? false;
    this.wroteAt = reply?.before;
    return reply?.ok ? (reply.taken ?? 0) : null;
  }

  async closeStdin(): Promise<void> {
    await this.#ask(encodeCloseStdin());
  }

  async resize(size: TerminalSize): Promise<boolean> {
    const reply = await this.#ask(encodeResize(size));
    return reply?.ok ?? false;
  }

  async inputState(): Promise<InputState | null> {
    const reply = await this.#ask(encodeInputState());
    return reply?.ok ? inputStateOf(reply as InputReply) : null;
  }

  async inputWait(): Promise<InputWait | null> {
    return (await this.#ask(encodeInputWait()))?.input ?? null;
  }

  async kill(request: KillRequest): Promise<boolean> {
    const reply = await this.#ask(encodeKill(request));
    return reply?.ok ?? false;
  }

  async setDeadline(timeoutMs: number): Promise<boolean> {
    const reply = await this.#ask(encodeDeadline(timeoutMs));
    return reply?.ok ?? false;
  }

  async toBackground(): Promise<void> {
    await this.#ask(encodeDetach());
  }

  get unsupported(): readonly string[] {
    return this.#unsupported;
  }

  get keeperPid(): number {
    return this.#connection.keeperPid;
  }

  hold(): () => void {
    let held = true;
    this.#holders++;
    if (this.#holders === 1 && !this.#released) this.#connection.hold(true);
    return () => {
      if (!held) return;
      held = false;
      this.#holders--;
      if (this.#holders === 0 && !this.#released) this.#connection.hold(false);
    };
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#connection.close();
    this.#resolveStarted(null);
    this.#resolveExited("detached");
    this.#resolveEnded("detached");
  }

  /** Handles an exit that was reported before this connection existed. */
  catchUp(): void {
    try {
      const record = this.#hooks.readExit(this.id);
      if (record) this.#finish(record);
    } catch {
      void this.#catchUpLater();
    }
  }

  /**
   * Sends a frame and waits for the reply. Resolves with null if the command has ended, since another command may then
   * use the connection.
   */
  async #ask(frame: Uint8Array): Promise<Reply | null> {
    const release = this.hold();
    try {
      if (this.#connection.closed) await this.#recovered;
      return this.#released ? null : await this.#connection.ask(frame);
    } finally {
      release();
    }
  }

  #listen(connection: Connection): void {
    this.#connection = connection;
    connection.onEvent = (event) => this.#take(event);
    connection.onClose = () => {
      this.#recovered = this.#recover();
    };
    connection.hold(this.#holders > 0);
    if (this.#watching) void this.#watch(connection);
  }

  /**
   * Subscribes to output. The output may have grown after a listener read the log and before the keeper got the
   * request, so the listeners are called on the reply as well.
   */
  async #watch(connection: Connection): Promise<void> {
    const reply = await connection.ask(encodeWatch());
    if (!reply || this.#released) return;
    for (const listener of this.#listeners) listener();
  }

  #take(event: KeeperEvent): void {
    if (event.ev === "started") this.#begin(event.pid, event.gaps);
    else if (event.ev === "grew") this.#grew(event);
    else if (event.ev === "exited" || event.ev === "ended") this.#finish(event);
    else if (event.ev === "refused") this.#finish(unstartedRecord(`request: ${event.why}`));
  }

  #grew({ bytes, fresh, ms = 0 }: Extract<KeeperEvent, { ev: "grew" }>): void {
    const output = fresh === undefined ? undefined : Buffer.from(fresh, "hex");
    const delta = output && { offset: (bytes[0] ?? 0) - output.length, bytes: output, timeMs: ms };
    for (const listener of this.#listeners) listener(delta);
  }

  #begin(pid: number | null, unsupported: readonly string[]): void {
    this.#unsupported = unsupported;
    this.#resolveStarted(pid);
  }

  #finish(record: ExitRecord): void {
    this.#record = record;
    this.#begin(record.reason === "failed" ? null : record.pid, record.gaps ?? []);
    this.#resolveExited(record);
    for (const listener of this.#listeners) listener();
    if (!record.final) return;
    this.#resolveEnded(record);
    this.#disconnect();
  }

  #disconnect(): void {
    this.#released = true;
    const connection = this.#connection;
    connection.onEvent = () => {};
    connection.onClose = () => {};
    if (this.#own && !connection.closed && !this.#watching) this.#hooks.recycle(connection);
    else connection.close();
  }

  async #catchUpLater(): Promise<void> {
    const record = await this.#readExitWhenPossible();
    if (record && !this.#released) this.#finish(record);
  }

  /** Reads the exit record. Retries while descriptors are exhausted, so that the command is not declared lost. */
  async #readExitWhenPossible(): Promise<ExitRecord | null> {
    while (!this.#released) {
      try {
        return this.#hooks.readExit(this.id);
      } catch {
        await sleep(LOOK_AGAIN_MS);
      }
    }
    return null;
  }

  /** Handles a closed connection: the keeper was killed, or it disconnected this gateway because of unread events. */
  async #recover(): Promise<void> {
    const before = await this.#readExitWhenPossible();
    if (this.#released) return;
    if (before?.final) return this.#finish(before);
    this.#own = false;
    const again = await this.#hooks.reconnect(this.id);
    if (again && !this.#released) {
      this.#listen(again);
      return this.catchUp();
    }
    again?.close();
    const after = await this.#readExitWhenPossible();
    if (this.#released) return;
    if (after?.final) return this.#finish(after);
    // The keeper was killed. A record that it wrote earlier may still have the outcome of the main process.
    this.#released = true;
    this.#hooks.cleanUp(this.id);
    const ending = after ?? this.#record ?? (this.#hooks.abandon(this.id) ? unstartedRecord("keeper") : "lost");
    this.#resolveStarted(null);
    this.#resolveExited(ending);
    this.#resolveEnded(ending);
  }
}
