import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LaunchSpec } from "../../core/launch.ts";
import type { Capture } from "../../core/session.ts";
import type { SessionData, SessionReader } from "../data.ts";
import { outOfDescriptors } from "../errors.ts";
import type { Abilities, Ending, Execution, Executor, ExitRecord, Slot, Whereabouts } from "../executor.ts";
import { isFdExhaustion, readIfExists } from "../fd-exhaustion.ts";
import { ProcessTree } from "../process-tree.ts";
import { controlSocketPath, isKeptByPortable, readOwner, type SessionOwner } from "../session-owner.ts";
import { isOverdue, unstartedRecord } from "../unstarted-record.ts";
import { type Connection, openConnection } from "./connection.ts";
import { NativeExecution } from "./execution.ts";
import { readExitRecord } from "./exit-record.ts";
import { encodeRun } from "./frames.ts";
import { emptyFolder, removeFolder, removeStrays } from "./session-folders.ts";
import { connectToZygote } from "./zygote.ts";

/** Connections kept for the next command; each holds an idle keeper of about 100 KiB. */
const SPARE_CONNECTIONS = 8;
const SPARE_FOR_MS = 30_000;
const LAUNCH_RETRIES = 8;
/** In a folder that no keeper made: its command never runs. */
const FORGONE = "forgone";
const ATTACH_ATTEMPTS = 5;
/** A row that was never claimed by a keeper is given up after this long: its gateway died in between. */
const CLAIM_WITHIN_MS = 10_000;
const ASK_AGAIN_MS = 20;
/** Nobody listens there, and never will again. */
const GONE = new Set(["ENOENT", "ENOTDIR", "ECONNREFUSED"]);

/** A kind of keepers. They differ in how they are started and in what they can do; all speak the same protocol. */
export interface Keepers {
  readonly abilities: Abilities;
  /** A connection to one that waits for a command; starts it if need be. */
  connect(state: string): Promise<Connection>;
  /** What of a command's spec they can keep. What they cannot was told to whoever asked for it (`abilities`). */
  able(spec: LaunchSpec): LaunchSpec;
}

const NATIVE: Keepers = {
  abilities: {
    kind: "native",
    confines: true,
    survives: true,
    exactTrees: true,
    limits: true,
    pty: true,
    elsewhere: false,
  },
  connect: connectToZygote,
  able: (spec) => spec,
};

/** Runs commands through the keepers of one state folder. */
export class KeeperExecutor implements Executor {
  readonly #keepers: Keepers;
  readonly #state: string;
  readonly #reader: SessionReader;
  #spare: Connection[] = [];
  #executions = new Set<NativeExecution>();
  #closed = false;
  #trim: NodeJS.Timeout | null = null;

  constructor(state: string, keepers: Keepers, reader: SessionReader) {
    this.#state = state;
    this.#keepers = keepers;
    this.#reader = reader;
  }

  get abilities(): Abilities {
    return this.#keepers.abilities;
  }

  folder(id: string): string {
    return join(this.#state, "sessions", id);
  }

  async prepare(): Promise<Slot> {
    return this.#slot(this.#takeSpare() ?? (await this.#keepers.connect(this.#state)));
  }

  async attach({ id }: Pick<Whereabouts, "id">): Promise<Execution | null> {
    const connection = await this.#reconnect(id, ATTACH_ATTEMPTS);
    if (!connection) return null;
    const execution = this.#execution(id, connection, () => null);
    execution.catchUp();
    return execution;
  }

  async learn(): Promise<void> {}

  fate(session: Whereabouts, keeperNow: () => number | undefined): Ending | null {
    try {
      return this.#fateOf(session, keeperNow);
    } catch (error) {
      // A gateway that cannot look must not call lost what another one sees running (promise 4).
      if (isFdExhaustion(error)) return null;
      throw error;
    }
  }

  #fateOf(session: Whereabouts, keeperNow: () => number | undefined): Ending | null {
    const { id, keeper_pid: keeperPid } = session;
    const record = this.#readExit(id);
    if (record?.final) return record;
    const alive = this.#isAlive(id, keeperPid, session.name);
    if (alive && !record) return isOverdue(session.created_ms, CLAIM_WITHIN_MS) ? this.#unclaimed(id) : null;
    if (alive) return session.lingering === 1 ? null : record;
    // Another keeper may have taken it up since the row was read.
    if (keeperNow() !== keeperPid) return null;
    // Asked again after the keeper was seen gone: it writes the record first and leaves then.
    const last = this.#readExit(id);
    this.#tidyAfter(id);
    if (last) return { ...last, final: true };
    return this.#isForgone(id) ? unstartedRecord("keeper") : "lost";
  }

  data(session: { id: string; capture: Capture }): SessionData {
    return this.#reader.open(session, this.folder(session.id), (id) => this.#processesOf(id));
  }

  remove(id: string): void {
    this.#reader.forget(id);
    removeFolder(this.folder(id));
  }

  makeRoom(id: string): void {
    this.#reader.forget(id);
    emptyFolder(this.folder(id));
  }

  removeStrays(isKnown: (id: string) => boolean, now: number): void {
    removeStrays(join(this.#state, "sessions"), isKnown, (id) => this.#readExit(id)?.final === true, now);
  }

  #readExit(id: string): ExitRecord | null {
    return readExitRecord(this.folder(id));
  }

  /** Whether a keeper ever took this command up. */
  #isClaimed(id: string): boolean {
    return existsSync(this.folder(id));
  }

