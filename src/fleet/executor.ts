import { relative } from "node:path";
import { isOverdue } from "../core/clock.ts";
import type { LaunchSpec, Origin } from "../core/launch.ts";
import type { RunRequest } from "../core/request.ts";
import type { FleetGatewayOptions } from "../core/settings.ts";
import type { Execution, ExitOutcome } from "../executor/execution.ts";
import type { Abilities, Executor, LiveSession, SessionRef, Slot } from "../executor/executor.ts";
import type { SessionData } from "../executor/session-data.ts";
import { signApproval } from "./attestation.ts";
import { FleetClient } from "./client.ts";
import { FleetData, type SessionSnapshot } from "./data.ts";
import { FleetExecution } from "./execution.ts";
import { type SigningKey, signingKey } from "./keys.ts";
import { LogArchive } from "./log-archive.ts";
import { FleetPeerSessions } from "./peer-sessions.ts";
import { workspaceName } from "./placement.ts";
import { ResendStore } from "./resend-store.ts";
import { validateName } from "./subjects.ts";
import { approvedRequest, type JobMessage, WIRE_VERSION } from "./wire.ts";

const CLAIM_TIMEOUT_MS = 600_000;
const POLL_MS = 2000;
/** Maximum number of rows that a listing refreshes from the registry. The others show their last known state. */
const MAX_LEARNED = 500;
/** How long a listing waits until the exit of an ended session has been published. */
const LEARN_TIMEOUT_MS = 3000;

/** Runs commands on the machines of a fleet. */
export class FleetExecutor implements Executor {
  readonly abilities: Abilities = {
    kind: "fleet",
    confines: true,
    survives: true,
    exactTrees: true,
    limits: true,
    pty: true,
    remote: true,
  };
  readonly #options: FleetGatewayOptions;
  readonly #state: string;
  readonly #executions = new Map<string, FleetExecution>();
  readonly #endings = new Map<string, ExitOutcome>();
  readonly #snapshots = new Map<string, SessionSnapshot>();
  readonly #archive: LogArchive;
  readonly #resendStore: ResendStore;
  readonly peerSessions: FleetPeerSessions;
  #client: Promise<FleetClient> | null = null;
  #key: SigningKey | null = null;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(state: string, options: FleetGatewayOptions) {
    this.#state = state;
    this.#options = options;
    this.#archive = new LogArchive(state);
    this.#resendStore = new ResendStore(state);
    const refreshSnapshot = (session: SessionRef) => new FleetData(session, this.#dataContext).refreshSnapshot();
    this.peerSessions = new FleetPeerSessions(
      () => this.#connected(),
      () => this.#stateId,
      refreshSnapshot,
    );
  }

  async prepare(): Promise<Slot> {
    const client = await this.#connected();
    return {
      keeperPid: process.pid,
      launch: (spec) => {
        const message = this.#jobMessage(client, spec);
        this.#resendStore.save(message);
        const execution = this.#follow(
          new FleetExecution(client, this.#resendStore, message, message, this.#claimTimeoutMs),
        );
        void execution.send();
        return execution;
      },
      cancel: () => {},
    };
  }

  async attach(session: LiveSession): Promise<Execution | null> {
    const client = await this.#connected();
    const current = await client.registry.read(session.agent, session.id);
    if (!current) return this.#unclaimed(client, session);
    const execution = this.#follow(
      new FleetExecution(client, this.#resendStore, sessionRef(session), null, this.#claimTimeoutMs),
    );
    await execution.applyEntry(current).catch(() => {}); // the worker does not respond, but its heartbeat is watched
    return execution;
  }

