import { randomBytes } from "node:crypto";
import { cpus, loadavg } from "node:os";
import { AckPolicy } from "@nats-io/jetstream";
import type { Msg } from "@nats-io/transport-node";
import { SallyportError } from "../core/error.ts";
import type { FleetOptions } from "../core/settings.ts";
import { packageVersion } from "../core/version.ts";
import { type FleetConnection, openConnection, withRetry } from "../fleet/connection.ts";
import { fleetNotReady } from "../fleet/errors.ts";
import { TrustedKeys } from "../fleet/keys.ts";
import { archiveLogs } from "../fleet/log-archive.ts";
import { FleetRegistry } from "../fleet/registry.ts";
import { ensureStores, WORKER_TTL_MS } from "../fleet/streams.ts";
import { agentToken, consumerName, inboxPrefix, type Place } from "../fleet/subjects.ts";
import {
  type ControlRequest,
  type JobMessage,
  parseJson,
  type RegistryEntry,
  type SessionEvent,
  WIRE_VERSION,
  type WorkerInfo,
} from "../fleet/wire.ts";
import type { GatewayOptions } from "../gateway/options.ts";
import type { Submission } from "../gateway/submit.ts";
import { WorkerGateway } from "../gateway/worker-gateway.ts";
import type { SessionRow } from "../storage/sessions.ts";
import { acceptJob, type JobContext } from "./accept-job.ts";
import { type Claim, Claims } from "./claims.ts";
import { ControlServer } from "./control.ts";
import { Job } from "./job.ts";
import { nak, Puller } from "./puller.ts";
import { Reporter, refusedOutcome } from "./reports.ts";

/** The value of the key `drain.<host>` of a drained worker. */
const DRAINED = "yes";

/** Returns the operation that an operator requests, or null when the message is not a valid command. */
function parseDrainCommand(message: Msg): "drain" | "return" | null {
  const operation = message.subject.slice(message.subject.lastIndexOf(".") + 1);
  // A member can make a server deliver other messages here by naming this subject as the reply subject.
  const { order } = (parseJson(message) ?? {}) as { order?: unknown };
  if (order !== operation || !message.reply?.startsWith("_INBOX.")) return null;
  return operation === "drain" || operation === "return" ? operation : null;
}

export interface WorkerOptions extends Pick<GatewayOptions, "state" | "policy" | "configuration"> {
  fleet: FleetOptions;
  labels?: Record<string, string>;
  /** Maximum number of concurrent commands. Default: 4 per processor. */
  slots?: number;
  /** The folder in which workspaces are created. */
  workspaces: string;
  /** Whether to archive logs on the servers when a session ends, so that they outlive this machine. */
  shipLogs?: boolean;
  /** Number of servers that store each stream and bucket. Default: 3 in a cluster, otherwise 1. */
  replicas?: number | null;
}

const HEARTBEAT_MS = 2000;
/** How long a starting worker waits until the servers are ready. */
const START_MS = 30_000;
const ACK_WAIT_MS = 10_000;
const NS = 1_000_000;
const RENEW_EVERY_MS = 3_600_000;
/** Default slots per processor: most commands of agents spend their time waiting, so processors are shared. */
const SLOTS_PER_CPU = 4;
const newBootId = () => randomBytes(8).toString("hex");

/** A machine of a fleet: accepts jobs while it has free slots, and serves requests about its sessions. */
export class Worker implements JobContext {
  readonly host: string;
  readonly connection: FleetConnection;
  readonly fleetRegistry: FleetRegistry;
  readonly gateway: WorkerGateway;
  readonly trusted: TrustedKeys;
  readonly #options: WorkerOptions;
  readonly #slots: number;
  #boot = newBootId();
  readonly #startedMs = Date.now();
  readonly #claims: Claims;
  readonly #reporter: Reporter;
  readonly #control: ControlServer;
  readonly #jobs = new Map<string, Job>();
  #pullers: Puller[] = [];
  readonly #accepting = new Set<string>();
  #acceptingCount = 0;
  #lastHeartbeatMs = Date.now();
  #draining = false;
  #heartbeatTimer: NodeJS.Timeout | null = null;
  #renewalTimer: NodeJS.Timeout | null = null;

