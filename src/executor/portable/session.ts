import { closeSync, fdatasyncSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { LaunchSpec } from "../../core/launch.ts";
import type { ExitRecord } from "../execution.ts";
import { unstartedRecord } from "../execution.ts";
import { clearOwner, controlSocketPath, writeOwner } from "../session-owner.ts";
import { Capture } from "./capture.ts";
import { launch, type RunningCommand } from "./launch.ts";
import { errnoOf, LaunchStepError, openLog, step } from "./launch-paths.ts";
import type { LaunchRequest } from "./request.ts";
import { type End, Shutdown } from "./shutdown.ts";
import type { PipePool } from "./stdio.ts";

/** Delay before new output is reported to watching clients and added to the timeline, to combine several writes. */
const GREW_DELAY_MS = 5;
const RECORD_SIZE = 8192;

/** A gateway that follows a session. */
interface SessionClient {
  readonly watching: boolean;
  send(event: object): void;
  /** Called when the session and all of its processes have ended. */
  sessionEnded(): void;
}

/** The keeper that runs the sessions of a state folder. */
export interface SessionServer {
  readonly pipes: PipePool;
  folder(id: string): string;
  /** Accepts connections from gateways for one session. Resolves with a function that stops listening. */
  listen(path: string, session: Session): Promise<() => void>;
  addSession(session: Session): void;
  removeSession(session: Session): void;
}

/** A command, from its request to the end of its last descendant. It does not depend on any connection. */
export class Session {
  readonly id: string;
  readonly folder: string;
  readonly spec: LaunchSpec;
  readonly clients = new Set<SessionClient>();
  readonly #server: SessionServer;
  readonly #request: LaunchRequest;
  #stopListening = () => {};
  #record: ExitRecordFile | null = null;
  #capture: Capture | null = null;
  running: RunningCommand | null = null;
  shutdown: Shutdown | null = null;
  #startedUnixMs = Date.now();
  #startedMs = performance.now();
  #reported = false;
  #grewTimer: NodeJS.Timeout | null = null;

  constructor(server: SessionServer, request: LaunchRequest) {
    this.#server = server;
    this.#request = request;
    this.spec = request.spec;
    this.id = request.spec.id;
    this.folder = server.folder(this.id);
  }

  /** Starts the command. Resolves when it has started or failed to start. */
  async start(): Promise<void> {
    try {
      await this.#claim();
      await this.#launch();
    } catch (error) {
      const { step, errno } = error instanceof LaunchStepError ? error : new LaunchStepError("start", errnoOf(error));
      this.#conclude({ ...unstartedRecord(step), errno, startedUs: this.#startedUnixMs * 1000 });
    }
  }

  async #claim(): Promise<void> {
    step("claim", () => mkdirSync(this.folder, { mode: 0o700 })); // fails if the ID was used before (invariant 4)
    this.#record = step("record", () => new ExitRecordFile(this.folder, this.spec.label ?? ""));
    step("record", () => writeOwner(this.folder, null));
    try {
      this.#stopListening = await this.#server.listen(controlSocketPath(this.folder), this);
    } catch (error) {
      throw new LaunchStepError("control", errnoOf(error));
    }
  }

  async #launch(): Promise<void> {
    const { spec } = this;
    const log = openLog(spec, this.#request.umask);
    this.#startedUnixMs = Date.now();
    this.#startedMs = performance.now();
    this.#capture = new Capture(this.folder, spec.capture, spec.diskCap, log, this.#startedUnixMs);
    const listener = {
      onOutput: (stream: number, bytes: Uint8Array) => this.#store(stream, bytes),
      onEnd: () => setImmediate(() => this.shutdown?.update()),
    };
    const running = await launch(this.#request, this.folder, this.#server.pipes, listener);
    this.running = running;
    this.shutdown = new Shutdown(running, spec, { drain: () => this.#drain(), report: (end) => this.#report(end) });
    step("record", () => writeOwner(this.folder, running.root));
    setTimeout(() => this.#announce(), this.#request.announceMs);
  }

  /** Stores everything that the command has written up to now. */
  #drain(): void {
    for (const output of this.running?.outputs ?? []) output.drain();
  }

  /** The sizes of the streams in bytes. */
  get bytes(): number[] {
    this.#drain();
    return this.#capture?.bytes ?? [];
  }

  #announce(): void {
    if (this.#reported || !this.running) return;
    this.#send({ ev: "started", pid: this.running.root.pid, startedUs: this.#startedUnixMs * 1000, gaps: [] });
  }

  #store(stream: number, bytes: Uint8Array): void {
    this.#capture?.store(stream, bytes);
    this.#grewTimer ??= setTimeout(() => this.#notifyGrew(), GREW_DELAY_MS);
  }

  #notifyGrew(): void {
    this.#grewTimer = null;
    this.#capture?.flush();
    for (const client of this.clients) {
      if (client.watching) client.send({ ev: "grew", bytes: this.#capture?.bytes ?? [] });
    }
  }

  #report({ endedUnixMs, endedMs, ...end }: End): void {
    this.#conclude({
      ...end,
      pid: this.running?.root.pid ?? 0,
      core: false,
      startedUs: this.#startedUnixMs * 1000,
      endedUs: endedUnixMs * 1000,
      durationUs: Math.round((endedMs - this.#startedMs) * 1000),
      ...UNKNOWN_USAGE,
      streams: this.#capture?.finish() ?? [],
      ...(this.#capture?.streams.some(({ nuls }) => nuls > 0)
        ? { nuls: this.#capture.streams.map(({ nuls }) => nuls) }
        : {}),
    });
  }

  /** Writes the exit record before any client is notified (invariant 4). */
  #conclude(record: ExitRecord): void {
    if (this.spec.durable) this.#capture?.sync();
    this.#record?.write(record, this.spec.durable);
    const ev = this.#reported ? "ended" : "exited";
    this.#reported = true;
    this.#send({ ev, ...record });
    if (record.final) this.#close();
  }

  #send(event: object): void {
    for (const client of this.clients) client.send(event);
  }

  #close(): void {
    if (this.#grewTimer) clearTimeout(this.#grewTimer);
    for (const output of this.running?.outputs ?? []) output.close();
    this.running?.stdin?.close();
    this.#capture?.close();
    this.#record?.close();
    this.#stopListening();
    clearOwner(this.folder);
    for (const client of this.clients) client.sessionEnded();
    this.clients.clear();
    this.#server.removeSession(this);
  }
}

/** Node does not report the resource usage of a child. Readers treat 0 as unknown. */
const UNKNOWN_USAGE = { userUs: 0, systemUs: 0, maxRssKib: 0, readBytes: 0, writeBytes: 0 };

/** Writes the file `exit`. Its space is reserved before the command starts, in case the disk fills up (invariant 4). */
class ExitRecordFile {
  readonly #folder: string;
  readonly #label: string;
  #fd: number | null = null;

  /** Reserves the file. It starts with the label, which identifies a command that never gets a record. */
  constructor(folder: string, label: string) {
    this.#folder = folder;
    this.#label = label;
    this.#reserve();
  }

  /** Writes the record. Errors are ignored, because connected gateways get the record in any case. */
  write(record: ExitRecord, durable: boolean): void {
    const text = Buffer.from(`${JSON.stringify(record)}\n${this.#label}\n`.padEnd(RECORD_SIZE - 1).concat("\n"));
    try {
      if (this.#fd === null) this.#reserve();
      if (this.#fd === null) return;
      writeSync(this.#fd, text, 0, text.length, 0);
      if (durable) fdatasyncSync(this.#fd);
      this.close();
      renameSync(join(this.#folder, "exit.new"), join(this.#folder, "exit"));
      if (durable) for (const folder of [this.#folder, dirname(this.#folder)]) syncFolder(folder);
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
      const text = Buffer.from(this.#label.padEnd(RECORD_SIZE));
      writeSync(this.#fd, text, 0, text.length, 0);
    } catch {
      // The disk is full. There may be space when the record is written.
    }
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
