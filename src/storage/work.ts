import { randomUUID } from "node:crypto";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { SallyportError } from "../core/error.ts";

/** How often to check for changes by other processes. */
const POLL_MS = 100;

interface Wait {
  untilMs: number;
  signal?: AbortSignal;
  /** Whether waiting keeps the process alive; default: true. */
  hold?: boolean;
}

/** Notifies waiters in this process when the database has changed, in this or another process. */
class WorkNotifier {
  readonly #version: StatementSync;
  readonly #changes: StatementSync;
  readonly #waiters = new Set<() => void>();

  constructor(database: DatabaseSync) {
    // `data_version` counts commits of other connections, `total_changes` those of this one. Neither reads a table.
    this.#version = database.prepare("PRAGMA data_version");
    this.#changes = database.prepare("SELECT total_changes() AS n");
  }

  /** Returns a stamp that differs from an earlier one if anything was written since. */
  stamp(): string {
    return `${this.#version.get()?.data_version}/${this.#changes.get()?.n}`;
  }

  /** Wakes all waiters after a write in this process. */
  notify(): void {
    for (const waiter of [...this.#waiters]) waiter();
  }

  /** Resolves when something was written after `stamp`, at `untilMs`, or when the signal is aborted. */
  async changed(stamp: string, wait: Wait): Promise<void> {
    while (Date.now() < wait.untilMs && !wait.signal?.aborted && this.stamp() === stamp) {
      await this.#notifiedOr(Math.min(POLL_MS, wait.untilMs - Date.now()), wait);
    }
  }

  #notifiedOr(ms: number, { signal, hold = true }: Wait): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiters.delete(wake);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      if (!hold) timer.unref();
      this.#waiters.add(wake);
      signal?.addEventListener("abort", wake, { once: true });
    });
  }
}

const LIST = { action: "list_work", hint: "List all items and their states with `sallyport work list -a`." };

function workNotFound(id: number): SallyportError {
  return new SallyportError("WorkNotFound", `No such work item: ${id}.`, [LIST]);
}

function leaseLost(id: number, done: boolean): SallyportError {
  const why = done
    ? "another worker has completed the item"
    : "it has expired and the item was claimed again, or it was never issued";
  return new SallyportError("LeaseLost", `The lease on work item ${id} is not valid: ${why}.`, [
    { action: "drop_work", hint: "Stop working on this item; it belongs to another worker." },
    { action: "lease_longer", hint: "Claim items with a longer lease if the work takes longer." },
    LIST,
  ]);
}

const PRIORITIES = ["HIGH", "NORMAL", "LOW"] as const;
type Priority = (typeof PRIORITIES)[number];

export interface NewWorkItem {
  /** The same key is never put in twice, whoever tries and however often. */
  key: string;
  type: string;
  priority: Priority;
  /** Anything JSON can hold. */
  payload: object;
  /** Not before this time (ms since the epoch); default at once. */
  dueMs?: number;
}

type WorkState = "pending" | "claimed" | "done";

export interface WorkItem {
  id: number;
  key: string;
  type: string;
  priority: Priority;
  payload: Record<string, unknown>;
  state: WorkState;
  createdAt: string;
  /** Not claimed before; of a claimed one, when its lease ends. */
  dueAt: string;
  /** How often it was claimed. */
  attempts: number;
  /** Who has it, or had it last. */
  worker: string | null;
  /** Why it was given back last. */
  note: string | null;
  doneAt: string | null;
}

/** An item in somebody's hands. Only who knows the lease can say what became of it. */
export interface ClaimedItem extends WorkItem {
  lease: string;
}

/** A row of the work table. */
interface WorkRow {
  id: number;
  key: string;
  type: string;
  priority: number;
  payload: string;
  created_ms: number;
  due_ms: number;
  attempts: number;
  lease: string | null;
  worker: string | null;
  note: string | null;
  done_ms: number | null;
}

