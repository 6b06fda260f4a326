import type { SessionInfo } from "../core/session.ts";
import type { Execution } from "../executor/execution.ts";
import type { SessionRef } from "../executor/executor.ts";
import type { SessionRow, SessionStore } from "../storage/sessions.ts";
import { ambiguousId, sessionNotFound } from "./errors.ts";
import type { Registry } from "./registry.ts";
import { removeSession } from "./retention.ts";
import type { SessionRecords } from "./session.ts";

/** Session records of this state folder. */
export class LocalSessions implements SessionRecords {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  get executor(): Registry["executor"] {
    return this.#registry.executor;
  }

  info(id: string): SessionInfo | null {
    const row = this.#row(id);
    return row && this.#registry.info(row);
  }

  located(id: string): SessionRef | null {
    return this.#row(id);
  }

  usage(id: string): ReturnType<SessionRecords["usage"]> {
    const seen = this.#row(id);
    if (!seen) return null;
    const row = this.#registry.reconcile(seen);
    if (row.status === "running" || row.lingering === 1) return this.executor.data(row).usage(row.keeper_pid);
    return { usage: this.#registry.info(row).resourceUsage, processes: [] };
  }

  held(id: string): Execution | null {
    return this.#registry.held(id);
  }

  endedExecution(id: string): Execution | null {
    return this.#registry.endedExecution(id);
  }

  execution(id: string): Promise<Execution | null> {
    return this.#registry.execution(id);
  }

  toBackground(execution: Execution): boolean {
    return this.#registry.toBackground(execution);
  }

  setDeadline(id: string, timeoutMs: number): void {
    const { store } = this.#registry;
    const startedMs = store.get(id)?.created_ms ?? Date.now();
    store.setTimeout(id, timeoutMs === 0 ? 0 : Date.now() - startedMs + timeoutMs);
  }

  async remove(id: string, label: string): Promise<void> {
    const row = this.#row(id);
    if (row) await removeSession(this.#registry, this.#registry.reconcile(row), label);
  }

  #row(id: string): SessionRow | null {
    return this.#registry.store.get(id);
  }
}

/**
 * Finds a session by its ID, its name, or a unique prefix of its ID. With `agent`, sessions of other agents are treated
 * as nonexistent, so that the answer does not reveal whether they exist.
 */
export function findSession(store: SessionStore, given: string, agent?: string): SessionRow {
  const reference = String(given);
  const exact = store.get(reference) ?? store.named(reference);
  if (exact && (agent === undefined || exact.agent === agent)) return exact;
  const matches = /^[0-9a-f-]+$/.test(reference) ? store.withPrefix(reference, agent) : [];
  if (matches.length > 1) throw ambiguousId(reference);
  if (matches[0]) return matches[0];
  throw sessionNotFound(reference);
}
