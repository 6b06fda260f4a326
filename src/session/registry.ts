import type { DatabaseSync } from "node:sqlite";
import { SallyportError } from "../core/error.ts";
import type { SessionInfo } from "../core/session.ts";
import type { Execution, ExecutionOutcome, ExitOutcome } from "../executor/execution.ts";
import type { Executor } from "../executor/executor.ts";
import { inTransaction, isDiskFull } from "../storage/database.ts";
import type { FinishedRow, SessionEnd, SessionFields, SessionRow, SessionStore } from "../storage/sessions.ts";
import { gatewayClosed } from "./errors.ts";
import { sessionInfo } from "./info.ts";
import { nameFor, numberedNameFor } from "./names.ts";
import { endedFields } from "./outcome.ts";
import type { Refusal } from "./refusal.ts";
import { hasReceivedInput } from "./terminal/input.ts";

const NAME_ATTEMPTS = 4;
/** Long enough for the ends of several short commands, too short for a person to miss one. */
const WRITE_WITHIN_MS = 25;
/** So many that were typed into are remembered when they have ended. */
const MOST_ENDED = 100;
const RUNNING = { status: "running", lingering: false } as const;

/**
 * What else is to be stored with an end; `first`: the main process's. Called before the transaction; what it returns is
 * called in it, by the one gateway whose word it was.
 */
export type EndListener = (session: SessionFields, ended: SessionEnd, first: boolean) => () => void;

/** One that has ended; `mark` writes so, once there is room. Until then its exit record is all that tells of its end. */
export interface UnrecordedEnd extends FinishedRow {
  mark: () => boolean;
}

/** Who asks for it next tries again; with too few descriptors there is enough to do without it. */
function ignoreShortage(error: unknown): void {
  if (!(error instanceof SallyportError && error.type === "ResourceLimitExceeded")) throw error;
}

/** The sessions of a state folder: the table, and the executions this gateway holds on to. */
export class Registry {
  readonly #store: SessionStore;
  readonly executor: Executor;
  readonly #database: DatabaseSync;
  readonly #onEnd: EndListener;
  #executions = new Map<string, Execution>();
  /** Those that ended last and were typed into: what they answered may be waited for only now. */
  #endedExecutions = new Map<string, Execution>();
  /** What is known of those this gateway launched, until they end. */
  #launched = new Map<string, SessionFields>();
  #closed = false;
  #sessionsLost = false;
  #queuedEnds: { session: SessionFields; ending: ExitOutcome; host: string | null }[] = [];
  #writeTimer: NodeJS.Timeout | null = null;
  #attaching = new Map<string, Promise<Execution | null>>();

  constructor(database: DatabaseSync, store: SessionStore, executor: Executor, onEnd: EndListener) {
    this.#database = database;
    this.#store = store;
    this.executor = executor;
    this.#onEnd = onEnd;
  }

  /**
   * Writes the row that precedes every launch, or that tells of one that was refused. Returns the name it got; null
   * when the wanted one is taken.
   */
  record(session: SessionFields, wanted: string | undefined, refusal?: Refusal): string | null {
    const name = this.#insert(session, wanted);
    if (name !== null && refusal) this.#store.refuse(session.id, refusal.status, JSON.stringify(refusal.error));
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

  /** Follows an execution to its end and writes down what becomes of it. `session` spares looking it up again. */
  track(execution: Execution, session?: SessionFields): void {
    const { id } = execution;
    this.#executions.set(id, execution);
    if (session) this.#launched.set(id, session);
    // A foreground command's pid is in its exit record; until then its keeper knows it.
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
      if (!session) this.#bestEffort(() => this.settle(id, ending));
      const final = ending === "lost" || ending.final;
      if (final) this.#release(execution);
      else void execution.ended.then((last) => this.#finish(execution, last));
    });
  }

