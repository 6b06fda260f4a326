import { SallyportError } from "../core/error.ts";
import type { Execution, ExecutionOutcome, ExitRecord, ExitReport, KillRequest } from "../executor/execution.ts";
import { reportedExitCode, unstartedRecord } from "../executor/execution.ts";
import type { TerminalHistory } from "../executor/session-data.ts";
import type { FleetClient } from "./client.ts";
import { withRetry } from "./connection.ts";
import { abandoned, claimTimedOut, type ErrorText, hostLost, noWorker, publishFailed } from "./errors.ts";
import { publishExit } from "./exits.ts";
import { choosePlace, unmetRequirement } from "./placement.ts";
import { abandon, type VersionedEntry } from "./registry.ts";
import { RemoteControl } from "./remote-execution.ts";
import type { ResendStore } from "./resend-store.ts";
import type { Place } from "./subjects.ts";
import { type JobMessage, MAX_ATTEMPTS, type RegistryEntry, SessionEvent, type WorkerInfo } from "./wire.ts";

/** Time after which the gateway checks whether any worker can run an unclaimed session. */
const NO_WORKER_CHECK_MS = 3000;
/** Interval at which the registry is polled: events can be lost with a server. */
const REGISTRY_POLL_MS = 30_000;

/** A command that this gateway has sent to the fleet. */
export class FleetExecution extends RemoteControl implements Execution {
  readonly id: string;
  readonly agent: string;
  readonly keeperPid = process.pid;
  readonly #started = Promise.withResolvers<number | null>();
  readonly #exited = Promise.withResolvers<ExecutionOutcome>();
  readonly #ended = Promise.withResolvers<ExecutionOutcome>();
  readonly started = this.#started.promise;
  readonly exited = this.#exited.promise;
  readonly ended = this.#ended.promise;
  unsupported: readonly string[] = [];
  host: string | null = null;
  terminal: TerminalHistory | null = null;
  readonly #client: FleetClient;
  readonly #resendStore: ResendStore;
  readonly #claimWithinMs: number;
  #unclaimedSince = performance.now();
  #message: JobMessage | null;
  #attempt = 1;
  #place: Place | null = null;
  #sentAttempt = 0;
  #background: boolean;
  #boot: string | null = null;
  #done = false;
  #polling = false;
  #exitSettled = false;
  #concluding = false;
  #lastPollMs = performance.now();
  #watchesGrowth = false;
  #unwatch: (() => void) | null = null;
  #listeners = new Set<() => void>();

  constructor(
    client: FleetClient,
    resendStore: ResendStore,
    session: { id: string; agent: string; background: boolean },
    message: JobMessage | null,
    claimWithinMs: number,
  ) {
    super();
    this.#client = client;
    this.#resendStore = resendStore;
    this.id = session.id;
    this.agent = session.agent;
    this.#message = message;
    this.#background = session.background;
    this.#claimWithinMs = claimWithinMs;
  }

