import { createMemo, createSignal } from "solid-js";
import type { Approval } from "../../../src/core/approval.ts";
import { get } from "../api/client.ts";

/** Requests for a person: those that wait, and those decided since the page was opened or lately. */
const MOST = 500;
/** The service lists no more at once, and lets no more of one agent wait. */
const MOST_LISTED = 1000;
const known = new Map<string, Approval>();
const [version, setVersion] = createSignal(0);
const [loading, setLoading] = createSignal(true);
const [failure, setFailure] = createSignal<unknown>(null);
/** Told of while the lists were under way: what they say of these is older. */
let fresher: Set<string> | null = null;

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

/** What waits is asked for by itself: however much was decided lately must not push it out of sight. */
export async function loadApprovals(): Promise<void> {
  fresher = new Set();
  try {
    const [late, waiting] = await Promise.all([listed({ status: "all" }), allWaiting()]);
    for (const id of [...known.keys()]) if (!fresher.has(id)) known.delete(id);
    for (const approval of [...waiting, ...late]) if (!fresher.has(approval.id)) known.set(approval.id, approval);
    setFailure(null);
    setVersion((now) => now + 1);
  } catch (error) {
    setFailure(error);
  } finally {
    fresher = null;
    setLoading(false);
  }
}

/** One agent can fill a list by itself, and no more than one: a full list is asked for anew, by agent. */
async function allWaiting(): Promise<Approval[]> {
  const query = { status: "pending", limit: MOST_LISTED };
  const found = await listed(query);
  if (found.length < MOST_LISTED) return found;
  const { agents } = await get<{ agents: { name: string }[] }>("/v1/agents");
  for (const { name } of agents) found.push(...(await listed({ ...query, agent: name })));
  return found;
}

async function listed(query: { status: string; limit?: number; agent?: string }): Promise<Approval[]> {
  return (await get<{ approvals: Approval[] }>("/v1/approvals", query)).approvals;
}

/** As an event tells of it: one that is too long for an event comes without what is asked. */
export type ToldApproval = Approval | (Omit<Approval, "request"> & { request: null; shortened: true });

/** Nothing is shown of a request before all of it is there (promise 2). */
export async function noteToldApproval(told: ToldApproval): Promise<void> {
  if (told.request !== null) return noteApproval(told);
  try {
    noteApproval(await get<Approval>(`/v1/approvals/${told.id}`));
  } catch (error) {
    setFailure(error);
  }
}

export function noteApproval(approval: Approval): void {
  const before = known.get(approval.id);
  // An answer that was long under way: a decision is not taken back.
  if (before && before.status !== "pending" && approval.status === "pending") return;
  const isNew = approval.status === "pending" && !before;
  fresher?.add(approval.id);
  known.set(approval.id, approval);
  if (known.size > MOST) forgetOldest();
  setVersion((now) => now + 1);
  if (isNew) for (const told of newcomers) told(approval);
}

function forgetOldest(): void {
  for (const { id } of decided().slice(MOST / 2)) known.delete(id);
}