  #noteHost({ id, host }: Execution): void {
    if (host !== null) this.#bestEffort(() => this.#store.setHost(id, host));
  }

  /** A foreground command is a background one from now on, also for those who hear of its end. False: too late. */
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
   * Ends are written a moment later, all of that moment at once: the exit record on disk is the truth, and nobody who
   * waits for a command, or gives the next one, is to wait for the database as well. Whoever looks here sees them
   * written; another gateway that looks meanwhile finds the record, as it would had this one died.
   */
  #queueEnd(session: SessionFields, ending: ExitOutcome, host: string | null): void {
    if (ending === "lost") this.#sessionsLost = true;
    this.#queuedEnds.push({ session, ending, host });
    this.#writeTimer ??= setTimeout(() => this.flush(), WRITE_WITHIN_MS);
  }

  /** Writes the ends that were put off; within a transaction, as part of it. */
  flush(): void {
    if (this.#queuedEnds.length === 0) return;
    if (this.#writeTimer) clearTimeout(this.#writeTimer);
    this.#writeTimer = null;
    const ends = this.#queuedEnds.splice(0).map(({ session, ending, host }) => {
      const ended = endedFields(session, ending, this.executor.data(session));
      return { session, ending, host, ended, alongside: this.#onEnd(session, ended, true) };
    });
    const writeAll = () => {
      for (const { session, ending, host, ended, alongside } of ends) {
        if (host !== null) this.#store.setHost(session.id, host);
        if (this.#store.end(session.id, ended, RUNNING)) alongside();
        else this.settle(session.id, ending);
      }
    };
    if (this.#database.isTransaction) writeAll();
    else this.#bestEffort(() => inTransaction(this.#database, writeAll));
  }

  /** The table, with every end that is known of. */
  get store(): SessionStore {
    if (this.#closed) throw gatewayClosed();
    this.flush();
    return this.#store;
  }

  /** Whose a session is; null: there is none. Of ends nothing is session, so none has to be written for that. */
  ownerOf(id: string): string | null {
    return this.#store.get(id)?.agent ?? null;
  }

  /** Writes what is left to write; nothing can be looked up here any more. */
  close(): void {
    this.flush();
    this.#closed = true;
  }

  #finish(execution: Execution, ending: ExecutionOutcome): void {
    this.#release(execution);
    if (ending === "detached") return;
    this.#bestEffort(() => this.settle(execution.id, ending === "lost" ? ending : { ...ending, final: true }));
  }

  #release(execution: Execution): void {
    this.#executions.delete(execution.id);
    if (!hasReceivedInput(execution)) return;
    this.#endedExecutions.set(execution.id, execution);
    const [oldest = ""] = this.#endedExecutions.keys();
    if (this.#endedExecutions.size > MOST_ENDED) this.#endedExecutions.delete(oldest);
  }

  /** Looks at all that is to be written of an end; what it returns writes it, and is true for the one whose word it was. */
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

  /** Writes an ending into its row, once. True when this call was the one that did. */
  settle(id: string, ending: ExitOutcome): boolean {
    const row = this.store.get(id);
    const ended = row && this.#changeFor(row, ending);
    if (ended && ending === "lost") this.#sessionsLost = true;
    return ended ? this.#writing(row, ended)() : false;
  }

  /** Of these, those that have ended, which a full disk keeps from being marked so in the table. */
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
        return [{ id: row.id, status, ended_ms, bytes, textBytes, mark }];
      }
    });
  }

  #findEnding(row: SessionRow): ExitOutcome | null {
    return this.executor.lookUpExit(row, () => this.store.get(row.id)?.keeper_pid);
  }

  /** A keeper that was killed together with its zygote may have left processes: the next zygote to start ends them. */
  async #cleanUpLost(): Promise<void> {
    if (!this.#sessionsLost) return;
    this.#sessionsLost = false;
    const slot = await this.executor.prepare().catch(() => null); // nobody to be had: the next command tries again
    slot?.cancel();
  }

  /** The row as it should be by now: its end may have come while nobody was looking. */
  reconcile(row: SessionRow): SessionRow {
    const live = row.status === "running" || row.lingering === 1;
    if (!live || this.#executions.has(row.id)) return row;
    const ending = this.#findEnding(row);
    if (ending === null) return row;
    try {
      this.settle(row.id, ending);
      return this.store.get(row.id) ?? row;
    } catch {
      // A full disk: said all the same, and written as soon as the database can take it.
      const { endedMs, lingering, ...ended } =
        this.#changeFor(row, ending) ?? endedFields(row, ending, this.executor.data(row));
      return { ...row, ...ended, ended_ms: endedMs, lingering: lingering ? 1 : 0 };
    }
  }

  /** How many sessions of an agent live. From `limit` on each is looked at that this gateway does not watch. */
  running(agent: string, limit: number): number {
    const count = this.#store.running(agent); // ends that were put off count as long as there is room
    if (count < limit) return count;
    for (const row of this.store.live()) if (row.agent === agent) this.reconcile(row);
    return this.store.running(agent);
  }

  info(row: SessionRow): SessionInfo {
    return sessionInfo(this.reconcile(row), this.executor);
  }

  /** The execution of a session that this gateway has at hand. */
  held(id: string): Execution | null {
    return this.#executions.get(id) ?? null;
  }

  /** The execution through which this gateway typed into a session that has ended since. */
  endedExecution(id: string): Execution | null {
    return this.#endedExecutions.get(id) ?? null;
  }

  /** The execution of a session, found again if need be; null when it has ended. */
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
        this.#attaching.delete(id); // whoever asks next tries again
        throw error;
      },
    );
    this.#attaching.set(id, attaching);
    return attaching;
  }

  /** Takes up every session that is still running, and settles those that ended unseen. */
  async recover(): Promise<void> {
    const pending = this.store.live().filter((row) => {
      const now = this.reconcile(row);
      return now.status === "running" || now.lingering === 1;
    });
    await Promise.all(pending.map((row) => this.execution(row.id).catch(ignoreShortage)));
    await this.#cleanUpLost();
  }

  /** The end of a session is on disk in any case: a database that cannot take it now is caught up with later. */
  #bestEffort(write: () => void): void {
    try {
      write();
    } catch {
      // Disk full or database closed; `reconcile` finds the exit record.
    }
  }

  /** What an ending changes about a row; null when it is nothing new. */
  #changeFor(row: SessionRow, ending: ExitOutcome): SessionEnd | null {
    if (row.status !== "running" && row.lingering !== 1) return null;
    const ended = endedFields(row, ending, this.executor.data(row));
    return row.status !== "running" && ended.lingering ? null : ended;
  }
}
