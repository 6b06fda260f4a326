import type { DatabaseSync } from "node:sqlite";
import { SallyportError } from "../core/error.ts";
import type { SessionInfo } from "../core/session.ts";
import type { Execution, ExecutionOutcome, ExitOutcome } from "../executor/execution.ts";
import type { Executor } from "../executor/executor.ts";
import { inTransaction, isDiskFull } from "../storage/database.ts";
import type { FinishedRow, SessionEnd, SessionFields, SessionRow, SessionStore } from "../storage/sessions.ts";
import { gatewayClosed, nameInUse } from "./errors.ts";
import { sessionInfo } from "./info.ts";
import { nameFor, numberedNameFor } from "./names.ts";
import { endedFields } from "./outcome.ts";
import type { Refusal } from "./refusal.ts";
import { hasReceivedInput } from "./terminal/input.ts";

const NAME_ATTEMPTS = 4;
/** Ends are batched for at most this long: several short commands share a write, and no person notices the delay. */
const WRITE_WITHIN_MS = 25;
/** The maximum number of ended executions that are kept for callers that still wait for output. */
const MOST_ENDED = 100;
const RUNNING = { status: "running", lingering: false } as const;

/**
 * Prepares further writes that belong to a session's end. `first` is true for the end of the main process. The listener
 * is called before the transaction. The function that it returns is called inside the transaction, and only in the
 * gateway that recorded the end.
 */
export type EndListener = (
  session: SessionFields & { record?: string | null },
  ended: SessionEnd,
  first: boolean,
) => () => void;

/**
 * A session whose end could not be written to the table because the disk is full. Its exit record is the only trace of
 * the end until `mark` has written the row.
 */
export interface UnrecordedEnd extends FinishedRow {
  mark: () => boolean;
}

/** Ignores a lack of file descriptors: the next caller that needs the session attaches to it again. */
function ignoreShortage(error: unknown): void {
  if (!(error instanceof SallyportError && error.type === "ResourceLimitExceeded")) throw error;
}

/** The sessions of a state folder: the table, and the executions that this gateway is attached to. */
export class Registry {
  readonly #store: SessionStore;
  readonly executor: Executor;
  readonly #database: DatabaseSync;
  readonly #onEnd: EndListener;
  #executions = new Map<string, Execution>();
  /** The latest ended executions that received input: a caller may still wait for the output that followed it. */
  #endedExecutions = new Map<string, Execution>();
  /** Rows of the sessions that this gateway launched and that have not ended. */
  #launched = new Map<string, SessionFields>();
  #closed = false;
  #sessionsLost = false;
  #queuedEnds: { session: SessionFields; ending: ExitOutcome; host: string | null }[] = [];
  #writeTimer: NodeJS.Timeout | null = null;
  #attaching = new Map<string, Promise<Execution | null>>();

  readonly #expireApprovals: () => void;

  constructor(
    database: DatabaseSync,
    store: SessionStore,
    executor: Executor,
    onEnd: EndListener,
    /** Ends the sessions whose approval request has expired. */
    expireApprovals: () => void = () => {},
  ) {
    this.#database = database;
    this.#store = store;
    this.executor = executor;
    this.#onEnd = onEnd;
    this.#expireApprovals = expireApprovals;
  }

  /**
   * Writes the row that precedes every launch, or that records a refusal. Returns the session's name, or null when the
   * wanted name is in use.
   */
  record(session: SessionFields, wanted: string | undefined, refusal?: Refusal): string | null {
    const name = this.#insert(session, wanted);
    if (name !== null && refusal) this.#store.refuse(session.id, refusal.status, JSON.stringify(refusal.error));
    return name;
  }

