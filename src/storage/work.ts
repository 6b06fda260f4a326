import { randomUUID } from "node:crypto";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { uptimeMs } from "../core/clock.ts";
import { SallyportError } from "../core/error.ts";
import { operatorStep } from "../core/next-step.ts";
import { Deadlines } from "./deadlines.ts";

/** How often to check for changes by other processes. */
const POLL_MS = 100;

interface Wait {
  /** In `uptimeMs`: a wait is not affected by changes of the clock. */
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
    while (uptimeMs() < wait.untilMs && !wait.signal?.aborted && this.stamp() === stamp) {
      await this.#notifiedOr(Math.min(POLL_MS, wait.untilMs - uptimeMs()), wait);
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
      // The time may have come since it was compared. Node warns about a negative delay on stderr.
      const timer = setTimeout(wake, Math.max(0, ms));
      if (!hold) timer.unref();
      this.#waiters.add(wake);
      signal?.addEventListener("abort", wake, { once: true });
    });
  }
}

const LIST = operatorStep("list_work", "List all items and their states with `sallyport work list -a`.");

function workNotFound(id: number): SallyportError {
  return new SallyportError("WorkNotFound", `No such work item: ${id}.`, [LIST]);
}

function leaseLost(id: number, done: boolean): SallyportError {
  const why = done
    ? "another consumer has completed the item"
    : "it has expired and the item was claimed again, or it was never issued";
  return new SallyportError("LeaseLost", `The lease on work item ${id} is not valid: ${why}.`, [
    { action: "drop_work", hint: "Stop working on this item; it belongs to another consumer." },
    { action: "lease_longer", hint: "If processing takes longer than the lease, claim items with a longer lease." },
    LIST,
  ]);
}

const PRIORITIES = ["HIGH", "NORMAL", "LOW"] as const;
/** The priority of a work item. Items with a higher priority are claimed first. */
type Priority = (typeof PRIORITIES)[number];

/**
 * A work item to add to the queue.
 *
 * @example
 * ```ts
 * import type { NewWorkItem } from "sallyport";
 *
 * const item: NewWorkItem = { key: "mail-42", type: "mail", priority: "NORMAL", payload: { to: "ann@example.com" } };
 * console.log(gateway.work.enqueue(item), gateway.work.enqueue(item)); // true false
 * ```
 */
export interface NewWorkItem {
  /** A key of the caller's choice. Only one item with the same key is added. */
  key: string;
  /** The type, by which consumers select items. */
  type: string;
  /** The priority. */
  priority: Priority;
  /** The data of the item. Any JSON object. */
  payload: object;
  /** The earliest time at which the item can be claimed, in milliseconds since the epoch. Default: now. */
  dueMs?: number;
}

/** The state of a work item. An item whose lease has expired is `pending` again. */
type WorkState = "pending" | "claimed" | "done";

/**
 * An item of the work queue.
 *
 * @example
 * ```ts
 * gateway.work.enqueue({ key: "mail-42", type: "mail", priority: "HIGH", payload: { to: "ann@example.com" } });
 * const [item] = gateway.work.list({ state: "pending" });
 * console.log(item?.key, item?.attempts); // mail-42 0
 * ```
 */
export interface WorkItem {
  /** The unique number. */
  id: number;
  /** The key that was chosen when the item was added. */
  key: string;
  /** The type, such as `EXEC_CALLBACK` for the end of a background session. */
  type: string;
  /** The priority. */
  priority: Priority;
  /** The data of the item. */
  payload: Record<string, unknown>;
  /** The current state. */
  state: WorkState;
  /** When the item was added (ISO 8601). */
  createdAt: string;
  /** When a pending item can be claimed, or when the lease of a claimed item expires (ISO 8601). */
  dueAt: string;
  /** How many times the item was claimed. */
  attempts: number;
  /** The name of the consumer that claimed the item last. Null when it was never claimed. */
  worker: string | null;
  /** The reason given when the item was last returned to the queue. Null when there is none. */
  note: string | null;
  /** When the item was done (ISO 8601). Null until then. */
  doneAt: string | null;
}

