/** The door as a worker of a fleet uses it: commands come with their ids, and with somebody's word instead of a person. */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { watchConfig } from "../config/watch.ts";
import { SallyportError } from "../core/error.ts";
import type { RunRequest } from "../core/request.ts";
import type { Execution } from "../executor/executor.ts";
import { agentToken, checkedName } from "../fleet/subjects.ts";
import { OwnRecords } from "../session/local-sessions.ts";
import { commandRefused, statementMissing } from "../session/refusal.ts";
import { Session } from "../session/session.ts";
import type { AskedBy, SessionRow } from "../storage/sessions.ts";
import { isForbidden } from "./judge.ts";
import { furnish } from "./open.ts";
import { permitOperation } from "./operation.ts";
import type { GatewayOptions } from "./options.ts";
import type { Permit } from "./permit.ts";
import type { Case } from "./record.ts";
import type { Rooms } from "./rooms.ts";
import { type Submission, submit } from "./submit.ts";
import { permitTyped } from "./typed.ts";

interface Errand {
  id: string;
  agent: string;
  workspace: string;
  background: boolean;
  request: RunRequest;
  /** Gives who says that a person said yes, or throws what is wrong with that. */
  vouch: () => NonNullable<(Permit & { go: true })["vouched"]>;
  /** Once it is this worker's; rejected where it is another's. */
  ours: Promise<void>;
  askedBy: AskedBy;
}

const LOOK_AROUND_MS = 5000;
/** Agents and workspaces come and go; what is prepared for each is prepared again when it comes back. */
const MOST_ROOMS = 1000;

/** A gateway on a worker: its own state, its own operator's settings, and a workspace for each that is named. */
export class WorkerDoor {
  readonly #rooms: Rooms;
  readonly #workspaces: string;
  readonly #options: GatewayOptions;
  readonly #prepared = new Map<string, Rooms>();
  readonly #timer: NodeJS.Timeout;

  private constructor(rooms: Rooms, workspaces: string, options: GatewayOptions) {
    this.#rooms = rooms;
    this.#workspaces = workspaces;
    this.#options = options;
    this.#timer = setInterval(() => void rooms.registry.recover().catch(() => {}), LOOK_AROUND_MS).unref();
  }

  static async open(options: Omit<GatewayOptions, "workspace" | "fleet">, workspaces: string): Promise<WorkerDoor> {
    mkdirSync(workspaces, { recursive: true });
    // Whoever asked is told through the fleet: nothing is to be told here a second time.
    const given = { ...options, workspace: workspaces, channel: "fleet" };
    const rooms = await furnish(given, () => {}, { callbacks: false, here: true });
    await rooms.registry.recover();
    return new WorkerDoor(rooms, workspaces, given);
  }

  get state(): string {
    return this.#rooms.state;
  }

  get audit(): Rooms["audit"] {
    this.#rooms.registry.flush();
    return this.#rooms.audit;
  }

  get registry(): Rooms["registry"] {
    return this.#rooms.registry;
  }

  /** Judged, confined, recorded and launched by this machine's own settings (promises 1, 3 and 7). */
  async take(errand: Errand): Promise<Submission> {
    const { id, agent, background, vouch, ours, askedBy } = errand;
    const rooms = this.#roomsOf(agent, errand.workspace);
    const { host, labels, retry, logFile, ...rest } = errand.request;
    // A log named after its session goes into a folder that is made for it.
    const own = logFile !== undefined && basename(logFile) === `${id}.log`;
    const request = own || logFile === undefined ? rest : { ...rest, logFile };
    return submit(rooms, request, {
      id,
      background,
      ...(own ? { logFolder: dirname(logFile) } : {}),
      patienceMs: 0,
      signal: undefined,
      vouch: (that) => vouchFor(that, vouch),
      ours,
      askedBy: JSON.stringify(askedBy),
    });
  }

  /** Where a session's output is written. */
  logFolder(id: string): string {
    return join(this.#rooms.state, "sessions", id);
  }

  row(id: string): SessionRow | null {
    return this.#rooms.registry.store.get(id);
  }

  session(row: SessionRow): Session {
    const { registry, audit, channel } = this.#rooms;
    // Nobody waits here for a person: who asked elsewhere is told what is missing.
    const rooms = { ...this.#rooms, agent: row.agent, patience: { patienceMs: 0, signal: undefined } };
    return new Session(new OwnRecords(registry), row, {
      note: (entry) => audit.append({ agent: row.agent, actor: row.agent, channel, ...entry }),
      permit: (operation, session, detail) => permitOperation(rooms, operation, session, detail),
      permitTyped: (session, commands) => permitTyped(rooms, session, commands),
    });
  }

  execution(id: string): Promise<Execution | null> {
    return this.#rooms.registry.execution(id);
  }

  /** A refused or broken request is part of the story here as well. */
  note(entry: { agent: string; session: string; outcome: string; summary: string; detail: object }): void {
    this.#rooms.audit.append({ kind: "fleet", actor: "fleet", channel: "fleet", ...entry });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#rooms.executor.close();
    this.#rooms.registry.close();
    this.#rooms.database.close();
  }

  #roomsOf(agent: string, workspace: string): Rooms {
    const key = `${agent}\0${workspace}`;
    const known = this.#prepared.get(key);
    if (known) return known;
    const folder = join(this.#workspaces, folderOf(agent), checkedName("workspace", workspace));
    mkdirSync(folder, { recursive: true });
    const { policy: given = {}, configuration } = this.#options;
    const config = watchConfig({
      workspace: folder,
      given,
      ...(configuration === undefined ? {} : { operatorPath: configuration }),
    });
    const rooms: Rooms = { ...this.#rooms, agent, workspace: folder, config };
    if (this.#prepared.size >= MOST_ROOMS) this.#prepared.clear();
    this.#prepared.set(key, rooms);
    return rooms;
  }
}

/** File systems let no name be longer than 255 bytes. */
const LONGEST_NAME = 200;

/** Each agent's workspaces are in a folder of its own: nobody comes to another's files by naming them (promise 7). */
function folderOf(agent: string): string {
  const token = agentToken(agent);
  return token.length <= LONGEST_NAME ? token : `=${createHash("sha256").update(agent).digest("hex")}`;
}

/** What this machine's settings forbid stays forbidden, whoever said yes elsewhere (promise 3). */
function vouchFor({ verdict }: Case, vouch: Errand["vouch"]): Permit {
  if (isForbidden(verdict)) return { go: false, refusal: commandRefused(verdict), approvalId: null };
  if (verdict.verdict === "allow") return { go: true, approval: null, grants: [] };
  try {
    return { go: true, approval: null, grants: [], vouched: vouch() };
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error;
    return { go: false, refusal: statementMissing(verdict, error), approvalId: null };
  }
}
