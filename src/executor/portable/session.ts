import { mkdirSync } from "node:fs";
import type { LaunchSpec } from "../../core/launch.ts";
import type { ExitRecord } from "../executor.ts";
import { ctlPath, noteNobody, noteOwner } from "../session-owner.ts";
import { unstartedRecord } from "../unstarted-record.ts";
import { Capture } from "./capture.ts";
import type { Caller } from "./client.ts";
import { RecordFile } from "./exit-record-file.ts";
import { launch, type Running } from "./launch.ts";
import { attempt, errnoOf, openLog, StepFailed } from "./launch-paths.ts";
import { type Listening, listenAt } from "./listen.ts";
import type { Order } from "./request.ts";
import type { House } from "./server.ts";
import { type End, Ending } from "./shutdown.ts";

/** The timeline is written, and watchers are told, soon after output comes but not for every piece of a flood. */
const GREW_SOON_MS = 1;
const GREW_EVERY_MS = 10;

/** One command from its request to its last descendant, whatever happens to the connection that brought it. */
export class Session {
  readonly id: string;
  readonly folder: string;
  readonly spec: LaunchSpec;
  readonly #house: House;
  readonly #order: Order;
  readonly #callers = new Set<Caller>();
  #control: Listening | null = null;
  #record: RecordFile | null = null;
  #capture: Capture | null = null;
  running: Running | null = null;
  ending: Ending | null = null;
  #startedUnixMs = Date.now();
  #startedMs = performance.now();
  #reported = false;
  #growth: NodeJS.Timeout | null = null;
  #grewLast = 0;

  constructor(house: House, order: Order) {
    this.#house = house;
    this.#order = order;
    this.spec = order.spec;
    this.id = order.spec.id;
    this.folder = house.folder(this.id);
  }

  join(caller: Caller): void {
    this.#callers.add(caller);
  }

  leave(caller: Caller): void {
    this.#callers.delete(caller);
  }

  /** Resolves when the command runs, or has failed to. */
  async begin(): Promise<void> {
    try {
      await this.#claim();
      await this.#launch();
    } catch (error) {
      const { step, errno } = error instanceof StepFailed ? error : new StepFailed("start", errnoOf(error));
      this.#conclude({ ...unstartedRecord(step), errno, startedUs: this.#startedUnixMs * 1000 });
    }
  }

  async #claim(): Promise<void> {
    attempt("claim", () => mkdirSync(this.folder, { mode: 0o700 })); // no id ever runs twice (promise 4)
    this.#record = attempt("record", () => new RecordFile(this.folder));
    attempt("record", () => noteOwner(this.folder, null));
    try {
      this.#control = await listenAt(ctlPath(this.folder), (socket) => this.#house.welcome(socket, this));
    } catch (error) {
      throw new StepFailed("control", errnoOf(error));
    }
  }

  async #launch(): Promise<void> {
    const { spec } = this;
    const log = openLog(spec, this.#order.umask);
    this.#startedUnixMs = Date.now();
    this.#startedMs = performance.now();
    this.#capture = new Capture(this.folder, spec.capture, spec.diskCap, log, this.#startedUnixMs);
    const listener = {
      took: (stream: number, bytes: Uint8Array) => this.#took(stream, bytes),
      atEnd: () => setImmediate(() => this.ending?.look()),
    };
    const running = await launch(this.#order, this.folder, this.#house.pipes, listener);
    this.running = running;
    this.ending = new Ending(running, spec, { drain: () => this.#drain(), report: (end) => this.#report(end) });
    attempt("record", () => noteOwner(this.folder, running.root));
    setTimeout(() => this.#announce(), this.#order.announceMs);
  }

  /** Everything its program has written so far is in the files. False: that cannot be known. */
  #drain(): boolean {
    return (this.running?.sources ?? []).map((source) => source.drain()).every(Boolean);
  }

  get bytes(): number[] {
    this.#drain();
    return this.#capture?.bytes ?? [];
  }

  #announce(): void {
    if (this.#reported || !this.running) return;
    this.#tell({
      ev: "started",
      pid: this.running.root.pid,
      startedUs: this.#startedUnixMs * 1000,
      gaps: [],
    });
  }

  #took(stream: number, bytes: Uint8Array): void {
    this.#capture?.store(stream, bytes);
    const wait = Math.max(GREW_SOON_MS, this.#grewLast + GREW_EVERY_MS - performance.now());
    this.#growth ??= setTimeout(() => this.#tellGrowth(), wait);
  }

  #tellGrowth(): void {
    this.#growth = null;
    this.#grewLast = performance.now();
    this.#capture?.flush();
    for (const caller of this.#callers) {
      if (caller.watching) caller.tell({ ev: "grew", bytes: this.#capture?.bytes ?? [] });
    }
  }

  #report(end: End): void {
    const { endedUnixMs, endedMs, ...how } = end;
    const notes = this.running?.notes ?? [];
    this.#conclude({
      ...how,
      pid: this.running?.root.pid ?? 0,
      core: false,
      startedUs: this.#startedUnixMs * 1000,
      endedUs: endedUnixMs * 1000,
      durationUs: Math.round((endedMs - this.#startedMs) * 1000),
      ...UNMEASURED,
      streams: this.#capture?.settle() ?? [],
      ...(notes.length > 0 ? { notes } : {}),
    });
  }

  /** On disk before anyone is told (promise 4). */
  #conclude(record: ExitRecord): void {
    this.#record?.write(record, this.spec.durable);
    const ev = this.#reported ? "ended" : "exited";
    this.#reported = true;
    this.#tell({ ev, ...record });
    if (record.final) this.#close();
  }

  #tell(event: object): void {
    for (const caller of this.#callers) caller.tell(event);
  }

  #close(): void {
    if (this.#growth) clearTimeout(this.#growth);
    for (const source of this.running?.sources ?? []) source.close();
    this.running?.feed?.close();
    this.running?.terminal?.close();
    this.#capture?.close();
    this.#record?.close();
    this.#control?.close();
    noteNobody(this.folder);
    for (const caller of this.#callers) caller.done();
    this.#callers.clear();
    this.#house.over(this);
  }
}

/** Node does not tell what a child used. Nothing runs in no memory at all, so this reads as "not known". */
const UNMEASURED = { userUs: 0, systemUs: 0, maxRssKib: 0, readBytes: 0, writeBytes: 0 };