/**
 * A work item that a consumer has claimed. `ack` and `retry` require its lease.
 *
 * @example
 * ```ts
 * gateway.work.enqueue({ key: "mail-42", type: "mail", priority: "NORMAL", payload: { to: "ann@example.com" } });
 * const item = gateway.work.claim({ worker: "mailer", leaseMs: 30_000 });
 * if (item) {
 *   console.log(item.payload); // { to: 'ann@example.com' }
 *   gateway.work.ack(item.id, item.lease);
 * }
 * ```
 */
export interface ClaimedItem extends WorkItem {
  /** The secret that identifies this claim. */
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

/** Options for `claim`. */
interface ClaimOptions {
  /** The name of the consumer, shown in lists. */
  worker: string;
  /** How long the item is reserved, in milliseconds. After that, other consumers can claim it. Default: 60,000. */
  leaseMs?: number;
  /** Only items of these types. Default: all. */
  types?: readonly string[];
}

/** Options for `next`. */
interface NextOptions extends ClaimOptions {
  /** The longest time to wait, in milliseconds. Default: no limit. */
  timeoutMs?: number;
  /** Cancels the wait: the call rejects with the reason of the signal. */
  signal?: AbortSignal;
  /** Whether waiting keeps the process alive. Default: true. */
  hold?: boolean;
}

/** A state to list or count; `open` is pending or claimed. */
type StateFilter = WorkState | "open" | "all";

const IN_STATE: Record<StateFilter, (now: number) => string> = {
  pending: (now) => `done_ms IS NULL AND (lease IS NULL OR due_ms <= ${now})`,
  claimed: (now) => `done_ms IS NULL AND lease IS NOT NULL AND due_ms > ${now}`,
  done: () => "done_ms IS NOT NULL",
  open: () => "done_ms IS NULL",
  all: () => "TRUE",
};

const OF_TYPES = "(:types IS NULL OR type IN (SELECT value FROM json_each(:types)))";

/**
 * A persistent queue of work items. Each is claimed by one consumer at a time. All gateways of a state folder share it.
 * See docs/work-queue.md.
 */
export class WorkQueue {
  readonly #database: DatabaseSync;
  readonly #notifier: WorkNotifier;
  readonly #insert: StatementSync;
  readonly #earliest: StatementSync;
  readonly #claim: StatementSync;
  readonly #ack: StatementSync;
  readonly #retry: StatementSync;
  readonly #get: StatementSync;
  readonly #deadlines: Deadlines;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#deadlines = new Deadlines(database, "work");
    this.#notifier = new WorkNotifier(database);
    this.#insert = database.prepare(
      `INSERT INTO work (key, type, priority, payload, created_ms, due_ms, lasts_ms) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (key) DO NOTHING`,
    );
    this.#earliest = database.prepare(`SELECT min(due_ms) AS due FROM work WHERE done_ms IS NULL AND ${OF_TYPES}`);
    // A single statement, so that two consumers never get the same item.
    this.#claim = database.prepare(
      `UPDATE work SET lease = :lease, worker = :worker, due_ms = :now + :lasts, lasts_ms = :lasts, attempts = attempts + 1
       WHERE id = (SELECT id FROM work WHERE done_ms IS NULL AND due_ms <= :now AND ${OF_TYPES}
                   ORDER BY priority, id LIMIT 1)
       RETURNING *`,
    );
    this.#ack = database.prepare("UPDATE work SET done_ms = ? WHERE id = ? AND lease = ? AND done_ms IS NULL");
    this.#retry = database.prepare(
      "UPDATE work SET lease = NULL, due_ms = :now + :lasts, lasts_ms = :lasts, note = :note WHERE id = :id AND lease = :lease AND done_ms IS NULL",
    );
    this.#get = database.prepare("SELECT * FROM work WHERE id = ?");
  }

  /** Adds an item. Returns false when an item with the same key exists, even if it is done. */
  enqueue({ key, type, priority, payload, dueMs }: NewWorkItem): boolean {
    const now = Date.now();
    const due = dueMs ?? now;
    const rank = PRIORITIES.indexOf(priority);
    const { changes } = this.#insert.run(key, type, rank, JSON.stringify(payload), now, due, Math.max(0, due - now));
    if (changes === 1) this.#notifier.notify();
    return changes === 1;
  }

  /** Claims the due item with the highest priority, oldest first. Returns null when no item is due. */
  claim(options: ClaimOptions): ClaimedItem | null {
    const now = Date.now();
    this.#deadlines.limit(now);
    // Checked first, so that an empty queue needs no write lock.
    return this.#earliestDue(options) <= now ? this.#take(options, now) : null;
  }

  #earliestDue({ types }: ClaimOptions): number {
    const { due } = this.#earliest.get({ types: types ? JSON.stringify(types) : null }) as { due: number | null };
    return due ?? Number.POSITIVE_INFINITY;
  }

  #take({ worker, leaseMs = LEASE_MS, types }: ClaimOptions, now: number): ClaimedItem | null {
    const lease = randomUUID();
    const given = { lease, worker, lasts: leaseMs, now, types: types ? JSON.stringify(types) : null };
    const row = this.#claim.get(given) as unknown as WorkRow | undefined;
    return row ? { ...workItemOf(row, now), lease } : null;
  }

  /** Waits for an item and claims it. Resolves to null after `timeoutMs`; rejects when `signal` is aborted. */
  async next(options: NextOptions): Promise<ClaimedItem | null> {
    const end = options.timeoutMs === undefined ? Number.POSITIVE_INFINITY : uptimeMs() + options.timeoutMs;
    for (;;) {
      options.signal?.throwIfAborted();
      const stamp = this.#notifier.stamp();
      const item = this.claim(options);
      if (item || uptimeMs() >= end) return item;
      const dueMs = uptimeMs() + this.#earliestDue(options) - Date.now();
      await this.#notifier.changed(stamp, { ...options, untilMs: Math.min(end, dueMs) });
    }
  }

  /**
   * Marks an item as done. Doing so again has no effect. Throws `LeaseLost` without a valid lease, and `WorkNotFound`
   * when there is no such item.
   */
  ack(id: number, lease: string): void {
    if (this.#ack.run(Date.now(), id, lease).changes === 1) return;
    const row = this.#row(id);
    if (row.done_ms === null || row.lease !== lease) throw leaseLost(id, row.done_ms !== null);
  }

  /** Returns an item to the queue, to be claimed again after `delayMs`. `note` is the reason. Throws like `ack`. */
  retry(id: number, lease: string, { delayMs = 0, note }: { delayMs?: number; note?: string } = {}): void {
    const given = { now: Date.now(), lasts: delayMs, note: note ?? null, id, lease };
    if (this.#retry.run(given).changes !== 1) {
      throw leaseLost(id, this.#row(id).done_ms !== null);
    }
    this.#notifier.notify();
  }

  #row(id: number): WorkRow {
    const row = this.#get.get(id) as unknown as WorkRow | undefined;
    if (!row) throw workNotFound(id);
    return row;
  }

  /** Returns items in the order in which they would be claimed, then done items, newest first. Default limit: 50. */
  list({ state = "all", limit = 50 }: { state?: StateFilter; limit?: number } = {}): WorkItem[] {
    const now = Date.now();
    const sql = `SELECT * FROM work WHERE ${IN_STATE[state](now)}
      ORDER BY done_ms IS NOT NULL, done_ms DESC, priority, id LIMIT ?`;
    const rows = this.#database.prepare(sql).all(limit) as unknown as WorkRow[];
    return rows.map((row) => workItemOf(row, now));
  }

  /** Returns the number of items. */
  count(state: StateFilter = "all"): number {
    const sql = `SELECT count(*) AS n FROM work WHERE ${IN_STATE[state](Date.now())}`;
    return Number(this.#database.prepare(sql).get()?.n ?? 0);
  }

  /**
   * Deletes items that were done more than `olderThanMs` ago, and items of that age that were never claimed: without a
   * consumer the queue must not grow forever (invariant 6). Returns the number of deleted items. Their keys can be
   * reused.
   *
   * @internal
   */
  purge(olderThanMs: number): number {
    const before = Date.now() - olderThanMs;
    const sql = "DELETE FROM work WHERE done_ms < ? OR (done_ms IS NULL AND attempts = 0 AND created_ms < ?)";
    return Number(this.#database.prepare(sql).run(before, before).changes);
  }
}
