import { closeSync, fdatasyncSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { ExitRecord } from "../executor.ts";

/** As much as a record takes: written ahead, so that a disk that is full by then has room for it. */
const ROOM = 4096;

/** The exit record of a session folder, with its room on the disk taken before the command starts (promise 4). */
export class RecordFile {
  readonly #folder: string;
  #fd: number | null = null;

  constructor(folder: string) {
    this.#folder = folder;
    this.#reserve();
  }

  /** Best effort: what cannot be written is still told to everybody who listens. */
  write(record: ExitRecord, durable: boolean): void {
    const text = Buffer.from(`${JSON.stringify(record)}\n`.padEnd(ROOM - 1).concat("\n"));
    try {
      if (this.#fd === null) this.#reserve();
      if (this.#fd === null) return;
      writeSync(this.#fd, text, 0, text.length, 0);
      if (durable) fdatasyncSync(this.#fd);
      this.close();
      renameSync(join(this.#folder, "exit.new"), join(this.#folder, "exit"));
      if (durable) this.#syncFolder();
      if (!record.final) this.#reserve();
    } catch {
      this.close();
    }
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  #reserve(): void {
    this.#fd = openSync(join(this.#folder, "exit.new"), "w", 0o600);
    try {
      writeSync(this.#fd, Buffer.alloc(ROOM, " "), 0, ROOM, 0);
    } catch {
      // Full already: perhaps not any more when the record is written.
    }
  }

  #syncFolder(): void {
    const folder = openSync(this.#folder, "r");
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  }
}