  /** Publishes the job. If that fails, the session is abandoned. */
  async send(to?: Place): Promise<void> {
    const message = this.#message;
    if (!message) return;
    this.#sentAttempt = message.attempt;
    try {
      const place = to ?? (await choosePlace(this.#client, message));
      this.#place = place;
      const { js, subjects } = this.#client.connection;
      const subject = subjects.work(place, this.agent);
      const payload = JSON.stringify(message);
      // Servers drop a second message with the same ID, so a publish whose acknowledgement was lost can be repeated.
      await withRetry(() =>
        js.publish(subject, payload, { msgID: `${message.id}.${message.attempt}${to ? ".moved" : ""}` }),
      );
    } catch (error) {
      if (this.#done) return;
      await this.#abandon(
        error instanceof SallyportError ? [error.message, [...error.recovery]] : publishFailed(reason(error)),
      );
    }
  }

  /** Handles an event sent by the worker `from`. */
  onEvent(event: SessionEvent, from: string): void {
    if (this.#done || event.agent !== this.agent || event.attempt !== this.#attempt) return;
    if (!isAuthorizedEvent(event, from, { host: this.host, place: this.#place, request: this.#message?.request }))
      return;
    if (event.kind === "grew") for (const listener of this.#listeners) listener();
    else if (event.kind === "elsewhere") void this.send({ host: event.host });
    else if (event.kind === "exited") {
      this.host = event.host;
      const result = event.result as ExitReport["result"];
      const account = { ...(event.account as ExitReport), ...(result ? { result } : {}) };
      void this.#conclude(event.record, account, event.host, event.announced);
    } else {
      this.#setHost(event.host);
      this.unsupported = event.gaps;
      this.terminal = event.terminal as TerminalHistory | null;
      this.#started.resolve(event.pid);
    }
  }

  /** Reads the registry: at each call while no worker has claimed the session, then every `REGISTRY_POLL_MS`. */
  async poll(): Promise<void> {
    if (this.#done || this.#polling) return;
    if (this.host !== null && performance.now() - this.#lastPollMs < REGISTRY_POLL_MS) return;
    this.#polling = true;
    this.#lastPollMs = performance.now();
    try {
      const current = await this.#client.registry.read(this.agent, this.id);
      if (current?.entry.state === "claimed" && current.entry.host === this.host) return;
      if (current) await this.applyEntry(current);
      if (!current || current.entry.state === "open") await this.#checkUnclaimed(current !== null);
    } catch {
      // The servers do not respond; the next poll tries again.
    } finally {
      this.#polling = false;
    }
  }

  /** Updates the execution from its registry entry. */
  async applyEntry({ entry }: VersionedEntry): Promise<void> {
    if (this.#done) return;
    if (entry.state !== "open") this.#attempt = entry.attempt;
    this.#background ||= entry.background;
    if (entry.state === "ended" && entry.record) {
      this.host = entry.host;
      return void this.#conclude(entry.record, entry.account as ExitReport, entry.host);
    }
    if (entry.state === "lost") {
      return void this.#conclude("lost", failureReport("lost", hostLost(entry.host ?? "")), entry.host);
    }
    if (entry.state === "forgone") {
      return void this.#conclude(unstartedRecord("fleet"), failureReport("failed", abandoned()), null);
    }
    if (entry.state === "open") return this.#resend(entry);
    if (entry.state === "claimed" && entry.host !== null) {
      this.#setHost(entry.host);
      await this.#watch();
    }
  }

  onGrew(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (!this.#watchesGrowth) {
      this.#watchesGrowth = true;
      if (this.host !== null) void this.#watch().catch(() => {});
    }
    return () => this.#listeners.delete(listener);
  }

  async kill(killRequest: KillRequest): Promise<boolean> {
    // An unclaimed session is abandoned, so that no worker starts it.
    if (!this.#done && this.host === null && killRequest.ends && (await this.#abandon(abandoned(), "killed")))
      return true;
    return (await this.request("kill", killRequest)) === true;
  }

  async toBackground(): Promise<void> {
    this.#background = true;
    await this.request("background");
  }

  release(): void {
    if (this.#done) return;
    this.#stop();
    this.#started.resolve(null);
    this.#exited.resolve("detached");
    this.#ended.resolve("detached");
  }

  /** Reads the registry after events may have been lost. */
  async refresh(): Promise<void> {
    if (this.#done) return;
    const current = await this.#client.registry.read(this.agent, this.id).catch(() => null);
    if (current) await this.applyEntry(current).catch(() => {});
  }

  #setHost(host: string): void {
    if (this.host === host) return;
    this.host = host;
    this.#boot = null;
    this.#unwatch?.();
    this.#unwatch = this.#client.hosts.watch(host, (worker) => void this.#onHostState(worker).catch(() => {}));
  }

  async #onHostState(worker: WorkerInfo | null): Promise<void> {
    if (this.#done) return;
    if (worker === null) return this.#onHostLost();
    const restarted = this.#boot !== null && this.#boot !== worker.boot;
    this.#boot = worker.boot;
    if (restarted) await this.refresh();
  }

  /**
   * Reopens the session for another attempt, or marks it as lost. The compare-and-set of the registry lets only one
   * observer do this, and none after the worker has recorded the end (invariant 4).
   */
  async #onHostLost(): Promise<void> {
    const current = await this.#client.registry.read(this.agent, this.id);
    if (current?.entry.state !== "claimed" || current.entry.host !== this.host) return this.refresh();
    const { entry, revision } = current;
    const again = entry.attempt < MAX_ATTEMPTS && this.#resendStore.get(this.id)?.attempt === entry.attempt;
    const next: RegistryEntry = again
      ? { ...entry, state: "open", attempt: entry.attempt + 1, host: null, claim: "", atMs: Date.now() }
      : { ...entry, state: "lost", atMs: Date.now() };
    if ((await this.#client.registry.update(this.agent, this.id, next, revision)) === null) return this.refresh();
    if (again) return this.#resend(next);
    void this.#conclude("lost", failureReport("lost", hostLost(entry.host ?? "")), entry.host);
  }

  /** Sends the job of an open entry again, from this gateway's own copy, if it may run more than once. */
  async #resend({ attempt }: RegistryEntry): Promise<void> {
    if (this.host !== null) this.#unclaimedSince = performance.now();
    this.#unwatch?.();
    this.#unwatch = null;
    this.host = null;
    const saved = this.#resendStore.get(this.id);
    if (!saved || attempt === this.#sentAttempt) return;
    if (attempt !== saved.attempt && attempt !== saved.attempt + 1) return;
    this.#attempt = attempt;
    this.#message = { ...saved, attempt, to: this.#client.address };
    this.#resendStore.save(this.#message);
    await this.send();
  }

  /**
   * Abandons an unclaimed session after the claim timeout, or earlier if no worker could run it. `begun` means that a
   * worker had claimed it and may return.
   */
  async #checkUnclaimed(begun: boolean): Promise<void> {
    if (this.#done || this.host !== null) return;
    const waited = performance.now() - this.#unclaimedSince;
    if (waited > this.#claimWithinMs) return void (await this.#abandon(claimTimedOut(Math.round(waited / 1000))));
    if (begun || waited < NO_WORKER_CHECK_MS || !this.#message) return;
    const wanted = await unmetRequirement(this.#client, this.#message.request);
    if (wanted !== null) await this.#abandon(noWorker(wanted));
  }

  /** Makes sure that an unclaimed command does not run (again). Returns false when a worker has claimed it. */
  async #abandon(error: ErrorText, status: "failed" | "killed" = "failed"): Promise<boolean> {
    const { id, agent } = this;
    const about = { id, agent, attempt: this.#attempt, to: this.#client.address, background: this.#background };
    const outcome = await abandon(this.#client.registry, { ...about, killed: status === "killed" });
    if (outcome === null) return false;
    if (typeof outcome === "object") {
      await this.applyEntry(outcome);
      return false;
    }
    const lost = outcome === "lost";
    const record = { ...unstartedRecord("fleet"), ...(status === "killed" ? { reason: "killed" as const } : {}) };
    void this.#conclude(lost ? "lost" : record, failureReport(lost ? "lost" : status, error), null);
    return true;
  }

  /**
   * Ends the execution. The exit is published before the row records the end: after `kill -9`, a row without an end is
   * attached again, which publishes a missing exit. The stream drops duplicates, so each callback is sent exactly once.
   * `announced` means that the worker has already published the exit.
   */
  async #conclude(
    record: ExitRecord | "lost",
    account: ExitReport,
    host: string | null,
    announced = this.#exitSettled,
  ): Promise<void> {
    if (this.#done || this.#concluding) return;
    if (this.#background && !announced) {
      this.#concluding = true;
      const { status, logPath, lastLines } = account;
      const exitCode = reportedExitCode(status, record);
      const exit = { id: this.id, agent: this.agent, host, status, exitCode, logPath, lastLines };
      await publishExit(this.#client.connection, exit, () => this.#done);
      this.#concluding = false;
    }
    this.#finish(record, account);
  }

  /** Registers this process as a watcher and handles the latest event. */
  async #watch(): Promise<void> {
    const host = this.host;
    const event = SessionEvent.safeParse(await this.request("watch", { growth: this.#watchesGrowth }));
    if (event.success && host !== null) this.onEvent(event.data, host);
    // The worker may have sent growth events before it received the request.
    if (this.#watchesGrowth) for (const listener of this.#listeners) listener();
  }

  #finish(exit: ExitRecord | "lost", account: ExitReport): void {
    if (this.#done) return;
    const record = exit === "lost" ? unstartedRecord("lost") : exit;
    const ending: ExitRecord = { ...record, account };
    this.unsupported = record.gaps ?? [];
    this.#started.resolve(record.reason === "failed" ? null : record.pid);
    if (!this.#exitSettled) this.#exited.resolve(ending);
    this.#exitSettled = true;
    for (const listener of this.#listeners) listener();
    if (!record.final) return;
    this.#ended.resolve(ending);
    this.#stop();
    this.#resendStore.delete(this.id);
  }

  #stop(): void {
    this.#done = true;
    this.#unwatch?.();
    this.#unwatch = null;
  }

  protected async request(operation: string, args?: unknown): Promise<unknown> {
    if (!this.#done && this.host === null) await this.poll();
    if (this.#done || this.host === null) return undefined;
    return this.#client.request(this.host, operation, { id: this.id, agent: this.agent, args });
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The session of an event, as known to this gateway. */
interface EventContext {
  /** The host that has claimed the session, or null when it is not known. */
  host: string | null;
  /** The queue to which the job was sent. */
  place: Place | null;
  request: JobMessage["request"] | undefined;
}

/**
 * Reports whether `from` may send the event: only the host that has the session, or to which it was sent (invariant 7).
 */
function isAuthorizedEvent(event: SessionEvent, from: string, { host, place, request }: EventContext): boolean {
  const target = typeof place === "object" && place !== null && "host" in place ? place.host : from;
  if (from !== (host ?? target)) return false;
  if (event.kind !== "elsewhere") return event.kind === "grew" || event.host === from;
  // A request that names a host or a label cannot be redirected.
  return host === null && request?.host === undefined && request?.labels === undefined;
}

function failureReport(status: ExitReport["status"], [message, recovery]: ErrorText): ExitReport {
  const type = status === "lost" ? "SessionLost" : "NoWorker";
  return { status, warnings: [], hints: [], error: { type, message, recovery }, logPath: null, lastLines: [] };
}
