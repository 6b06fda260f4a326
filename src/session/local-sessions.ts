import type { SessionInfo } from "../core/session.ts";
import type { Execution, Located } from "../executor/executor.ts";
import type { SessionRow } from "../storage/sessions.ts";
import type { Records } from "./records.ts";
import type { Registry } from "./registry.ts";
import { removeSession } from "./retention.ts";

/** The sessions of this state folder, one at a time. */
export class OwnRecords implements Records {
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

  located(id: string): Located | null {
    return this.#row(id);
  }

  usage(id: string): ReturnType<Records["usage"]> {
    const seen = this.#row(id);
    if (!seen) return null;
    const row = this.#registry.reconcile(seen);
    if (row.status === "running" || row.lingering === 1) return this.executor.data(row).usage(row.keeper_pid);
    return { usage: this.#registry.info(row).resourceUsage, processes: [] };
  }

  held(id: string): Execution | null {
    return this.#registry.held(id);
  }

  parted(id: string): Execution | null {
    return this.#registry.parted(id);
  }

  execution(id: string): Promise<Execution | null> {
    return this.#registry.execution(id);
  }

  toBackground(execution: Execution): boolean {
    return this.#registry.toBackground(execution);
  }

  movedDeadline(id: string, timeoutMs: number): void {
    const { store } = this.#registry;
    const startedMs = store.get(id)?.created_ms ?? Date.now();
    store.setTimeout(id, timeoutMs === 0 ? 0 : Date.now() - startedMs + timeoutMs);
  }

  async remove(id: string): Promise<void> {
    const row = this.#row(id);
    if (row) await removeSession(this.#registry, this.#registry.reconcile(row));
  }

  #row(id: string): SessionRow | null {
    return this.#registry.store.get(id);
  }
}
