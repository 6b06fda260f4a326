import { randomBytes } from "node:crypto";
import { cpus, loadavg } from "node:os";
import { AckPolicy } from "@nats-io/jetstream";
import type { Msg } from "@nats-io/transport-node";
import { SallyportError } from "../core/error.ts";
import type { FleetOptions } from "../core/settings.ts";
import { packageVersion } from "../core/version.ts";
import { insist, type Link, openLink } from "../fleet/connection.ts";
import { fleetNotReady } from "../fleet/errors.ts";
import { TrustedKeys } from "../fleet/keys.ts";
import { storeLogs } from "../fleet/log-archive.ts";
import { Book } from "../fleet/registry.ts";
import { openStores, WORKER_TTL_MS } from "../fleet/streams.ts";
import { agentToken, consumerOf, inboxOf, type Place } from "../fleet/subjects.ts";
import { type Ask, type Entry, type JobMessage, type News, WIRE_VERSION, type WorkerInfo } from "../fleet/wire.ts";
import type { GatewayOptions } from "../gateway/options.ts";
import type { Submission } from "../gateway/submit.ts";
import { WorkerGateway } from "../gateway/worker-gateway.ts";
import type { SessionRow } from "../storage/sessions.ts";
import { type Post, takeWork } from "./accept-job.ts";
import { type Claim, Claims } from "./claims.ts";
import { Control } from "./control.ts";
import { Charge } from "./job.ts";
import { giveBack, Puller } from "./puller.ts";
import { Reports, refusedOutcome } from "./reports.ts";
/** What stands in the place of a worker that is to take no work. */
export const DRAINED = "yes";
/** What an operator wants of this worker. Null: nobody can have meant that. */
export function orderIn(message: Msg): "drain" | "return" | null {
  const operation = message.subject.slice(message.subject.lastIndexOf(".") + 1);
  // A server's own answers can be made to come here by whoever names this subject as where they should go.
  const meant = saysSo(message, operation) && message.reply?.startsWith("_INBOX.");
  return meant && (operation === "drain" || operation === "return") ? operation : null;
}

function saysSo(message: Msg, operation: string): boolean {
  try {
    return message.json<{ order?: unknown }>().order === operation;
  } catch {
    return false;
  }
}

export interface WorkerOptions extends Pick<GatewayOptions, "state" | "policy" | "configuration"> {
  fleet: FleetOptions;
  labels?: Record<string, string>;
  /** Commands at a time; default four for each processor. */
  slots?: number;
  /** Where the folders of workspaces are made. */
  workspaces: string;
  /** Put logs by on the servers when a session ends, so that they outlive this machine. */
  shipLogs?: boolean;
  /** On how many servers what is kept there is; null: three where there are three. */
  replicas?: number | null;
}

const HEARTBEAT_MS = 2000;
/** So long may the servers take to be ready for a worker that starts. */
const START_MS = 30_000;
const ACK_WAIT_MS = 10_000;
const NS = 1_000_000;
const RENEW_EVERY_MS = 3_600_000;
/** Enough for commands that mostly wait, as most of an agent's do. */
const SLOTS_PER_CPU = 4;
const newBoot = () => randomBytes(8).toString("hex");

/** A machine of a fleet: takes work as long as it has free slots, and answers for the sessions it has. */
export class Worker implements Post {
  readonly host: string;
  readonly link: Link;
  readonly book: Book;
  readonly door: WorkerGateway;
  readonly trusted: TrustedKeys;
  readonly #options: WorkerOptions;
  readonly #slots: number;
  #boot = newBoot();
  readonly #startedMs = Date.now();
  readonly #claims: Claims;
  readonly #reports: Reports;
  readonly #control: Control;
  readonly #charges = new Map<string, Charge>();
  #pullers: Puller[] = [];
  readonly #begun = new Set<string>();
  #taking = 0;
  #lastBeatMs = Date.now();
  #draining = false;
  #heart: NodeJS.Timeout | null = null;
  #renewal: NodeJS.Timeout | null = null;

  private constructor(link: Link, door: WorkerGateway, options: WorkerOptions) {
    this.link = link;
    this.host = link.name;
    this.door = door;
    this.book = new Book(link.sessions);
    this.trusted = new TrustedKeys(door.state);
    this.#options = options;
    this.#slots = options.slots ?? SLOTS_PER_CPU * cpus().length;
    this.#claims = new Claims(door.state);
    this.#reports = new Reports(link, this.book, this.host);
    this.#control = new Control(link, door, this.host, { watch: (row, ask) => this.#watch(row, ask) });
  }

