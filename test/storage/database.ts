import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { openDatabase } from "../../src/storage/database.ts";

/** A real database in a folder of its own, which other processes can open too. */
export class TestDatabase {
  readonly folder = mkdtempSync(join(tmpdir(), "sallyport-store-"));
  readonly path = join(this.folder, "sallyport.db");
  readonly #open: DatabaseSync[] = [];

  open(): DatabaseSync {
    const database = openDatabase(this.path);
    this.#open.push(database);
    return database;
  }

  /** Runs a script of this folder on the database as a process of its own. */
  start(script: string, ...args: string[]): ChildProcess {
    const file = fileURLToPath(new URL(script, import.meta.url));
    return spawn(process.execPath, [file, this.path, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  }

  /** The same, to its end; returns the lines it printed. */
  async run(script: string, ...args: string[]): Promise<string[]> {
    const child = this.start(script, ...args);
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (data: string) => {
      text += data;
    });
    const [code] = await once(child, "close");
    if (code !== 0) throw new Error(`${script} ended with ${code}`);
    return text.split("\n").filter(Boolean);
  }

  remove(): void {
    for (const database of this.#open) if (database.isOpen) database.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** One that is gone with the test that asks for it. */
export function freshDatabase(): TestDatabase {
  const file = new TestDatabase();
  after(() => file.remove());
  return file;
}
