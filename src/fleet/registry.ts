import { setTimeout as sleep } from "node:timers/promises";
import { JetStreamApiError } from "@nats-io/jetstream";
import type { KV, KvEntry } from "@nats-io/kv";
import { PermissionViolationError } from "@nats-io/transport-node";
import { sessionKey } from "./subjects.ts";
import { Entry } from "./wire.ts";

/** An entry as it was read or written, and at which revision: it is changed only where nobody else was quicker. */
export interface Seen {
  entry: Entry;
  revision: number;
}

/** "Wrong last sequence", alone and in a cluster. */
const TAKEN: ReadonlySet<number> = new Set([10071, 10164]);
/** While servers are restarted or elect a leader, answers fail to come for a moment. */
const PATIENCE_MS = 8000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

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
    const entry = Entry.safeParse(json(found));
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

function json(found: KvEntry): unknown {
  try {
    return found.json();
  } catch {
    return null;
  }
}

export function isTaken(error: unknown): boolean {
  return error instanceof JetStreamApiError && TAKEN.has(error.code);
}

/** Tries again while the servers give no answer; what they answer, also a no, is the answer. */
export async function insist<T>(attempt: () => Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  const end = performance.now() + patienceMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (isRefused(error)) throw error;
      if ((error as Error).name === "ClosedConnectionError" || performance.now() + pause > end) throw error;
      await sleep(pause);
    }
  }
}

/** The servers have answered, with a no: asking again changes nothing. */
export function isRefused(error: unknown): boolean {
  if (error instanceof JetStreamApiError) return !isBusy(error);
  return (error as Error).cause instanceof PermissionViolationError;
}

/** No leader yet, or too much to do: it says nothing about what was asked. */
function isBusy({ status }: JetStreamApiError): boolean {
  return status === 503 || status === 500;
}