  static async start(options: WorkerOptions): Promise<Worker> {
    const { fleet, workspaces, labels, slots, shipLogs, replicas, ...rest } = options;
    const link = await openLink(fleet, "worker");
    try {
      // Servers that have just been started have no leader yet.
      await insist(() => openStores(link.nc, link.fleet, { replicas: replicas ?? null }), START_MS);
      const worker = new Worker(link, await WorkerGateway.open(rest, workspaces), options);
      await worker.#begin();
      return worker;
    } catch (error) {
      await link.nc.close();
      if (error instanceof SallyportError) throw error;
      throw new SallyportError("FleetUnreachable", ...fleetNotReady(fleet.servers, (error as Error).message));
    }
  }

  /** Sessions whose main process runs. */
  get running(): number {
    return [...this.#charges.values()].filter((charge) => charge.holdsSlot).length;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** Ends nothing: keepers go on, and whoever starts here next finds them. */
  async close(): Promise<void> {
    if (this.#heart) clearInterval(this.#heart);
    if (this.#renewal) clearInterval(this.#renewal);
    for (const puller of this.#pullers) puller.stop();
    this.#control.close();
    for (const charge of this.#charges.values()) charge.letGo();
    await this.link.workers.delete(this.host).catch(() => {});
    await this.link.nc.drain().catch(() => {});
    await this.door.close();
    this.#claims.close();
  }

  begin(local: string): boolean {
    if (this.#begun.has(local)) return false;
    this.#begun.add(local);
    return true;
  }

  done(local: string): void {
    this.#begun.delete(local);
  }

  readonly ownerOf = (local: string): string | null =>
    this.#charges.get(local)?.claim.agent ?? this.door.registry.ownerOf(local);

  took(claim: Claim): void {
    this.#claims.took(claim);
  }

  launched(claim: Claim, submission: Submission): void {
    const charge = this.#charge(claim);
    if (submission.execution) charge.follow(submission.execution, submission.session, submission.name);
    else void charge.settle(refusedOutcome(submission.refusal));
  }

  failed(claim: Claim, { type, message, recovery }: SallyportError): void {
    void this.#charge(claim).settle(refusedOutcome({ status: "failed", error: { type, message, recovery } }));
  }

  elsewhere({ id, agent, attempt, to }: JobMessage, host: string): void {
    this.#reports.news([to], { kind: "elsewhere", id, agent, attempt, host });
  }

  async #begin(): Promise<void> {
    await insist(() => this.#lookAtDrain(), START_MS);
    await insist(() => this.#beat(), START_MS);
    await this.#takeUpAgain();
    const places: Place[] = [
      "any",
      { host: this.host },
      ...Object.entries(this.#options.labels ?? {}).map((label): Place => ({ label })),
    ];
    for (const place of places) await insist(() => this.#addPuller(place), START_MS);
    this.#heart = setInterval(() => void this.#beat().catch(() => {}), HEARTBEAT_MS);
    this.#renewal = setInterval(() => void this.#renew(), RENEW_EVERY_MS).unref();
    this.link.nc.subscribe(`sp.${this.link.fleet}.node.${this.host}.*`, {
      callback: (error, message) => {
        if (!error) void this.#order(message);
      },
    });
    void this.#watchLine();
    this.#pullAll();
  }

  async #addPuller(place: Place): Promise<void> {
    const { nc, js, subjects, stores, fleet } = this.link;
    const consumer = consumerOf(place);
    const manager = await js.jetstreamManager(false);
    await manager.consumers.add(stores.work, {
      durable_name: consumer,
      filter_subject: subjects.work(place, "*").replace(agentToken("*"), "*"),
      ack_policy: AckPolicy.Explicit,
      ack_wait: ACK_WAIT_MS * NS,
      max_ack_pending: 100_000,
      max_waiting: 10_000,
    });
    const from = { stream: stores.work, consumer, inbox: inboxOf(fleet, "worker", this.host) };
    this.#pullers.push(
      new Puller(
        nc,
        from,
        () => this.#free,
        (message) => void this.#take(message),
      ),
    );
  }

  get #free(): number {
    return this.#draining || this.#claims.trouble !== null ? 0 : Math.max(0, this.#slots - this.running - this.#taking);
  }

  #pullAll(): void {
    for (const puller of this.#pullers) puller.pull();
  }

  async #take(message: Msg): Promise<void> {
    // Several queues may each have filled the same slot.
    if (this.#free <= 0) return giveBack(message, this.#claims.trouble === null ? 0 : HEARTBEAT_MS);
    this.#taking++;
    try {
      await takeWork(this, message);
    } catch {
      giveBack(message, HEARTBEAT_MS); // the servers gave no answer: nothing is claimed, or it is found to be ours
    } finally {
      this.#taking--;
      this.#pullAll();
    }
  }

  #charge(claim: Claim): Charge {
    const charge = new Charge(claim, this.#reports, this.door, {
      over: () => {
        this.#charges.delete(claim.local);
        void this.#close(claim);
      },
      slotFree: () => this.#pullAll(),
    });
    this.#charges.set(claim.local, charge);
    return charge;
  }

  /** What is left to do with one that has ended is done by whoever starts here next, if need be. */
  async #close({ id, agent, local }: Claim): Promise<void> {
    try {
      if (this.#options.shipLogs) await storeLogs(this.link, { id, agent }, this.door.logFolder(local));
      this.#claims.done(local);
    } catch {
      // the servers gave no answer
    }
  }

  /** What this host had when its worker was last here: the keepers went on, and so does what is told of them. */
  async #takeUpAgain(): Promise<void> {
    for (const claim of this.#claims.open()) await this.#takeUpSurely(claim, this.#charge(claim));
  }

  /** One that cannot be taken up now keeps no worker from starting. */
  async #takeUpSurely(claim: Claim, charge: Charge): Promise<void> {
    try {
      await this.#takeUp(claim, charge);
    } catch {
      if (this.link.nc.isClosed()) return;
      setTimeout(() => void this.#takeUpSurely(claim, charge), ACK_WAIT_MS).unref();
    }
  }

  async #takeUp(claim: Claim, charge: Charge): Promise<void> {
    const row = this.door.row(claim.local);
    const seen = await this.book.read(claim.agent, claim.id);
    const ours = !seen || (seen.entry.state === "claimed" && seen.entry.claim === claim.entry.claim);
    if (seen?.entry.state === "ended" && seen.entry.claim === claim.entry.claim) void charge.complete(seen.entry);
    else if (!ours) await charge.supersede();
    else if (row) {
      if (!seen) await charge.checkClaim(this.book);
      await charge.resume(row);
    }
    // Certain: its row comes before its launch. Somebody else may have it.
    else {
      const open: Entry = { ...claim.entry, state: "open", host: null };
      if (seen) await this.book.change(claim.agent, claim.id, open, seen.revision);
      charge.forget();
    }
  }

  async #watch(row: SessionRow, { id, to, args }: Ask): Promise<News | null> {
    const charge = this.#charges.get(row.id);
    if (charge) return charge.watch(to, (args as { growth?: boolean } | undefined)?.growth === true);
    const seen = await this.book.read(row.agent, id);
    if (!seen?.entry.record || !seen.entry.account) return null;
    const { attempt, record, account } = seen.entry;
    return { kind: "exited", id, agent: row.agent, attempt, host: this.host, record, account };
  }

  async #beat(): Promise<void> {
    if (this.#claims.mend()) this.#pullAll();
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
    await this.link.workers.put(this.host, JSON.stringify(info));
    const silentMs = Date.now() - this.#lastBeatMs;
    this.#lastBeatMs = Date.now();
    // Stopped, swapped out or cut off: who took us for gone may have given our work to others.
    if (silentMs > WORKER_TTL_MS) this.#checkClaims();
  }

  async #renew(): Promise<void> {
    for (const charge of [...this.#charges.values()]) await charge.renew(this.book).catch(() => {});
  }

  #checkClaims(): void {
    for (const charge of this.#charges.values()) void charge.checkClaim(this.book).catch(() => {});
  }

  async #order(message: Msg): Promise<void> {
    const operation = orderIn(message);
    if (!operation) return;
    const key = `drain.${this.host}`;
    if (operation === "drain") await this.link.places.put(key, DRAINED);
    else await this.link.places.delete(key);
    await this.#lookAtDrain();
    await this.#beat();
    message.respond(operation === "drain" ? "draining" : "taking work");
    this.#pullAll();
  }

  async #lookAtDrain(): Promise<void> {
    this.#draining = (await this.link.places.get(`drain.${this.host}`))?.string() === DRAINED;
  }

  /** Whatever was asked for went to a server that is gone, and who took us for gone may have given our work to others. */
  async #watchLine(): Promise<void> {
    for await (const { type } of this.link.nc.status()) {
      if (type !== "reconnect") continue;
      this.#boot = newBoot(); // what we told last may have been lost with a server: whoever waits for it looks again
      await this.#beat().catch(() => {});
      for (const puller of this.#pullers) puller.again();
      this.#checkClaims();
    }
  }
}
