import { randomUUID } from "node:crypto";
import type { KV } from "@nats-io/kv";
import { isConflict, withRetry } from "./connection.ts";
import { sessionKey } from "./subjects.ts";
import { parseJson, RegistryEntry, WIRE_VERSION } from "./wire.ts";

/** An entry as it was read or written, and at which revision: it is changed only where nobody else was quicker. */
export interface VersionedEntry {
  entry: RegistryEntry;
  revision: number;
}

/** The fleet's registry of sessions: who has each, and what became of it. Every change is one that only one can make. */
export class FleetRegistry {
  readonly #bucket: KV;

  constructor(bucket: KV) {
    this.#bucket = bucket;
  }

  /** Null: there is none, or one that nobody can have made. */
  async read(agent: string, id: string): Promise<VersionedEntry | null> {
    const found = await withRetry(() => this.#bucket.get(sessionKey(agent, id)));
    if (found?.operation !== "PUT") return null;
    const entry = RegistryEntry.safeParse(parseJson(found));
    return entry.success ? { entry: entry.data, revision: found.revision } : null;
  }

  /** The revision, for the one who made the entry; null: there is one. `claim` tells one's own from another's. */
  async create(agent: string, id: string, entry: RegistryEntry): Promise<number | null> {
    return this.#write(agent, id, entry, 0);
  }

  /** Null: somebody has changed it since. */
  async update(agent: string, id: string, entry: RegistryEntry, current: number): Promise<number | null> {
    return this.#write(agent, id, entry, current);
  }

  /** An answer that never came may have been a yes: what stands there then is looked at. */
  async #write(agent: string, id: string, entry: RegistryEntry, current: number): Promise<number | null> {
    const key = sessionKey(agent, id);
    const text = JSON.stringify(entry);
    let ambiguous = false;
    return withRetry(async () => {
      try {
        return await this.#bucket.put(key, text, { previousSeq: current });
      } catch (error) {
        if (!isConflict(error)) {
          ambiguous = true;
          throw error;
        }
        if (!ambiguous) return null;
        const now = await this.#bucket.get(key);
        return now?.operation === "PUT" && now.string() === text ? now.revision : null;
      }
    });
  }
}

/** Each try that somebody else is quicker than is one in which something has become of the session. */
const ABANDON_TRIES = 5;

interface AbandonedSession extends Pick<RegistryEntry, "attempt" | "to" | "background"> {
  agent: string;
  id: string;
  killed: boolean;
}

/**
 * Makes sure that a command nobody has never runs, or not again. "lost": it ran before, on a host that is gone. What is
 * seen instead: somebody has it, or was quicker. Null: it is still nobody's, and others keep changing it.
 */
export async function abandon(
  registry: FleetRegistry,
  { agent, id, killed, attempt, to, background }: AbandonedSession,
): Promise<"forgone" | "lost" | VersionedEntry | null> {
  const atMs = Date.now();
  const entry = { version: WIRE_VERSION, host: null, to, background, atMs, claim: randomUUID() };
  const created = await registry.create(agent, id, { ...entry, state: "forgone", attempt }).catch(() => undefined);
  if (created !== null) return "forgone";
  for (let tries = 0; tries < ABANDON_TRIES; tries++) {
    const current = await registry.read(agent, id);
    if (!current) return "forgone"; // an entry that nobody understands is one that nobody can claim
    if (current.entry.state !== "open") return current;
    // Of a second attempt nobody may say that it never ran.
    const state = current.entry.attempt > 1 && !killed ? "lost" : "forgone";
    const next: RegistryEntry = { ...entry, state, attempt: current.entry.attempt };
    if ((await registry.update(agent, id, next, current.revision)) !== null) return state;
  }
  return null;
}
