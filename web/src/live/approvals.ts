import { createMemo, createSignal } from "solid-js";
import type { Approval } from "../../../src/contract/approval.ts";
import { get } from "../api/client.ts";

/** Requests for a person: those that wait, and those decided since the page was opened or lately. */
const MOST = 500;
const known = new Map<string, Approval>();
const [version, setVersion] = createSignal(0);
const [loading, setLoading] = createSignal(true);
const [failure, setFailure] = createSignal<unknown>(null);

export { failure as approvalsFailure, loading as approvalsLoading };

const all = createMemo<Approval[]>(() => {
  version();
  return [...known.values()].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
});

/** Oldest first: who has waited longest comes first. */
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

const newcomers = new Set<(approval: Approval) => void>();
/** Told of each request that was not there before. */
export function onNewApproval(told: (approval: Approval) => void): () => void {
  newcomers.add(told);
  return () => newcomers.delete(told);
}

export async function loadApprovals(): Promise<void> {
  try {
    const { approvals } = await get<{ approvals: Approval[] }>("/v1/approvals", { status: "all" });
    known.clear();
    for (const approval of approvals) known.set(approval.id, approval);
    setFailure(null);
    setVersion((now) => now + 1);
  } catch (error) {
    setFailure(error);
  } finally {
    setLoading(false);
  }
}

export function noteApproval(approval: Approval): void {
  const isNew = approval.status === "pending" && !known.has(approval.id);
  known.set(approval.id, approval);
  if (known.size > MOST) forgetOldest();
  setVersion((now) => now + 1);
  if (isNew) for (const told of newcomers) told(approval);
}

function forgetOldest(): void {
  for (const { id } of decided().slice(MOST / 2)) known.delete(id);
}