  private constructor(connection: FleetConnection, gateway: WorkerGateway, options: WorkerOptions) {
    this.connection = connection;
    this.host = connection.name;
    this.gateway = gateway;
    this.fleetRegistry = new FleetRegistry(connection.sessions);
    this.trusted = new TrustedKeys(gateway.state);
    this.#options = options;
    this.#slots = options.slots ?? SLOTS_PER_CPU * cpus().length;
    this.#claims = new Claims(gateway.state);
    this.#reporter = new Reporter(connection, this.fleetRegistry, this.host);
    this.#control = new ControlServer(connection, gateway, this.host, {
      watch: (row, request) => this.#watch(row, request),
    });
  }

  static async start(options: WorkerOptions): Promise<Worker> {
    const { fleet, workspaces, labels, slots, shipLogs, replicas, ...rest } = options;
    const connection = await openConnection(fleet, "worker");
    try {
      // Servers that were just started may not have elected a leader.
      await withRetry(() => ensureStores(connection.nc, connection.fleet, { replicas: replicas ?? null }), START_MS);
      const worker = new Worker(connection, await WorkerGateway.open(rest, workspaces), options);
      await worker.#startUp();
      return worker;
    } catch (error) {
      await connection.nc.close();
      if (error instanceof SallyportError) throw error;
      throw new SallyportError("FleetUnreachable", ...fleetNotReady(fleet.servers, (error as Error).message));
    }
  }

  /** The number of sessions whose main process is running. */
  get running(): number {
    return [...this.#jobs.values()].filter((job) => job.holdsSlot).length;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** Stops the worker. Its commands keep running under their keepers, and the next worker on this host resumes them. */
  async close(): Promise<void> {
    if (this.#heartbeatTimer) clearInterval(this.#heartbeatTimer);
    if (this.#renewalTimer) clearInterval(this.#renewalTimer);
    for (const puller of this.#pullers) puller.stop();
    this.#control.close();
    for (const job of this.#jobs.values()) job.detach();
    await this.connection.workers.delete(this.host).catch(() => {});
    await this.connection.nc.drain().catch(() => {});
    await this.gateway.close();
    this.#claims.close();
  }

  lock(local: string): boolean {
    if (this.#accepting.has(local)) return false;
    this.#accepting.add(local);
    return true;
  }

  unlock(local: string): void {
    this.#accepting.delete(local);
  }

  readonly ownerOf = (local: string): string | null =>
    this.#jobs.get(local)?.claim.agent ?? this.gateway.registry.ownerOf(local);

  recordClaim(claim: Claim): void {
    this.#claims.took(claim);
  }

  launched(claim: Claim, submission: Submission): void {
    const job = this.#addJob(claim);
    if (submission.execution) job.track(submission.execution, submission.session, submission.name);
    else void job.reportEnd(refusedOutcome(submission.refusal));
  }

  failed(claim: Claim, { type, message, recovery }: SallyportError): void {
    void this.#addJob(claim).reportEnd(refusedOutcome({ status: "failed", error: { type, message, recovery } }));
  }

  redirect({ id, agent, attempt, to }: JobMessage, host: string): void {
    this.#reporter.sendEvent([to], { kind: "elsewhere", id, agent, attempt, host });
  }

  async #startUp(): Promise<void> {
    await withRetry(() => this.#loadDrainState(), START_MS);
    await withRetry(() => this.#heartbeat(), START_MS);
    await this.#recoverClaims();
    const places: Place[] = [
      "any",
      { host: this.host },
      ...Object.entries(this.#options.labels ?? {}).map((label): Place => ({ label })),
    ];
    for (const place of places) await withRetry(() => this.#addPuller(place), START_MS);
    this.#heartbeatTimer = setInterval(() => void this.#heartbeat().catch(() => {}), HEARTBEAT_MS);
    this.#renewalTimer = setInterval(() => void this.#renewClaims(), RENEW_EVERY_MS).unref();
    this.connection.nc.subscribe(`sp.${this.connection.fleet}.node.${this.host}.*`, {
      callback: (error, message) => {
        if (!error) void this.#onDrainCommand(message);
      },
    });
    void this.#watchConnection();
    this.#pullAll();
  }

  async #addPuller(place: Place): Promise<void> {
    const { nc, js, subjects, stores, fleet } = this.connection;
    const consumer = consumerName(place);
    const manager = await js.jetstreamManager(false);
    await manager.consumers.add(stores.work, {
      durable_name: consumer,
      filter_subject: subjects.work(place, "*").replace(agentToken("*"), "*"),
      ack_policy: AckPolicy.Explicit,
      ack_wait: ACK_WAIT_MS * NS,
      max_ack_pending: 100_000,
      max_waiting: 10_000,
    });
    const from = { stream: stores.work, consumer, inbox: inboxPrefix(fleet, "worker", this.host) };
    this.#pullers.push(
      new Puller(
        nc,
        from,
        () => this.#free,
        (message) => void this.#accept(message),
      ),
    );
  }

  get #free(): number {
    return this.#draining || this.#claims.trouble !== null
      ? 0
      : Math.max(0, this.#slots - this.running - this.#acceptingCount);
  }

  #pullAll(): void {
    for (const puller of this.#pullers) puller.pull();
  }

  async #accept(message: Msg): Promise<void> {
    // Each queue requests jobs for all free slots, so more jobs may arrive than fit.
    if (this.#free <= 0) return nak(message, this.#claims.trouble === null ? 0 : HEARTBEAT_MS);
    this.#acceptingCount++;
    try {
      await acceptJob(this, message);
    } catch {
      nak(message, HEARTBEAT_MS); // nothing was claimed, or the orphaned claim is found on redelivery
    } finally {
      this.#acceptingCount--;
      this.#pullAll();
    }
  }

  #addJob(claim: Claim): Job {
    const job = new Job(claim, this.#reporter, this.gateway, {
      finished: () => {
        this.#jobs.delete(claim.local);
        void this.#closeClaim(claim);
      },
      slotFreed: () => this.#pullAll(),
    });
    this.#jobs.set(claim.local, job);
    return job;
  }

  /** Archives the logs and closes the claim. If that fails, the next worker on this host closes it. */
  async #closeClaim({ id, agent, local }: Claim): Promise<void> {
    try {
      if (this.#options.shipLogs) await archiveLogs(this.connection, { id, agent }, this.gateway.logFolder(local));
      this.#claims.done(local);
    } catch {
      // The servers did not respond.
    }
  }

  /** Resumes the claims of the previous worker on this host, whose keepers are still running. */
  async #recoverClaims(): Promise<void> {
    for (const claim of this.#claims.load()) await this.#recoverWithRetry(claim, this.#addJob(claim));
  }

  /** Recovers a claim, and retries in the background, so that a failure does not prevent the worker from starting. */
  async #recoverWithRetry(claim: Claim, job: Job): Promise<void> {
    try {
      await this.#recover(claim, job);
    } catch {
      if (this.connection.nc.isClosed()) return;
      setTimeout(() => void this.#recoverWithRetry(claim, job), ACK_WAIT_MS).unref();
    }
  }

  async #recover(claim: Claim, job: Job): Promise<void> {
    const row = this.gateway.row(claim.local);
    const current = await this.fleetRegistry.read(claim.agent, claim.id);
    const ours = !current || (current.entry.state === "claimed" && current.entry.claim === claim.entry.claim);
    if (current?.entry.state === "ended" && current.entry.claim === claim.entry.claim) void job.complete(current.entry);
    else if (!ours) await job.supersede();
    else if (row) {
      if (!current) await job.verifyClaim(this.fleetRegistry);
      await job.resume(row);
    }
    // Without a row no command was launched, so other workers may claim the session.
    else {
      const open: RegistryEntry = { ...claim.entry, state: "open", host: null };
      if (current) await this.fleetRegistry.update(claim.agent, claim.id, open, current.revision);
      job.release();
    }
  }

  async #watch(row: SessionRow, { id, to, args }: ControlRequest): Promise<SessionEvent | null> {
    const job = this.#jobs.get(row.id);
    if (job) return job.watch(to, (args as { growth?: boolean } | undefined)?.growth === true);
    const current = await this.fleetRegistry.read(row.agent, id);
    if (!current?.entry.record || !current.entry.account) return null;
    const { attempt, record, account } = current.entry;
    return { kind: "exited", id, agent: row.agent, attempt, host: this.host, record, account };
  }

  async #heartbeat(): Promise<void> {
    if (this.#claims.recheck()) this.#pullAll();
    const info: WorkerInfo = {
      version: WIRE_VERSION,
      release: packageVersion(),
      host: this.host,
      boot: this.#boot,
      labels: this.#options.labels ?? {},
      slots: this.#slots,
      free: this.#free,
      running: this.running,
      load: loadavg()[0] ?? 0,
      draining: this.#draining,
      trouble: this.#claims.trouble,
      startedMs: this.#startedMs,
      atMs: Date.now(),
    };
    await this.connection.workers.put(this.host, JSON.stringify(info));
    const silentMs = Date.now() - this.#lastHeartbeatMs;
    this.#lastHeartbeatMs = Date.now();
    // The process was suspended or disconnected, so gateways may have assigned its jobs to other workers.
    if (silentMs > WORKER_TTL_MS) this.#verifyClaims();
  }

  async #renewClaims(): Promise<void> {
    for (const job of [...this.#jobs.values()]) await job.renew(this.fleetRegistry).catch(() => {});
  }

  #verifyClaims(): void {
    for (const job of this.#jobs.values()) void job.verifyClaim(this.fleetRegistry).catch(() => {});
  }

  async #onDrainCommand(message: Msg): Promise<void> {
    const operation = parseDrainCommand(message);
    if (!operation) return;
    const key = `drain.${this.host}`;
    if (operation === "drain") await this.connection.places.put(key, DRAINED);
    else await this.connection.places.delete(key);
    await this.#loadDrainState();
    await this.#heartbeat();
    message.respond(operation === "drain" ? "draining" : "taking work");
    this.#pullAll();
  }

  async #loadDrainState(): Promise<void> {
    this.#draining = (await this.connection.places.get(`drain.${this.host}`))?.string() === DRAINED;
  }

  /** Repeats pull requests and verifies claims after a reconnect: gateways may have assigned jobs to other workers. */
  async #watchConnection(): Promise<void> {
    for await (const { type } of this.connection.nc.status()) {
      if (type !== "reconnect") continue;
      this.#boot = newBootId(); // events may have been lost, and a new boot ID makes gateways read the registry
      await this.#heartbeat().catch(() => {});
      for (const puller of this.#pullers) puller.restart();
      this.#verifyClaims();
    }
  }
}
