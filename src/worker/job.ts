import { setTimeout as sleep } from "node:timers/promises";
import { isOverdue } from "../core/clock.ts";
import type { Execution, ExitOutcome } from "../executor/execution.ts";
import type { TerminalHistory } from "../executor/session-data.ts";
import type { FleetRegistry, VersionedEntry } from "../fleet/registry.ts";
import type { Address, RegistryEntry, SessionEvent } from "../fleet/wire.ts";
import type { WorkerGateway } from "../gateway/worker-gateway.ts";
import { killRequest } from "../session/signals.ts";
import type { NewSession, SessionRow } from "../storage/sessions.ts";
import type { Claim } from "./claims.ts";
import type { Outcome, RecordResult, Reporter } from "./reports.ts";
import { exitOutcome, outcomeFromRow } from "./reports.ts";

/** Delay of the `started` event. A command that ends sooner sends one event instead of two. */
const STARTED_EVENT_DELAY_MS = 25;
const GREW_INTERVAL_MS = 20;
/** Age at which a registry entry is renewed, well before it expires. */
const RENEW_AFTER_MS = 24 * 3_600_000;
/** Maximum number of gateway processes that receive the events of one session. */
const MAX_WATCHERS = 16;
/** Delay between attempts to record an end. */
const RETRY_MS = 2000;

interface JobObserver {
  /** Called when the end is recorded and the job is complete. */
  finished(): void;
  slotFreed(): void;
}

/** A session that this worker has claimed. It exists until the end of the session is recorded in the fleet. */
export class Job {
  readonly claim: Claim;
  holdsSlot = true;
  readonly #reporter: Reporter;
  readonly #gateway: WorkerGateway;
  readonly #observer: JobObserver;
  readonly #watchers = new Map<string, Address>();
  #execution: Execution | null = null;
  #session: Omit<NewSession, "name"> | null = null;
  #name = "";
  #grewTimer: NodeJS.Timeout | null = null;
  #watchesGrowth = false;
  #detached = false;
  #exitPublished = false;
  /** The `exited` event, once it has been sent. */
  #exitedEvent: SessionEvent | null = null;

  constructor(claim: Claim, reporter: Reporter, gateway: WorkerGateway, observer: JobObserver) {
    this.claim = claim;
    this.#reporter = reporter;
    this.#gateway = gateway;
    this.#observer = observer;
    this.#addWatcher(claim.entry.to);
  }