/** Converts a row to the public type, without its lease. */
function workItemOf(row: WorkRow, nowMs: number): WorkItem {
  return {
    id: row.id,
    key: row.key,
    type: row.type,
    priority: PRIORITIES[row.priority] ?? "LOW",
    payload: JSON.parse(row.payload) as Record<string, unknown>,
    state: stateOf(row, nowMs),
    createdAt: new Date(row.created_ms).toISOString(),
    dueAt: new Date(row.due_ms).toISOString(),
    attempts: row.attempts,
    worker: row.worker,
    note: row.note,
    doneAt: row.done_ms === null ? null : new Date(row.done_ms).toISOString(),
  };
}

/** Returns the state of an item. An item whose lease has expired is pending again. */
function stateOf({ done_ms, lease, due_ms }: WorkRow, nowMs: number): WorkState {
  if (done_ms !== null) return "done";
  return lease !== null && due_ms > nowMs ? "claimed" : "pending";
}

const LEASE_MS = 60_000;

interface ClaimOptions {
  /** The name of the worker, which lists show. */
  worker: string;
  /** How long the item is reserved; without ack or retry, other workers may claim it afterwards. Default: 1 minute. */
  leaseMs?: number;
  /** Only items of these types; default: all. */
  types?: readonly string[];
}

interface NextOptions extends ClaimOptions {
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Whether waiting keeps the process alive; default: true. */
  hold?: boolean;
}

/** A state; `open` is pending or claimed. */
type StateFilter = WorkState | "open" | "all";

const IN_STATE: Record<StateFilter, (now: number) => string> = {
  pending: (now) => `done_ms IS NULL AND (lease IS NULL OR due_ms <= ${now})`,
  claimed: (now) => `done_ms IS NULL AND lease IS NOT NULL AND due_ms > ${now}`,
  done: () => "done_ms IS NOT NULL",
  open: () => "done_ms IS NULL",
  all: () => "TRUE",
};

const OF_TYPES = "(:types IS NULL OR type IN (SELECT value FROM json_each(:types)))";

