import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isOverdue } from "../../core/clock.ts";
import type { LaunchSpec } from "../../core/launch.ts";
import type { Capture } from "../../core/session.ts";
import { isFdExhaustion, outOfDescriptors, readIfExists } from "../errors.ts";
import type { Execution, ExitOutcome, ExitRecord } from "../execution.ts";
import { unstartedRecord } from "../execution.ts";
import type { Abilities, Executor, LiveSession, Slot, UnknownSession } from "../executor.ts";
import { ProcessTree } from "../processes.ts";
import type { SessionData, SessionReader } from "../session-data.ts";
import { controlSocketPath, isKeptByPortable, readOwner, type SessionOwner } from "../session-owner.ts";
import { type Connection, openConnection } from "./connection.ts";
import { NativeExecution } from "./execution.ts";
import { readExitRecord, readLabel } from "./exit-record.ts";
import { encodeRun } from "./frames.ts";
import { forgetCapabilities } from "./probe.ts";
import { repairOutput } from "./repair-output.ts";
import { emptyFolder, listSessions, removeFolder, removeStrays } from "./session-folders.ts";
import { connectToZygote, retireZygote } from "./zygote.ts";

/** The number of connections kept for later commands. Each holds an idle keeper of about 100 KiB. */
const SPARE_CONNECTIONS = 8;
const SPARE_FOR_MS = 30_000;
const LAUNCH_RETRIES = 8;
/** Marks a session folder that a gateway created so that no keeper runs its command. */
const TOMBSTONE = "forgone";
const ATTACH_ATTEMPTS = 5;
/** A command that no keeper has claimed after this time is abandoned: its gateway exited before the launch. */
const CLAIM_WITHIN_MS = 10_000;
const ASK_AGAIN_MS = 20;
/** Errors of a connection to a keeper that no longer runs. */
const GONE = new Set(["ENOENT", "ENOTDIR", "ECONNREFUSED"]);

/** A kind of keeper. All kinds use the same protocol. They differ in how they are started and in their abilities. */
export interface KeeperKind {
  readonly abilities: Abilities;
  /** Connects to an idle keeper. Starts one if necessary. */
  connect(state: string): Promise<Connection>;
  /** Removes the fields of a spec that these keepers do not support. */
  supported(spec: LaunchSpec): LaunchSpec;
}

const NATIVE: KeeperKind = {
  abilities: {
    kind: "native",
    confines: true,
    survives: true,
    exactTrees: true,
    limits: true,
    pty: true,
    remote: false,
  },
  connect: connectToZygote,
  supported: (spec) => spec,
};

/** Runs commands through the keepers of one state folder. */
export class KeeperExecutor implements Executor {
  readonly #keepers: KeeperKind;
  readonly #state: string;
  readonly #reader: SessionReader;
  #spare: Connection[] = [];
  #executions = new Set<NativeExecution>();
  #closed = false;
  #trim: NodeJS.Timeout | null = null;

  constructor(state: string, keepers: KeeperKind, reader: SessionReader) {
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

  async attach({ id }: Pick<LiveSession, "id">): Promise<Execution | null> {
    const connection = await this.#reconnect(id, ATTACH_ATTEMPTS);
    if (!connection) return null;
    const execution = this.#execution(id, connection, () => null);
    execution.catchUp();
    return execution;
  }

  async refresh(): Promise<void> {}

  lookUpExit(session: LiveSession, keeperNow: () => number | undefined): ExitOutcome | null {
    try {
      return this.#lookUpExit(session, keeperNow);
    } catch (error) {
      // A gateway that has no free descriptors must not declare a running command lost (invariant 4).
      if (isFdExhaustion(error)) return null;
      throw error;
    }
  }

  #lookUpExit(session: LiveSession, keeperNow: () => number | undefined): ExitOutcome | null {
    const { id, keeper_pid: keeperPid } = session;
    const record = this.#readExit(id);
    if (record?.final) return record;
    const alive = this.#isAlive(id, keeperPid, session.name);
    if (alive && !record) return isOverdue(session.created_ms, CLAIM_WITHIN_MS) ? this.#unclaimed(id) : null;
    if (alive) return session.lingering === 1 ? null : record;
    // Another keeper may have claimed the command since the row was read.
    if (keeperNow() !== keeperPid) return null;
    // Read again: a keeper writes the record before it exits.
    const last = this.#readExit(id);
    this.#cleanUp(id);
    if (last) return { ...last, final: true };
    return this.#isAbandoned(id) ? unstartedRecord("keeper") : "lost";
  }

  data(session: { id: string; capture: Capture }): SessionData {
    return this.#reader.open(session, this.folder(session.id), (id) => this.#processesOf(id));
  }

  remove(id: string): void {
    this.#reader.forget(id);
    removeFolder(this.folder(id));
  }

  removeOutput(id: string): void {
    this.#reader.forget(id);
    emptyFolder(this.folder(id));
  }

