import { randomUUID } from "node:crypto";
import type { KV, KvEntry } from "@nats-io/kv";
import { insist, isTaken } from "./connection.ts";
import { sessionKey } from "./subjects.ts";
import { Entry, WIRE_VERSION } from "./wire.ts";

/** An entry as it was read or written, and at which revision: it is changed only where nobody else was quicker. */
export interface Seen {
  entry: Entry;
  revision: number;
}

/** The fleet's registry of sessions: who has each, and what became of it. Every change is one that only one can make. */
export class Book {
  readonly #bucket: KV;

  constructor(bucket: KV) {
    this.#bucket = bucket;
  }

  /** Null: there is none, or one that nobody can have made. */
  async read(agent: string, id: string): Promise<Seen | null> {
    const found = await insist(() => this.#bucket.get(sessionKey(agent, id)));
    if (found?.operation !== "PUT") return null;
    const entry = Entry.safeParse(parseEntry(found));
    return entry.success ? { entry: entry.data, revision: found.revision } : null;
  }

  /** The revision, for the one who made the entry; null: there is one. `claim` tells one's own from another's. */
  async create(agent: string, id: string, entry: Entry): Promise<number | null> {
    return this.#write(agent, id, entry, 0);
  }

  /** Null: somebody has changed it since. */
  async change(agent: string, id: string, entry: Entry, seen: number): Promise<number | null> {
    return this.#write(agent, id, entry, seen);
  }

  /** An answer that never came may have been a yes: what stands there then is looked at. */
  async #write(agent: string, id: string, entry: Entry, seen: number): Promise<number | null> {
    const key = sessionKey(agent, id);
    const text = JSON.stringify(entry);
    let unsure = false;
    return insist(async () => {
      try {
        return await this.#bucket.put(key, text, { previousSeq: seen });
      } catch (error) {
        if (!isTaken(error)) {
          unsure = true;
          throw error;
        }
        if (!unsure) return null;
        const now = await this.#bucket.get(key);
        return now?.operation === "PUT" && now.string() === text ? now.revision : null;
      }
    });
  }
}

function parseEntry(found: KvEntry): unknown {
  try {
    return found.json();
  } catch {
    return null;
  }
}

/** Each try that somebody else is quicker than is one in which something has become of the session. */
const ABANDON_TRIES = 5;

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
  for (let tries = 0; tries < ABANDON_TRIES; tries++) {
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
