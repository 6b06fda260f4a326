import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { JobMessage } from "./wire.ts";

/**
 * Copies of jobs that may run more than once. Only these copies are sent again, because the registry is readable by all
 * members and writable by all workers (invariant 1).
 */
export class ResendStore {
  readonly #folder: string;

  constructor(state: string) {
    this.#folder = join(state, "fleet", "asked");
  }

  /** Stores a job if it may run more than once. */
  save(message: JobMessage): void {
    if (message.request.retry !== "idempotent") return;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const file = this.#file(message.id);
    writeFileSync(`${file}.new`, JSON.stringify(message), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }

  get(id: string): JobMessage | null {
    try {
      return JobMessage.safeParse(JSON.parse(readFileSync(this.#file(id), "utf8"))).data ?? null;
    } catch {
      return null;
    }
  }

  delete(id: string): void {
    rmSync(this.#file(id), { force: true });
  }

  #file(id: string): string {
    return join(this.#folder, id);
  }
}
