import { randomUUID } from "node:crypto";
import type { Recovery } from "../core/error.ts";
import type { Account } from "../executor/executor.ts";
import type { Book, Seen } from "./registry.ts";
import { type Entry, WIRE_VERSION } from "./wire.ts";

/** Each try that somebody else is quicker than is one in which something has become of the session. */
const MOST_TRIES = 5;

interface Forgone extends Pick<Entry, "attempt" | "to" | "background"> {
  agent: string;
  id: string;
  killed: boolean;
}

/**
 * Makes sure that a command nobody has never runs, or not again. "lost": it ran before, on a host that is gone. What is
 * seen instead: somebody has it, or was quicker. Null: it is still nobody's, and others keep changing it.
 */
export async function forgo(
  book: Book,
  { agent, id, killed, attempt, to, background }: Forgone,
): Promise<"forgone" | "lost" | Seen | null> {
  const atMs = Date.now();
  const entry = { version: WIRE_VERSION, host: null, to, background, atMs, claim: randomUUID() };
  const made = await book.create(agent, id, { ...entry, state: "forgone", attempt }).catch(() => undefined);
  if (made !== null) return "forgone";
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const seen = await book.read(agent, id);
    if (!seen) return "forgone"; // an entry that nobody understands is one that nobody can claim
    if (seen.entry.state !== "open") return seen;
    // Of a second attempt nobody may say that it never ran.
    const state = seen.entry.attempt > 1 && !killed ? "lost" : "forgone";
    const next: Entry = { ...entry, state, attempt: seen.entry.attempt };
    if ((await book.change(agent, id, next, seen.revision)) !== null) return state;
  }
  return null;
}

export function accountOf(
  status: Account["status"],
  [message, recovery]: [message: string, recovery: Recovery[]],
): Account {
  const type = status === "lost" ? "SessionLost" : "NoWorker";
  return { status, warnings: [], hints: [], error: { type, message, recovery }, logPath: null, lastLines: [] };
}