  /**
   * Turns a session that has waited for an approval into one that runs. Returns its name, or null when it was removed.
   */
  resume(session: SessionFields, wanted: string | undefined): string | null {
    const row = this.#store.get(session.id);
    if (row?.status !== "pending") return null;
    const name = wanted ?? row.name;
    if (name !== row.name && this.#store.named(name)) throw nameInUse(name);
    this.#store.resume({ ...session, name });
    return name;
  }

  #insert(session: SessionFields, wanted: string | undefined): string | null {
    if (wanted !== undefined) return this.#store.insert({ ...session, name: wanted }) ? wanted : null;
    for (let attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
      const random = Math.floor(Math.random() * 2 ** 32);
      const name = attempt < 2 ? nameFor(random) : numberedNameFor(random);
      if (this.#store.insert({ ...session, name })) return name;
    }
    return this.#store.insert({ ...session, name: session.id }) ? session.id : null;
  }

  /** Follows an execution to its end and records the end. Passing `session` saves a lookup. */
  track(execution: Execution, session?: SessionFields): void {
    const { id } = execution;
    this.#executions.set(id, execution);
    if (session) this.#launched.set(id, session);
    // The pid of a foreground command is in its exit record.
    if (session?.background) {
      void execution.started.then((pid) => {
        if (pid !== null) this.#bestEffort(() => this.#store.setPid(id, pid));
        this.#noteHost(execution);
      });
    }
    void execution.exited.then((ending) => {
      this.#launched.delete(id);
      if (session && ending !== "detached") this.#queueEnd(session, ending, execution.host);
      else this.#noteHost(execution);
      if (ending === "detached") return;
      if (!session) this.#bestEffort(() => this.settle(id, ending, Date.now()));
      const final = ending === "lost" || ending.final;
      if (final) this.#release(execution);
      else void execution.ended.then((last) => this.#finish(execution, last));
    });
  }

  #noteHost({ id, host }: Execution): void {
    if (host !== null) this.#bestEffort(() => this.#store.setHost(id, host));
  }

  /** Turns a foreground command into a background one. Returns false when the session has ended. */
  toBackground(execution: Execution): boolean {
    if (!this.store.toBackground(execution.id)) return false;
    const session = this.#launched.get(execution.id);
    if (session) session.background = 1;
    void execution.started.then((pid) => {
      if (pid !== null) this.#bestEffort(() => this.#store.setPid(execution.id, pid));
    });
    return true;
  }

  /**
   * Queues the end of a session. Ends are written in batches, shortly after they happen, so that no caller waits for
   * the database. The exit record on disk is authoritative until then. Reads through this registry flush the batch
   * first; other gateways find the exit record, as they would if this gateway had been killed.
   */
  #queueEnd(session: SessionFields, ending: ExitOutcome, host: string | null): void {
    if (ending === "lost") this.#sessionsLost = true;
    this.#queuedEnds.push({ session, ending, host });
    this.#writeTimer ??= setTimeout(() => this.flush(), WRITE_WITHIN_MS);
  }