/** A persistent queue of items to be done once by one worker. Shared by all gateways of a state folder. */
export class WorkQueue {
  readonly #database: DatabaseSync;
  readonly #notifier: WorkNotifier;
  readonly #insert: StatementSync;
  readonly #earliest: StatementSync;
  readonly #claim: StatementSync;
  readonly #ack: StatementSync;
  readonly #retry: StatementSync;
  readonly #get: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#notifier = new WorkNotifier(database);
    this.#insert = database.prepare(
      `INSERT INTO work (key, type, priority, payload, created_ms, due_ms) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (key) DO NOTHING`,
    );
    this.#earliest = database.prepare(`SELECT min(due_ms) AS due FROM work WHERE done_ms IS NULL AND ${OF_TYPES}`);
    // A single statement, so that two workers never get the same item.
    this.#claim = database.prepare(
      `UPDATE work SET lease = :lease, worker = :worker, due_ms = :until, attempts = attempts + 1
       WHERE id = (SELECT id FROM work WHERE done_ms IS NULL AND due_ms <= :now AND ${OF_TYPES}
                   ORDER BY priority, id LIMIT 1)
       RETURNING *`,
    );
    this.#ack = database.prepare("UPDATE work SET done_ms = ? WHERE id = ? AND lease = ? AND done_ms IS NULL");
    this.#retry = database.prepare(
      "UPDATE work SET lease = NULL, due_ms = ?, note = ? WHERE id = ? AND lease = ? AND done_ms IS NULL",
    );
    this.#get = database.prepare("SELECT * FROM work WHERE id = ?");
  }

  /** Adds an item in the caller's transaction. Returns false when an item with this key exists, even a done one. */
  enqueue({ key, type, priority, payload, dueMs }: NewWorkItem): boolean {
    const now = Date.now();
    const rank = PRIORITIES.indexOf(priority);
    const { changes } = this.#insert.run(key, type, rank, JSON.stringify(payload), now, dueMs ?? now);
    if (changes === 1) this.#notifier.notify();
    return changes === 1;
  }

  /** Claims the due item with the highest priority, oldest first; null when no item is due. */
  claim(options: ClaimOptions): ClaimedItem | null {
    const now = Date.now();
    // Checked first, so that an empty queue needs no write lock.
    return this.#earliestDue(options) <= now ? this.#take(options, now) : null;
  }

  #earliestDue({ types }: ClaimOptions): number {
    const { due } = this.#earliest.get({ types: types ? JSON.stringify(types) : null }) as { due: number | null };
    return due ?? Number.POSITIVE_INFINITY;
  }

  #take({ worker, leaseMs = LEASE_MS, types }: ClaimOptions, now: number): ClaimedItem | null {
    const lease = randomUUID();
    const given = { lease, worker, until: now + leaseMs, now, types: types ? JSON.stringify(types) : null };
    const row = this.#claim.get(given) as unknown as WorkRow | undefined;
    return row ? { ...workItemOf(row, now), lease } : null;
  }

  /** Waits for an item and claims it. Resolves to null after `timeoutMs`; rejects when `signal` is aborted. */
  async next(options: NextOptions): Promise<ClaimedItem | null> {
    const end = options.timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + options.timeoutMs;
    for (;;) {
      options.signal?.throwIfAborted();
      const stamp = this.#notifier.stamp();
      const item = this.claim(options);
      if (item || Date.now() >= end) return item;
      await this.#notifier.changed(stamp, { ...options, untilMs: Math.min(end, this.#earliestDue(options)) });
    }
  }

  /** Marks an item as done; doing so twice has no effect. Throws LeaseLost without a valid lease. */
  ack(id: number, lease: string): void {
    if (this.#ack.run(Date.now(), id, lease).changes === 1) return;
    const row = this.#row(id);
    if (row.done_ms === null || row.lease !== lease) throw leaseLost(id, row.done_ms !== null);
  }

  /** Returns an item to the queue, to be claimed again after `delayMs`. `note` is the reason. */
  retry(id: number, lease: string, { delayMs = 0, note }: { delayMs?: number; note?: string } = {}): void {
    if (this.#retry.run(Date.now() + delayMs, note ?? null, id, lease).changes !== 1) {
      throw leaseLost(id, this.#row(id).done_ms !== null);
    }
    this.#notifier.notify();
  }

  #row(id: number): WorkRow {
    const row = this.#get.get(id) as unknown as WorkRow | undefined;
    if (!row) throw workNotFound(id);
    return row;
  }

  /** Lists items in the order in which they would be claimed, then done items, newest first. */
  list({ state = "all", limit = 50 }: { state?: StateFilter; limit?: number } = {}): WorkItem[] {
    const now = Date.now();
    const sql = `SELECT * FROM work WHERE ${IN_STATE[state](now)}
      ORDER BY done_ms IS NOT NULL, done_ms DESC, priority, id LIMIT ?`;
    const rows = this.#database.prepare(sql).all(limit) as unknown as WorkRow[];
    return rows.map((row) => workItemOf(row, now));
  }

  count(state: StateFilter = "all"): number {
    const sql = `SELECT count(*) AS n FROM work WHERE ${IN_STATE[state](Date.now())}`;
    return Number(this.#database.prepare(sql).get()?.n ?? 0);
  }

  /**
   * Deletes items that were done more than `olderThanMs` ago, and items of that age that were never claimed: without a
   * worker the queue must not grow forever (invariant 6). Returns the number of deleted items. Their keys can be
   * reused.
   */
  purge(olderThanMs: number): number {
    const before = Date.now() - olderThanMs;
    const sql = "DELETE FROM work WHERE done_ms < ? OR (done_ms IS NULL AND attempts = 0 AND created_ms < ?)";
    return Number(this.#database.prepare(sql).run(before, before).changes);
  }
}
