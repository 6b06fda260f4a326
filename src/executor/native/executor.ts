import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Execution, Executor, ExitRecord, LaunchSpec, Slot } from "../executor.ts";
import { type Connection, openConnection } from "./connection.ts";
import { NativeExecution } from "./execution.ts";
import { readExitRecord } from "./exit-record.ts";
import { encodeRun } from "./frames.ts";
import { connectToZygote } from "./zygote.ts";

/** Connections kept for the next command; each holds an idle keeper of about 100 KiB. */
const SPARE_CONNECTIONS = 8;
const SPARE_FOR_MS = 30_000;
const LAUNCH_RETRIES = 3;

/** Runs commands through the keepers of one state folder. */
export class NativeExecutor implements Executor {
  readonly #state: string;
  #spare: Connection[] = [];
  #executions = new Set<NativeExecution>();
  #closed = false;
  #trim: NodeJS.Timeout | null = null;

  constructor(state: string) {
    this.#state = state;
  }

  folder(id: string): string {
    return join(this.#state, "sessions", id);
  }

  async prepare(): Promise<Slot> {
    return this.#slot(this.#takeSpare() ?? (await connectToZygote(this.#state)));
  }

  async attach(id: string): Promise<Execution | null> {
    const connection = await this.#reconnect(id);
    return connection ? this.#execution(id, connection, false) : null;
  }

  readExit(id: string): ExitRecord | null {
    return readExitRecord(this.folder(id));
  }

  isClaimed(id: string): boolean {
    return existsSync(this.folder(id));
  }

  /** A keeper shows in its title whose command it has, so a reused pid is never mistaken for it. */
  isAlive(id: string, keeperPid: number, name: string): boolean {
    if (!this.isClaimed(id)) return true; // nothing is known against it
    try {
      return readFileSync(`/proc/${keeperPid}/cmdline`, "utf8").startsWith(`keeper: ${name} `);
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#trim) clearTimeout(this.#trim);
    for (const connection of this.#spare.splice(0)) connection.close();
    for (const execution of this.#executions) execution.release();
    this.#executions.clear();
  }

  #slot(connection: Connection): Slot {
    connection.hold(true);
    return {
      keeperPid: connection.keeperPid,
      launch: (spec) => this.#launch(spec, connection),
      cancel: () => this.#recycle(connection),
    };
  }

  #launch(spec: LaunchSpec, connection: Connection): Execution {
    const frame = encodeRun(spec);
    const execution = this.#execution(spec.id, connection, true, frame);
    connection.send(frame);
    return execution;
  }

  #execution(id: string, connection: Connection, own: boolean, frame: Buffer | null = null): NativeExecution {
    let attempts = 0;
    const home = {
      reconnect: async (which: string) => {
        // No folder: the keeper died before it claimed the command, so another may have it. Never twice.
        if (frame && !this.isClaimed(which)) return attempts++ < LAUNCH_RETRIES ? this.#again(frame) : null;
        return this.#reconnect(which);
      },
      readExit: (which: string) => this.readExit(which),
      recycle: (spare: Connection) => this.#recycle(spare),
    };
    const execution = new NativeExecution(home, id, connection, own);
    this.#executions.add(execution);
    void execution.ended.then(() => this.#executions.delete(execution));
    return execution;
  }

  async #again(frame: Buffer): Promise<Connection | null> {
    try {
      const connection = await connectToZygote(this.#state);
      connection.send(frame);
      return connection;
    } catch {
      return null;
    }
  }

  async #reconnect(id: string): Promise<Connection | null> {
    try {
      return await openConnection(join(this.folder(id), "ctl"));
    } catch {
      return null;
    }
  }

  #takeSpare(): Connection | null {
    for (let spare = this.#spare.pop(); spare; spare = this.#spare.pop()) if (!spare.closed) return spare;
    return null;
  }

  #recycle(connection: Connection): void {
    if (this.#closed || connection.closed || this.#spare.length >= SPARE_CONNECTIONS) {
      connection.close();
      return;
    }
    connection.hold(false);
    connection.onClose = () => {
      const at = this.#spare.indexOf(connection);
      if (at >= 0) this.#spare.splice(at, 1);
    };
    this.#spare.push(connection);
    this.#trim ??= setTimeout(() => this.#dropSpares(), SPARE_FOR_MS).unref();
  }

  #dropSpares(): void {
    this.#trim = null;
    for (const connection of this.#spare.splice(0)) connection.close();
  }
}
