export const PRIORITIES = ["HIGH", "NORMAL", "LOW"] as const;
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

export type WorkState = "pending" | "claimed" | "done";

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

/** An item as it is stored. */
export interface WorkRow {
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

/** A row as callers see it; never with its lease. */
export function itemOf(row: WorkRow, nowMs: number): WorkItem {
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

/** A lease that has run out is none. */
function stateOf({ done_ms, lease, due_ms }: WorkRow, nowMs: number): WorkState {
  if (done_ms !== null) return "done";
  return lease !== null && due_ms > nowMs ? "claimed" : "pending";
}
