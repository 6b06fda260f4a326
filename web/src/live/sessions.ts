import { createMemo, createSignal } from "solid-js";
import type { SessionInfo } from "../../../src/core/session.ts";
import { get } from "../api/client.ts";

/** Sessions kept in memory: the newest ones, updated by events. */
const MOST = 2000;
const known = new Map<string, SessionInfo>();
const waiting = new Map<string, SessionInfo | null>();
const [version, setVersion] = createSignal(0);
const [loading, setLoading] = createSignal(true);
const [failure, setFailure] = createSignal<unknown>(null);
/**
 * IDs of sessions that events updated while the list was loading. The list has older data about them. Null when no list
 * is loading.
 */
let fresher: Set<string> | null = null;
let polling: ReturnType<typeof setInterval> | undefined;

const LISTED = 1000;
const POLL_MS = 5000;

interface SessionsAnswer {
  sessions: SessionInfo[];
  fleet: boolean;
}

export { failure as sessionsFailure, loading as sessionsLoading };

export const sessions = createMemo<SessionInfo[]>(() => {
  version();
  return [...known.values()].sort((a, b) => (a.startedAt < b.startedAt ? 1 : a.startedAt > b.startedAt ? -1 : 0));
});

export const sessionNamed = (id: string): SessionInfo | undefined => {
  version();
  return known.get(id);
};

export async function loadSessions(): Promise<void> {
  fresher = new Set();
  try {
    const { sessions: found, fleet } = await get<SessionsAnswer>("/v1/sessions", { limit: LISTED });
    pollFleet(fleet);
    for (const id of [...known.keys()]) if (!fresher.has(id)) known.delete(id);
    for (const info of found) if (!fresher.has(info.id)) known.set(info.id, info);
    setFailure(null);
    setVersion((now) => now + 1);
  } catch (error) {
    setFailure(error);
  } finally {
    fresher = null;
    setLoading(false);
  }
}

/** Polls for remote sessions of a fleet while the page is visible. Events only cover sessions of this gateway. */
export function pollFleet(fleet: boolean): void {
  clearInterval(polling);
  if (fleet) polling = setInterval(() => document.visibilityState === "visible" && void loadOthers(), POLL_MS);
}

async function loadOthers(): Promise<void> {
  const query = { limit: LISTED, others: true };
  const answer = await get<SessionsAnswer>("/v1/sessions", query).catch(() => null); // retried by the next poll
  if (!answer) return;
  for (const [id, { gateway }] of [...known]) if (gateway !== null) known.delete(id);
  for (const info of answer.sessions) if (!known.has(info.id)) known.set(info.id, info);
  setVersion((now) => now + 1);
}

/** Queues a change; null removes the session. Changes are applied in batches, so that many of them cause one redraw. */
export function noteSession(id: string, info: SessionInfo | null): void {
  fresher?.add(id);
  waiting.set(id, info);
  if (waiting.size === 1) setTimeout(settle, 50);
}

function settle(): void {
  for (const [id, info] of waiting) {
    if (info) known.set(id, info);
    else known.delete(id);
  }
  waiting.clear();
  if (known.size > MOST) forgetOldest();
  setVersion((now) => now + 1);
}

function forgetOldest(): void {
  const ended = [...known.values()].filter(({ status, lingering }) => status !== "running" && !lingering);
  ended.sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1));
  for (const { id } of ended.slice(0, known.size - MOST)) known.delete(id);
}