  /** Reports the start and the end of the execution. */
  track(execution: Execution, session: Omit<NewSession, "name">, name: string): void {
    this.#execution = execution;
    this.#session = session;
    this.#name = name;
    const startedTimer = setTimeout(
      () => void this.#sendStarted(),
      session.background === 1 ? 0 : STARTED_EVENT_DELAY_MS,
    );
    void execution.exited.then(async (ending) => {
      clearTimeout(startedTimer);
      if (ending === "detached" || this.#detached) return;
      await this.#onExit(ending).catch(() => this.#resumeLater());
    });
  }

  /** Resumes the job after a restart of the worker. The command is still running or has ended in the meantime. */
  async resume(row: SessionRow): Promise<void> {
    const now = this.#gateway.registry.reconcile(row);
    if (now.status !== "running" && now.lingering !== 1) {
      const logs = this.#gateway.registry.executor.data(now).forCallback();
      this.#session ??= now;
      return void this.reportEnd(outcomeFromRow(now, logs));
    }
    const execution = await this.#gateway.execution(row.id);
    if (execution) this.track(execution, row, row.name);
    else this.#resumeLater();
  }

  /** Checks the session's row again later, because its outcome is not known yet. */
  #resumeLater(): void {
    const retry = () => {
      const row = this.#detached ? null : this.#gateway.row(this.claim.local);
      if (row) this.resume(row).catch(() => this.#resumeLater());
    };
    setTimeout(retry, RETRY_MS).unref();
  }

  /** Publishes the exit if it is missing, for a session whose end was recorded before this worker started. */
  async complete(entry: RegistryEntry): Promise<void> {
    await this.#reporter.complete(this.claim, entry, () => this.#detached);
    if (!this.#detached) this.release();
  }

  /** Kills the command, because another worker has claimed its session or the session was abandoned. */
  async supersede(): Promise<void> {
    const { local, id, agent } = this.claim;
    this.#detached = true;
    const execution = this.#execution ?? (this.#gateway.row(local) ? await this.#gateway.execution(local) : null);
    if (execution) {
      const summary = `Session ${id} was killed: this worker no longer holds its claim`;
      this.#gateway.note({ agent, session: local, outcome: "superseded", summary, detail: {} });
      await execution.kill(killRequest("SIGKILL", 0));
    }
    this.#freeSlot();
    this.#observer.finished();
  }

  /** Renews the registry entry, which would otherwise expire while the session runs. */
  async renew(fleetRegistry: FleetRegistry): Promise<void> {
    const { agent, id, entry } = this.claim;
    const current = await fleetRegistry.read(agent, id);
    if (current?.entry.state !== "claimed" || current.entry.claim !== entry.claim)
      return this.#verifyClaim(fleetRegistry, current);
    if (isOverdue(current.entry.atMs, RENEW_AFTER_MS))
      await fleetRegistry.update(agent, id, { ...current.entry, atMs: Date.now() }, current.revision);
  }

  async verifyClaim(fleetRegistry: FleetRegistry): Promise<void> {
    await this.#verifyClaim(fleetRegistry, await fleetRegistry.read(this.claim.agent, this.claim.id));
  }

  async #verifyClaim(fleetRegistry: FleetRegistry, current: VersionedEntry | null): Promise<void> {
    const { agent, id, entry } = this.claim;
    // A missing entry has expired or was lost by the servers. It is created again.
    if (!current) return void (await fleetRegistry.create(agent, id, { ...entry, atMs: Date.now() }));
    const { state, claim } = current.entry;
    if (claim === entry.claim && (state === "claimed" || state === "ended")) return;
    await this.supersede();
  }

  /** Closes a job whose command did not run here, or whose end is already recorded. */
  release(): void {
    this.#freeSlot();
    this.#observer.finished();
  }

  /** Adds a watcher and returns the latest event. */
  watch(to: Address | undefined, growth: boolean): SessionEvent | null {
    if (to) this.#addWatcher(to);
    if (growth) this.#watchGrowth();
    return this.#exitedEvent ?? this.#startedEvent();
  }

  detach(): void {
    this.#detached = true;
  }

  /**
   * Records the end and notifies the watchers. Watchers of a foreground command are notified at once. Those of a
   * background command are notified after its exit was published, because a gateway that has recorded the end no longer
   * publishes it.
   */
  async reportEnd(outcome: Outcome): Promise<void> {
    this.#freeSlot();
    const background = this.#background;
    if (!background) this.#sendExited(outcome, false);
    const recorded = await this.#recordEnd(outcome);
    if (background && recorded !== "superseded") await this.#publishExit(outcome);
    if (this.#detached) return;
    this.#observer.finished();
  }

  async #onExit(ending: ExitOutcome): Promise<void> {
    const session = this.#session as Omit<NewSession, "name">;
    const foreground = session.background !== 1;
    const outcome = await exitOutcome(this.#gateway.registry, session, this.#name, ending, foreground);
    const final = ending === "lost" || ending.final;
    if (final) return this.reportEnd(outcome);
    this.#freeSlot();
    await this.#publishExit(outcome);
    const last = await this.#execution?.ended;
    if (!last || last === "detached" || this.#detached) return;
    const finished = last === "lost" ? last : { ...last, final: true };
    await this.reportEnd(await exitOutcome(this.#gateway.registry, session, this.#name, finished, false));
  }

  /** Publishes the exit to the exit stream, then notifies the watchers. */
  async #publishExit(outcome: Outcome): Promise<void> {
    this.#exitPublished ||= await this.#reporter.publishExit(this.claim, outcome, () => this.#detached);
    if (!this.#detached) this.#sendExited(outcome, this.#exitPublished);
  }

  #sendExited(outcome: Outcome, announced: boolean): void {
    this.#exitedEvent = this.#reporter.exitEvent(this.claim, outcome, announced);
    this.#reporter.sendEvent(this.#watchers.values(), this.#exitedEvent);
  }

  /** Records the end in the registry, and retries until the registry responds. */
  async #recordEnd(outcome: Outcome): Promise<RecordResult> {
    while (!this.#detached) {
      try {
        return await this.#reporter.recordEnd(this.claim, outcome, this.#background);
      } catch {
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
    return "superseded";
  }

  /** Whether the command is in the background. A foreground command may have been moved there. */
  get #background(): boolean {
    return this.#session ? this.#session.background === 1 : this.claim.entry.background;
  }

  async #sendStarted(): Promise<void> {
    const pid = await this.#execution?.started;
    const event = this.#startedEvent(pid ?? null);
    if (event && !this.#detached) this.#reporter.sendEvent(this.#watchers.values(), event);
  }

  #startedEvent(pid = this.#gateway.row(this.claim.local)?.pid ?? null): SessionEvent | null {
    const session = this.#session;
    if (!session) return null;
    const terminal = this.#gateway.registry.executor.data(session).terminal() as TerminalHistory | null;
    return {
      kind: "started",
      id: this.claim.id,
      agent: this.claim.agent,
      attempt: this.claim.entry.attempt,
      host: this.claim.entry.host ?? "",
      pid,
      gaps: [...(this.#execution?.unsupported ?? [])],
      terminal,
    };
  }

  #watchGrowth(): void {
    if (this.#watchesGrowth || !this.#execution) return;
    this.#watchesGrowth = true;
    const { id, agent, entry } = this.claim;
    this.#execution.onGrew(() => {
      this.#grewTimer ??= setTimeout(() => {
        this.#grewTimer = null;
        this.#reporter.sendEvent(this.#watchers.values(), { kind: "grew", id, agent, attempt: entry.attempt });
      }, GREW_INTERVAL_MS).unref();
    });
  }

  #addWatcher(address: Address): void {
    const key = `${address.gateway}.${address.process}`;
    // The first watcher is the requester and is kept. The oldest of the others is dropped.
    const [, oldest] = this.#watchers.keys();
    if (!this.#watchers.has(key) && this.#watchers.size >= MAX_WATCHERS && oldest !== undefined)
      this.#watchers.delete(oldest);
    this.#watchers.set(key, address);
  }

  #freeSlot(): void {
    if (!this.holdsSlot) return;
    this.holdsSlot = false;
    this.#observer.slotFreed();
  }
}