  #unclaimed(id: string): Ending | null {
    return this.#forgo(id) ? unstartedRecord("keeper") : null;
  }

  /** Removes what a keeper that was killed could not: its socket, and the room it had reserved for its record. */
  #tidyAfter(id: string): void {
    for (const name of ["ctl", "exit.new"]) rmSync(join(this.folder(id), name), { force: true });
  }

  /** Makes sure that a command nobody has taken up never runs. False: somebody has. */
  #forgo(id: string): boolean {
    try {
      mkdirSync(this.folder(id), { mode: 0o700 }); // the folder is the claim, and now nobody else can make it
    } catch {
      return this.#isForgone(id);
    }
    try {
      writeFileSync(join(this.folder(id), FORGONE), "");
    } catch {
      // A full disk: others will then call it lost.
    }
    return true;
  }

  /** Two gateways that look after the same command must come to the same end. */
  #isForgone(id: string): boolean {
    return existsSync(join(this.folder(id), FORGONE));
  }

  /**
   * Whether the keeper that claimed this command still has it; true as long as none has. A native keeper shows in its
   * title whose command it has, so a reused pid is never mistaken for it.
   */
  #isAlive(id: string, keeperPid: number, name: string): boolean {
    if (!this.#isClaimed(id)) return true; // nothing is known against it
    const portable = isKeptByPortable(this.folder(id), keeperPid);
    if (portable !== null) return portable;
    return readIfExists(`/proc/${keeperPid}/cmdline`)?.startsWith(`keeper: ${name} `) ?? false;
  }

  #ownerOf(id: string): SessionOwner | null {
    try {
      return readOwner(this.folder(id));
    } catch (error) {
      throw isFdExhaustion(error) ? outOfDescriptors(this.folder(id)) : error;
    }
  }

  /** The processes of a command, where its keeper has others as well; null: all that its keeper has are its own. */
  #processesOf(id: string): number[] | null {
    const owner = this.#ownerOf(id);
    return owner?.main ? new ProcessTree(owner.main, id).members().map(({ pid }) => pid) : null;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#reader.close();
    if (this.#trim) clearTimeout(this.#trim);
    for (const connection of this.#spare.splice(0)) connection.close();
    for (const execution of this.#executions) execution.release();
    this.#executions.clear();
  }

  #slot(connection: Connection): Slot {
    connection.hold(true);
    let used = false;
    return {
      keeperPid: connection.keeperPid,
      launch: (spec, moved) => {
        const frame = encodeRun(this.#keepers.able(spec));
        used = true;
        return this.#launch(spec.id, frame, connection, moved);
      },
      // With a command on it, it is that command's: another would take its news for their own.
      cancel: () => {
        if (!used) this.#recycle(connection);
      },
    };
  }

  #launch(id: string, frame: Buffer, connection: Connection, moved: (keeperPid: number) => void): Execution {
    let attempts = 0;
    const execution = this.#execution(id, connection, () =>
      attempts++ < LAUNCH_RETRIES ? this.#again(frame, moved) : null,
    );
    connection.send(frame);
    return execution;
  }

  /** `relaunch`: null when this execution did not bring the command, or has tried often enough. */
  #execution(id: string, connection: Connection, relaunch: () => Promise<Connection | null> | null): NativeExecution {
    const own = connection.hello?.id === "";
    const home = {
      // No folder: the keeper died before it claimed the command, so another may have it. Never twice.
      reconnect: async () => (own && !this.#isClaimed(id) ? relaunch() : this.#reconnect(id)),
      readExit: () => this.#readExit(id),
      forgo: () => this.#forgo(id),
      tidyAfter: () => this.#tidyAfter(id),
      recycle: (spare: Connection) => this.#recycle(spare),
    };
    const execution = new NativeExecution(home, id, connection, own);
    this.#executions.add(execution);
    void execution.ended.then(() => this.#executions.delete(execution));
    return execution;
  }

  async #again(frame: Buffer, moved: (keeperPid: number) => void): Promise<Connection | null> {
    try {
      const connection = await this.#keepers.connect(this.#state);
      moved(connection.keeperPid); // before it can claim the command: whoever looks must look at the right one
      connection.send(frame);
      return connection;
    } catch {
      return null;
    }
  }

  /** Null: nobody has this command. A keeper that hangs up at once has many callers, and is asked again. */
  async #reconnect(id: string, attempts = Number.POSITIVE_INFINITY): Promise<Connection | null> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await openConnection(controlSocketPath(this.folder(id)));
      } catch (error) {
        if (GONE.has((error as NodeJS.ErrnoException).code ?? "") || this.#closed) return null;
        if (attempt >= attempts) return unlessShort(error, this.folder(id));
        await sleep(ASK_AGAIN_MS);
      }
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

/** A keeper that could not even be asked has its command still. */
function unlessShort(error: unknown, folder: string): null {
  if (isFdExhaustion(error)) throw outOfDescriptors(folder);
  return null;
}

export class NativeExecutor extends KeeperExecutor {
  constructor(state: string, reader: SessionReader) {
    super(state, NATIVE, reader);
  }
}