  unknownSessions(isKnown: (id: string) => boolean): UnknownSession[] {
    return listSessions(join(this.#state, "sessions"))
      .filter((id) => !isKnown(id))
      .map((id) => ({ id, label: readLabel(this.folder(id)), record: this.#readExit(id) }));
  }

  repairOutput({ id, capture }: { id: string; capture: Capture }, known: ExitRecord | null): ExitRecord | null {
    return repairOutput(this.folder(id), capture, this.#readExit(id) ?? known);
  }

  removeStrays(isKnown: (id: string) => boolean, now: number): void {
    removeStrays(join(this.#state, "sessions"), isKnown, (id) => this.#readExit(id)?.final === true, now);
  }

  #readExit(id: string): ExitRecord | null {
    return readExitRecord(this.folder(id));
  }

  /** Reports whether a keeper has claimed this command. */
  #isClaimed(id: string): boolean {
    return existsSync(this.folder(id));
  }

  #unclaimed(id: string): ExitOutcome | null {
    return this.#abandon(id) ? unstartedRecord("keeper") : null;
  }

  /** Removes the socket and the reserved exit record of a keeper that was killed. */
  #cleanUp(id: string): void {
    for (const name of ["ctl", "exit.new"]) rmSync(join(this.folder(id), name), { force: true });
  }

  /** Makes sure that an unclaimed command never runs. Returns false if a keeper has claimed it. */
  #abandon(id: string): boolean {
    try {
      mkdirSync(this.folder(id), { mode: 0o700 }); // creating the folder claims the command, so no keeper can do so now
    } catch {
      return this.#isAbandoned(id);
    }
    try {
      writeFileSync(join(this.folder(id), TOMBSTONE), "");
    } catch {
      // The disk is full: other gateways will report the command as lost.
    }
    return true;
  }

  /** Reports whether a gateway has abandoned the command. All gateways must report the same outcome. */
  #isAbandoned(id: string): boolean {
    return existsSync(join(this.folder(id), TOMBSTONE));
  }

  /**
   * Reports whether the keeper that claimed this command still supervises it. Returns true if none has claimed it. The
   * title of a native keeper is the session's ID (its name, in earlier versions), so a process that reuses the pid is
   * not mistaken for it.
   */
  #isAlive(id: string, keeperPid: number, name: string): boolean {
    if (!this.#isClaimed(id)) return true;
    const portable = isKeptByPortable(this.folder(id), keeperPid);
    if (portable !== null) return portable;
    const title = readIfExists(`/proc/${keeperPid}/cmdline`) ?? "";
    return title.startsWith(`keeper: ${id}`) || title.startsWith(`keeper: ${name} `);
  }

  #ownerOf(id: string): SessionOwner | null {
    try {
      return readOwner(this.folder(id));
    } catch (error) {
      throw isFdExhaustion(error) ? outOfDescriptors(this.folder(id)) : error;
    }
  }

  /** Returns the pids of a command under a portable keeper, or null if all processes of its keeper belong to it. */
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
      launch: (spec, onMoved) => {
        const frame = encodeRun(this.#keepers.supported(spec));
        used = true;
        return this.#launch(spec.id, frame, connection, onMoved);
      },
      // A connection with a command must not be reused: it receives that command's events.
      cancel: () => {
        if (!used) this.#recycle(connection);
      },
    };
  }

  #launch(id: string, frame: Buffer, connection: Connection, onMoved: (keeperPid: number) => void): Execution {
    let attempts = 0;
    const execution = this.#execution(id, connection, () =>
      attempts++ < LAUNCH_RETRIES ? this.#relaunch(frame, onMoved) : null,
    );
    connection.send(frame);
    return execution;
  }

  /**
   * Creates an execution. `relaunch` returns null if this execution did not launch the command or has no retries left.
   */
  #execution(id: string, connection: Connection, relaunch: () => Promise<Connection | null> | null): NativeExecution {
    const own = connection.hello?.id === "";
    const hooks = {
      // Without a folder, the keeper exited before it claimed the command, so another keeper may run it.
      reconnect: async () => (own && !this.#isClaimed(id) ? relaunch() : this.#reconnect(id)),
      readExit: () => this.#readExit(id),
      abandon: () => this.#abandon(id),
      cleanUp: () => this.#cleanUp(id),
      recycle: (spare: Connection) => this.#recycle(spare),
    };
    const execution = new NativeExecution(hooks, id, connection, own);
    this.#executions.add(execution);
    void execution.ended.then((ending) => {
      this.#executions.delete(execution);
      // The keeper found a feature missing that the probe had found. Either it is missing now, or the machine has gained
      // it since the zygote was started, for example with an AppArmor profile. The next command finds out.
      if (typeof ending !== "object" || ending.step !== "sandbox-require") return;
      forgetCapabilities(this.#state);
      retireZygote(this.#state, connection.keeperPid);
    });
    return execution;
  }

  async #relaunch(frame: Buffer, onMoved: (keeperPid: number) => void): Promise<Connection | null> {
    try {
      const connection = await this.#keepers.connect(this.#state);
      onMoved(connection.keeperPid); // before that keeper can claim the command, so that its row names the right keeper
      connection.send(frame);
      return connection;
    } catch {
      return null;
    }
  }

  /**
   * Connects to the keeper of a command. Resolves with null if no keeper supervises it. Retries if the keeper
   * disconnects at once, because it is then overloaded.
   */
  async #reconnect(id: string, attempts = Number.POSITIVE_INFINITY): Promise<Connection | null> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await openConnection(controlSocketPath(this.folder(id)));
      } catch (error) {
        if (GONE.has((error as NodeJS.ErrnoException).code ?? "") || this.#closed) return null;
        if (attempt >= attempts) return rethrowExhaustion(error, this.folder(id));
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

/**
 * Throws if descriptors are exhausted, because the keeper may then still supervise its command. Otherwise returns null.
 */
function rethrowExhaustion(error: unknown, folder: string): null {
  if (isFdExhaustion(error)) throw outOfDescriptors(folder);
  return null;
}

export class NativeExecutor extends KeeperExecutor {
  constructor(state: string, reader: SessionReader) {
    super(state, NATIVE, reader);
  }
}