  /** Writes the queued ends. Joins the current transaction if there is one. */
  flush(): void {
    if (this.#queuedEnds.length === 0) return;
    if (this.#writeTimer) clearTimeout(this.#writeTimer);
    this.#writeTimer = null;
    const ends = this.#queuedEnds.splice(0).map(({ session, ending, host }) => {
      const ended = endedFields(session, ending, this.executor.data(session), Date.now());
      return { session, ending, host, ended, alongside: this.#onEnd(session, ended, true) };
    });
    const writeAll = () => {
      for (const { session, ending, host, ended, alongside } of ends) {
        if (host !== null) this.#store.setHost(session.id, host);
        if (this.#store.end(session.id, ended, RUNNING)) alongside();
        else this.settle(session.id, ending, Date.now());
      }
    };
    if (this.#database.isTransaction) writeAll();
    else this.#bestEffort(() => inTransaction(this.#database, writeAll));
  }

  /** The table, after all queued ends have been written. */
  get store(): SessionStore {
    if (this.#closed) throw gatewayClosed();
    this.flush();
    return this.#store;
  }

  /** Returns the agent of a session, or null when there is no such session. Does not need the queued ends. */
  ownerOf(id: string): string | null {
    return this.#store.get(id)?.agent ?? null;
  }

  /** Writes the queued ends. Lookups throw afterwards. */
  close(): void {
    this.flush();
    this.#closed = true;
  }

  #finish(execution: Execution, ending: ExecutionOutcome): void {
    this.#release(execution);
    if (ending === "detached") return;
    const last = ending === "lost" ? ending : { ...ending, final: true };
    this.#bestEffort(() => this.settle(execution.id, last, Date.now()));
  }

  #release(execution: Execution): void {
    this.#executions.delete(execution.id);
    if (!hasReceivedInput(execution)) return;
    this.#endedExecutions.set(execution.id, execution);
    const [oldest = ""] = this.#endedExecutions.keys();
    if (this.#endedExecutions.size > MOST_ENDED) this.#endedExecutions.delete(oldest);
  }

  /**
   * Gathers everything that an end writes. The returned function writes it, and returns true if this gateway was the
   * one that recorded the end.
   */
  #writing(row: SessionRow, ended: SessionEnd): () => boolean {
    const from = { status: row.status, lingering: row.lingering === 1 };
    const alongside = this.#onEnd(row, ended, from.status === "running");
    return () =>
      inTransaction(this.#database, () => {
        if (!this.#store.end(row.id, ended, from)) return false;
        alongside();
        return true;
      });
  }

  /**
   * Writes an end to its row, once. `lostMs` is when the session was lost, if that is known. Returns true if this call
   * wrote it.
   */
  settle(id: string, ending: ExitOutcome, lostMs: number | null = null): boolean {
    const row = this.store.get(id);
    const ended = row && this.#changeFor(row, ending, lostMs);
    if (ended && ending === "lost") this.#sessionsLost = true;
    return ended ? this.#writing(row, ended)() : false;
  }

  /** Returns the sessions among `rows` that have ended but cannot be marked as ended because the disk is full. */
  unrecordedEnds(rows: SessionRow[]): UnrecordedEnd[] {
    return rows.flatMap((row) => {
      const ending = this.#executions.has(row.id) ? null : this.#findEnding(row);
      const ended = ending && this.#changeFor(row, ending);
      if (!ended || ended.lingering) return [];
      if (ending === "lost") this.#sessionsLost = true;
      const mark = this.#writing(row, ended);
      try {
        mark();
        return [];
      } catch (error) {
        if (!isDiskFull(error)) throw error;
        const { status, endedMs: ended_ms, bytes } = ended;
        const textBytes = Buffer.byteLength(`${row.command}${row.args ?? ""}${row.env_names}`);
        return [{ id: row.id, agent: row.agent, status, ended_ms, bytes, textBytes, mark }];
      }
    });
  }

  #findEnding(row: SessionRow): ExitOutcome | null {
    return this.executor.lookUpExit(row, () => this.store.get(row.id)?.keeper_pid);
  }

  /**
   * Starts a zygote if sessions were lost. A keeper that is killed together with its zygote may leave processes, which
   * the next zygote ends.
   */
  async #cleanUpLost(): Promise<void> {
    if (!this.#sessionsLost) return;
    this.#sessionsLost = false;
    const slot = await this.executor.prepare().catch(() => null); // the next command tries again
    slot?.cancel();
  }

  /** Returns the current row, after recording an end that happened while no gateway was attached, or an expiry. */
  reconcile(row: SessionRow): SessionRow {
    if (row.status === "pending") {
      this.expireApprovals();
      return this.store.get(row.id) ?? row;
    }
    const live = row.status === "running" || row.lingering === 1;
    if (!live || this.#executions.has(row.id)) return row;
    const ending = this.#findEnding(row);
    if (ending === null) return row;
    try {
      const now = this.store.get(row.id) ?? row;
      if (now.status !== row.status || now.lingering !== row.lingering) return now; // another caller recorded the end
      this.#settleEnded();
      return this.store.get(row.id) ?? row;
    } catch {
      // The disk is full. The end is reported to the caller anyway, and written as soon as the database accepts it.
      const { endedMs, lingering, ...ended } =
        this.#changeFor(row, ending) ?? endedFields(row, ending, this.executor.data(row), null);
      return { ...row, ...ended, ended_ms: endedMs, lingering: lingering ? 1 : 0 };
    }
  }

  /**
   * Records every end that happened while no gateway was attached, in the order in which the commands ended, so that
   * their callbacks are queued in that order.
   */
  #settleEnded(): void {
    const ended = this.store.live().flatMap(({ id, ...row }) => {
      const ending = this.#executions.has(id) ? null : this.#findEnding({ id, ...row });
      return ending === null ? [] : [{ id, ending }];
    });
    // When a lost command ended is not known: its end is found now.
    const endedUs = (ending: ExitOutcome) => (ending === "lost" ? Number.POSITIVE_INFINITY : ending.endedUs);
    ended.sort((one, other) => (endedUs(one.ending) < endedUs(other.ending) ? -1 : 1));
    for (const { id, ending } of ended) this.settle(id, ending);
  }

  /**
   * Counts the running sessions of an agent. If the count reaches `limit`, sessions that this gateway is not attached
   * to are checked for an unrecorded end.
   */
  running(agent: string, limit: number): number {
    const count = this.#store.running(agent); // includes sessions with a queued end
    if (count < limit) return count;
    for (const row of this.store.live()) if (row.agent === agent) this.reconcile(row);
    return this.store.running(agent);
  }

  /** Ends the sessions whose approval request has expired. On a full disk, a later call does. */
  expireApprovals(): void {
    this.#bestEffort(this.#expireApprovals);
  }

  info(row: SessionRow): SessionInfo {
    return sessionInfo(this.reconcile(row), this.executor);
  }

  /** Returns the execution if this gateway is attached to it. */
  held(id: string): Execution | null {
    return this.#executions.get(id) ?? null;
  }

  /** Returns the execution of an ended session if this gateway had sent input to it. */
  endedExecution(id: string): Execution | null {
    return this.#endedExecutions.get(id) ?? null;
  }

  /** Returns the execution of a session, attaching to it if necessary; null when it has ended. */
  async execution(id: string): Promise<Execution | null> {
    const known = this.#executions.get(id) ?? this.#attaching.get(id);
    if (known) return known;
    const row = this.store.get(id);
    if (!row) return null;
    const attaching = this.executor.attach(row).then(
      (execution) => {
        this.#attaching.delete(id);
        if (execution) this.track(execution);
        return execution;
      },
      (error) => {
        this.#attaching.delete(id); // the next caller tries again
        throw error;
      },
    );
    this.#attaching.set(id, attaching);
    return attaching;
  }

  /** Attaches to every running session, and records the end of those that ended while no gateway was attached. */
  async recover(): Promise<void> {
    const pending = this.store.live().filter((row) => {
      const now = this.reconcile(row);
      return now.status === "running" || now.lingering === 1;
    });
    await Promise.all(pending.map((row) => this.execution(row.id).catch(ignoreShortage)));
    await this.#cleanUpLost();
  }

  /** Runs a write whose failure is harmless: the exit record on disk holds the end until the row can be written. */
  #bestEffort(write: () => void): void {
    try {
      write();
    } catch {
      // The disk is full or the database is closed; `reconcile` finds the exit record later.
    }
  }

  /** Returns the changes that an end makes to a row; null when the row already has them. */
  #changeFor(row: SessionRow, ending: ExitOutcome, lostMs: number | null = null): SessionEnd | null {
    if (row.status !== "running" && row.lingering !== 1) return null;
    const ended = endedFields(row, ending, this.executor.data(row), lostMs);
    return row.status !== "running" && ended.lingering ? null : ended;
  }
}
