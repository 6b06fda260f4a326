import { randomUUID } from "node:crypto";
import type { KV } from "@nats-io/kv";
import { isConflict, withRetry } from "./connection.ts";
import { sessionKey } from "./subjects.ts";
import { parseJson, RegistryEntry, WIRE_VERSION } from "./wire.ts";

/** A registry entry with its revision, which an update must name (compare-and-set). */
export interface VersionedEntry {
  entry: RegistryEntry;
  revision: number;
}

/**
 * The fleet's registry of sessions. It records the host of each session and how it ended. Writes are compare-and-set.
 */
export class FleetRegistry {
  readonly #bucket: KV;

  constructor(bucket: KV) {
    this.#bucket = bucket;
  }

  /** Returns the entry of a session, or null when there is no valid one. */
  async read(agent: string, id: string): Promise<VersionedEntry | null> {
    const found = await withRetry(() => this.#bucket.get(sessionKey(agent, id)));
    if (found?.operation !== "PUT") return null;
    const entry = RegistryEntry.safeParse(parseJson(found));
    return entry.success ? { entry: entry.data, revision: found.revision } : null;
  }

  /** Creates an entry. Returns its revision, or null when the session already has one. */
  async create(agent: string, id: string, entry: RegistryEntry): Promise<number | null> {
    return this.#write(agent, id, entry, 0);
  }

  /** Replaces the entry with this revision. Returns the new revision, or null when the entry has changed. */
  async update(agent: string, id: string, entry: RegistryEntry, revision: number): Promise<number | null> {
    return this.#write(agent, id, entry, revision);
  }

  /**
   * Writes an entry, and retries when there is no response. Since a write whose response was lost may have succeeded, a
   * conflict on a retry counts as success when the stored entry is the same.
   */
  async #write(agent: string, id: string, entry: RegistryEntry, revision: number): Promise<number | null> {
    const key = sessionKey(agent, id);
    const text = JSON.stringify(entry);
    let ambiguous = false;
    return withRetry(async () => {
      try {
        return await this.#bucket.put(key, text, { previousSeq: revision });
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

/** Maximum number of attempts. A conflict means that the session has changed, so a few are enough. */
const ABANDON_TRIES = 5;

interface AbandonedSession extends Pick<RegistryEntry, "attempt" | "to" | "background"> {
  agent: string;
  id: string;
  killed: boolean;
}

/**
 * Makes sure that an unclaimed command does not run (again). Returns "lost" when an earlier attempt ran on a host that
 * is lost, the entry when a worker has claimed it or it has ended, and null when the open entry keeps changing.
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
    if (!current) return "forgone"; // an invalid entry cannot be claimed
    if (current.entry.state !== "open") return current;
    // After a first attempt the command may have run.
    const state = current.entry.attempt > 1 && !killed ? "lost" : "forgone";
    const next: RegistryEntry = { ...entry, state, attempt: current.entry.attempt };
    if ((await registry.update(agent, id, next, current.revision)) !== null) return state;
  }
  return null;
}