  /**
   * Handles a session without a registry entry: it is still queued, or its gateway was killed before the job was
   * published. It is abandoned after the claim timeout.
   */
  async #unclaimed(client: FleetClient, session: LiveSession): Promise<Execution | null> {
    if (!isOverdue(session.created_ms, this.#claimTimeoutMs)) return null;
    const execution = this.#follow(new FleetExecution(client, this.#resendStore, sessionRef(session), null, 0));
    await execution.poll();
    return execution;
  }

  async refresh(live: () => LiveSession[]): Promise<void> {
    const rows = live().slice(0, MAX_LEARNED);
    if (rows.length === 0) return;
    const client = await this.#connected();
    await Promise.all(rows.map((row) => this.#learnOne(client, row).catch(() => {})));
  }

  async #learnOne(client: FleetClient, session: LiveSession): Promise<void> {
    const { id, agent } = session;
    const current = await client.registry.read(agent, id);
    if (current?.entry.state === "claimed") {
      await new FleetData(
        { id, agent, capture: "merged", host: current.entry.host },
        this.#dataContext,
      ).refreshSnapshot();
    } else if (current && current.entry.state !== "open") {
      const execution = new FleetExecution(client, this.#resendStore, sessionRef(session), null, this.#claimTimeoutMs);
      // A background session counts as ended only after its exit was published, which may take a while.
      const timer = setTimeout(() => execution.release(), LEARN_TIMEOUT_MS);
      await execution.applyEntry(current);
      const ending = await execution.exited;
      clearTimeout(timer);
      if (ending !== "detached") this.#endings.set(id, ending);
    }
  }

  /** Returns the exit found by `refresh`. It is kept as long as the session, because a full disk can delay its row. */
  lookUpExit({ id }: LiveSession): ExitOutcome | null {
    return this.#endings.get(id) ?? null;
  }

  data(session: SessionRef): SessionData {
    return new FleetData(session, this.#dataContext);
  }

  remove(id: string): void {
    this.#endings.delete(id);
    this.#snapshots.delete(id);
    this.#archive.remove(id);
    this.#resendStore.delete(id);
  }

  /** Removes archived logs, the only data of a session that is stored on this machine. */
  removeOutput(id: string): void {
    this.#archive.remove(id);
  }

  /** The workers have the data of sessions, and their own records. */
  unknownSessions(): [] {
    return [];
  }

  repairOutput(): null {
    return null;
  }

  removeStrays(): void {}

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearInterval(this.#timer);
    for (const execution of this.#executions.values()) execution.release();
    this.#executions.clear();
    this.peerSessions.close();
    const client = await this.#client?.catch(() => null);
    await client?.close();
  }

  get #claimTimeoutMs(): number {
    return this.#options.claimWithinMs ?? CLAIM_TIMEOUT_MS;
  }

  get #dataContext() {
    return {
      client: () => this.#connected(),
      execution: (id: string) => this.#executions.get(id),
      snapshots: this.#snapshots,
      archived: async (session: SessionRef) => this.#archive.fetch((await this.#connected()).connection, session),
    };
  }

  /** Returns the client, and connects on first use: reading rows requires no connection. */
  #connected(): Promise<FleetClient> {
    this.#client ??= this.#connect();
    return this.#client;
  }

  async #connect(): Promise<FleetClient> {
    try {
      const client = await FleetClient.open(this.#options);
      const refreshAll = () => {
        for (const execution of this.#executions.values()) void execution.refresh();
      };
      client.listen((event, from) => this.#executions.get(event.id)?.onEvent(event, from), refreshAll);
      this.#timer = setInterval(() => {
        for (const execution of this.#executions.values()) void execution.poll();
      }, POLL_MS).unref();
      return client;
    } catch (error) {
      this.#client = null; // the next call tries again
      throw error;
    }
  }

  #follow(execution: FleetExecution): FleetExecution {
    if (this.#closed) execution.release();
    else this.#executions.set(execution.id, execution);
    void execution.ended.then(() => {
      if (this.#executions.get(execution.id) === execution) this.#executions.delete(execution.id);
    });
    return execution;
  }

  get #signingKey(): SigningKey {
    this.#key ??= signingKey(this.#state);
    return this.#key;
  }

  /** An ID of this state folder, derived from its signing key. */
  get #stateId(): string {
    return this.#signingKey.public.slice(this.#signingKey.public.indexOf(":") + 1);
  }

  #jobMessage(client: FleetClient, spec: LaunchSpec): JobMessage {
    const origin = originOf(spec);
    const { workspace, sticky = true } = this.#options;
    const message: JobMessage = {
      version: WIRE_VERSION,
      id: spec.id,
      attempt: 1,
      agent: origin.agent,
      to: client.address,
      workspace: {
        name:
          workspace === undefined
            ? workspaceName(client.connection.name, origin.workspace)
            : validateName("workspace", workspace),
        sticky,
      },
      background: spec.background,
      from: { home: this.#stateId, name: origin.name },
      request: portableRequest(spec, origin),
      statement: null,
      sentMs: Date.now(),
    };
    if (origin.approval) {
      message.statement = signApproval(this.#signingKey, approvedRequest(message), origin.approval);
    }
    return message;
  }
}

function sessionRef({ id, agent, background }: LiveSession): { id: string; agent: string; background: boolean } {
  return { id, agent, background: background === 1 };
}

function originOf({ origin }: LaunchSpec): Origin {
  if (!origin) throw new TypeError("the fleet executor requires the origin of a launch");
  return origin;
}

/** Returns the request as sent to a worker: with resolved settings, and with paths relative to the workspace. */
function portableRequest(spec: LaunchSpec, { request, workspace }: Origin): RunRequest {
  const { name, logFile, cwd, pty, size, capture, ...rest } = request;
  const within = (path: string) => {
    const short = relative(workspace, path);
    return short.startsWith("..") ? path : short || ".";
  };
  return {
    ...rest,
    timeoutMs: spec.timeoutMs,
    ...(cwd === undefined ? {} : { cwd: within(spec.cwd) }),
    ...(spec.logFile === null ? {} : { logFile: within(spec.logFile) }),
    ...(spec.pty === null ? { capture: spec.capture } : { pty: true, size: spec.pty }),
  };
}
