import { readFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { newId } from "../core/id.ts";
import { inTransaction, isDiskFull, withFullSync } from "./database.ts";

/**
 * Finds out whether the machine was restarted while gateways were open.
 *
 * SQLite writes everything to the disk when the last connection is closed. Before that, the end of the log may be lost
 * with the power. A gateway that stays open therefore adds a row, which is on the disk before the gateway acknowledges
 * anything, and deletes it when it is closed. A row of an earlier start of the machine means that its gateway was never
 * closed.
 */
export class Restarts {
  readonly #database: DatabaseSync;
  readonly #boot: string | null = bootId();
  #row: string | null = null;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /**
   * Calls `recover` once after each restart of the machine, with the number of gateways that had not been closed. The
   * call is part of a transaction, so no other gateway starts a command before it returns.
   */
  afterRestart(recover: (unclosed: number) => void): void {
    const boot = this.#boot;
    if (boot === null || this.#lastBoot() === boot) return;
    ifWritable(() =>
      inTransaction(this.#database, () => {
        if (this.#lastBoot() === boot) return; // another gateway was faster
        const { changes } = this.#database.prepare("DELETE FROM open_gateways WHERE boot <> ?").run(boot);
        this.#database.prepare("UPDATE machine SET boot = ?").run(boot);
        recover(Number(changes));
      }),
    );
  }

  #lastBoot(): string {
    return String(this.#database.prepare("SELECT boot FROM machine").get()?.boot ?? "");
  }

  /** Records that a gateway is open. Returns when that is on the disk. */
  opened(): void {
    const boot = this.#boot;
    if (boot === null || this.#row !== null) return;
    const row = newId();
    ifWritable(() =>
      withFullSync(this.#database, () =>
        inTransaction(this.#database, () => {
          // This commit writes everything to the disk that gateways of killed processes have left.
          this.#forgetKilled();
          this.#database.prepare("INSERT INTO open_gateways VALUES (?, ?, ?)").run(row, boot, process.pid);
          this.#row = row;
        }),
      ),
    );
  }

  /** Records that the gateway is closed. Called right before the database is closed, which writes it to the disk. */
  closed(): void {
    try {
      if (this.#row !== null) this.#database.prepare("DELETE FROM open_gateways WHERE id = ?").run(this.#row);
      this.#row = null;
      this.#forgetKilled();
    } catch {
      // The disk is full, for example. At worst, the next restart of the machine is reported as a possible loss.
    }
  }

  #forgetKilled(): void {
    const rows = this.#database.prepare("SELECT id, pid FROM open_gateways").all() as { id: string; pid: number }[];
    for (const { id, pid } of rows) {
      if (!exists(pid)) this.#database.prepare("DELETE FROM open_gateways WHERE id = ?").run(id);
    }
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** On a full disk, a later call does it. */
function ifWritable(write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

/** Returns what identifies the current start of the machine, or null if the system does not say. */
function bootId(): string | null {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() || null;
  } catch {
    return null;
  }
}
