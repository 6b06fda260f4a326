import { createMemo, createSignal } from "solid-js";
import type { Approval } from "../../../src/core/approval.ts";
import { get } from "../api/client.ts";

/** Approval requests kept in memory: all pending ones, and recently decided ones up to this number in total. */
const MOST = 500;
/**
 * The service returns at most this many requests in one response, and accepts at most this many pending ones per agent.
 */
const MOST_LISTED = 1000;
const known = new Map<string, Approval>();
const [version, setVersion] = createSignal(0);
const [loading, setLoading] = createSignal(true);
const [failure, setFailure] = createSignal<unknown>(null);
/**
 * IDs of requests that events updated while a list was loading. The list has older data about them. Null when no list
 * is loading.
 */
let fresher: Set<string> | null = null;

export { failure as approvalsFailure, loading as approvalsLoading };

const all = createMemo<Approval[]>(() => {
  version();
  return [...known.values()].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
});

/** Pending requests, oldest first. */
export const pending = createMemo(() => all().filter(({ status }) => status === "pending"));
export const decided = createMemo(() =>
  all()
    .filter(({ status }) => status !== "pending")
    .sort((a, b) => ((a.decidedAt ?? a.expiresAt) < (b.decidedAt ?? b.expiresAt) ? 1 : -1)),
);
export const approvalNamed = (id: string): Approval | undefined => {
  version();
  return known.get(id);
};

const newApprovalListeners = new Set<(approval: Approval) => void>();
/** Calls the listener for each new pending request. Returns a function that removes it. */
export function onNewApproval(listener: (approval: Approval) => void): () => void {
  newApprovalListeners.add(listener);
  return () => newApprovalListeners.delete(listener);
}

/**
 * Loads all requests. Pending ones are requested separately, so that decided ones cannot crowd them out of the list.
 */
export async function loadApprovals(): Promise<void> {
  fresher = new Set();
  try {
    const [recent, waiting] = await Promise.all([list({ status: "all" }), listPending()]);
    for (const id of [...known.keys()]) if (!fresher.has(id)) known.delete(id);
    for (const approval of [...waiting, ...recent]) if (!fresher.has(approval.id)) known.set(approval.id, approval);
    setFailure(null);
    setVersion((now) => now + 1);
  } catch (error) {
    setFailure(error);
  } finally {
    fresher = null;
    setLoading(false);
  }
}

/** Lists all pending requests. If the response is full, it also lists those of each agent: one agent can fill it. */
async function listPending(): Promise<Approval[]> {
  const query = { status: "pending", limit: MOST_LISTED };
  const found = await list(query);
  if (found.length < MOST_LISTED) return found;
  const { agents } = await get<{ agents: { name: string }[] }>("/v1/agents");
  for (const { name } of agents) found.push(...(await list({ ...query, agent: name })));
  return found;
}

async function list(query: { status: string; limit?: number; agent?: string }): Promise<Approval[]> {
  return (await get<{ approvals: Approval[] }>("/v1/approvals", query)).approvals;
}

/** An approval as sent in an event. `request` is null when it is too large for an event. */
export type ApprovalEvent = Approval | (Omit<Approval, "request"> & { request: null; shortened: true });

/** Adds or updates an approval from an event. A request is only shown once it is complete (invariant 2). */
export async function noteApprovalEvent(event: ApprovalEvent): Promise<void> {
  if (event.request !== null) return noteApproval(event);
  try {
    noteApproval(await get<Approval>(`/v1/approvals/${event.id}`));
  } catch (error) {
    setFailure(error);
  }
}

export function noteApproval(approval: Approval): void {
  const before = known.get(approval.id);
  // The response was sent before the decision: a decided request never becomes pending again.
  if (before && before.status !== "pending" && approval.status === "pending") return;
  const isNew = approval.status === "pending" && !before;
  fresher?.add(approval.id);
  known.set(approval.id, approval);
  if (known.size > MOST) forgetOldest();
  setVersion((now) => now + 1);
  if (isNew) for (const listener of newApprovalListeners) listener(approval);
}

function forgetOldest(): void {
  for (const { id } of decided().slice(MOST / 2)) known.delete(id);
}
