import type { Recovery } from "../core/error.ts";
import { SallyportError } from "../core/error.ts";
import type { TerminalStory } from "../executor/data.ts";
import type { Account, Execution, ExitRecord, KillRequest, Parting } from "../executor/executor.ts";
import { unstartedRecord } from "../executor/unstarted-record.ts";
import type { Ties } from "./client.ts";
import { insist } from "./connection.ts";
import { givenUp, hostLost, notQueued, notTakenUp, noWorker } from "./errors.ts";
import { announceSurely } from "./exits.ts";
import { nobodyFor, placeOf } from "./placement.ts";
import { forgo, type Seen } from "./registry.ts";
import { Steering } from "./remote-execution.ts";
import type { OwnWork } from "./resend-store.ts";
import type { Place } from "./subjects.ts";
import { type Entry, type JobMessage, MOST_ATTEMPTS, News, type WorkerInfo } from "./wire.ts";

/** What a gateway knows of a session it hears news of. */
interface Known {
  /** Who has it, as far as that is known. */
  host: string | null;
  /** Where it was sent. */
  place: Place | null;
  request: JobMessage["request"] | undefined;
}

/** Who has a session tells of it, or who alone was asked to take it; and each for itself (promise 7). */
export function mayTell(news: News, from: string, { host, place, request }: Known): boolean {
  const asked = typeof place === "object" && place !== null && "host" in place ? place.host : from;
  if (from !== (host ?? asked)) return false;
  if (news.kind !== "elsewhere") return news.kind === "grew" || news.host === from;
  // Who named a host or a label wants that one, whatever a worker says of others.
  return host === null && request?.host === undefined && request?.labels === undefined;
}

export function accountOf(
  status: Account["status"],
  [message, recovery]: [message: string, recovery: Recovery[]],
): Account {
  const type = status === "lost" ? "SessionLost" : "NoWorker";
  return { status, warnings: [], hints: [], error: { type, message, recovery }, logPath: null, lastLines: [] };
}

/** Queues are quick: after so long without a word it is asked whether anybody could take it at all. */
const NOBODY_AFTER_MS = 3000;
/** News can get lost with a server: so often is the registry asked all the same. */
const LOOK_SURELY_MS = 30_000;

type Words = ReturnType<typeof givenUp>;

/** A command on its way to a worker, or under one's care. */
export class FleetExecution extends Steering implements Execution {
  readonly id: string;
  readonly agent: string;
  readonly keeperPid = process.pid;
  readonly #started = Promise.withResolvers<number | null>();
  readonly #exited = Promise.withResolvers<Parting>();
  readonly #ended = Promise.withResolvers<Parting>();
  readonly started = this.#started.promise;
  readonly exited = this.#exited.promise;
  readonly ended = this.#ended.promise;
  gaps: readonly string[] = [];
  host: string | null = null;
  terminal: TerminalStory | null = null;
  readonly #ties: Ties;
  readonly #own: OwnWork;
  readonly #claimWithinMs: number;
  #since = performance.now();
  #work: JobMessage | null;
  #attempt = 1;
  #place: Place | null = null;
  #sentAttempt = 0;
  #background: boolean;
  #boot: string | null = null;
  #over = false;
  #looking = false;
  #exitTold = false;
  #concluding = false;
  #lookedMs = performance.now();
  #watchesGrowth = false;
  #unwatch: (() => void) | null = null;
  #listeners = new Set<() => void>();

  constructor(
    ties: Ties,
    own: OwnWork,
    session: { id: string; agent: string; background: boolean },
    work: JobMessage | null,
    claimWithinMs: number,
  ) {
    super();
    this.#ties = ties;
    this.#own = own;
    this.id = session.id;
    this.agent = session.agent;
    this.#work = work;
    this.#background = session.background;
    this.#claimWithinMs = claimWithinMs;
  }

  /** Puts it in the queue. Whatever becomes of that is told as its end. */
  async send(to?: Place): Promise<void> {
    const work = this.#work;
    if (!work) return;
    this.#sentAttempt = work.attempt;
    try {
      const place = to ?? (await placeOf(this.#ties, work));
      this.#place = place;
      const { js, subjects } = this.#ties.link;
      const subject = subjects.work(place, this.agent);
      const payload = JSON.stringify(work);
      // The same message twice is one to the servers: an answer that never came may have been a yes.
      await insist(() => js.publish(subject, payload, { msgID: `${work.id}.${work.attempt}${to ? ".moved" : ""}` }));
    } catch (error) {
      if (this.#over) return;
      await this.#forgo(
        error instanceof SallyportError ? [error.message, [...error.recovery]] : notQueued(reason(error)),
      );
    }
  }

  /** News of it, from this host's worker. */
  told(news: News, from: string): void {
    if (this.#over || news.agent !== this.agent || news.attempt !== this.#attempt) return;
    if (!mayTell(news, from, { host: this.host, place: this.#place, request: this.#work?.request })) return;
    if (news.kind === "grew") for (const listener of this.#listeners) listener();
    else if (news.kind === "elsewhere") void this.send({ host: news.host });
    else if (news.kind === "exited") {
      this.host = news.host;
      const result = news.result as Account["result"];
      const account = { ...(news.account as Account), ...(result ? { result } : {}) };
      void this.#conclude(news.record, account, news.host, news.announced);
    } else {
      this.#found(news.host);
      this.gaps = news.gaps;
      this.terminal = news.terminal as TerminalStory | null;
      this.#started.resolve(news.pid);
    }
  }

  /** What the registry says of it: for one whose worker says nothing. */
  async look(): Promise<void> {
    if (this.#over || this.#looking) return;
    if (this.host !== null && performance.now() - this.#lookedMs < LOOK_SURELY_MS) return;
    this.#looking = true;
    this.#lookedMs = performance.now();
    try {
      const seen = await this.#ties.book.read(this.agent, this.id);
      if (seen?.entry.state === "claimed" && seen.entry.host === this.host) return;
      if (seen) await this.consider(seen);
      if (!seen || seen.entry.state === "open") await this.#stillWaiting(seen !== null);
    } catch {
      // The servers give no answer now; they are asked again.
    } finally {
      this.#looking = false;
    }
  }

  async consider({ entry }: Seen): Promise<void> {
    if (this.#over) return;
    if (entry.state !== "open") this.#attempt = entry.attempt;
    this.#background ||= entry.background;
    if (entry.state === "ended" && entry.record) {
      this.host = entry.host;
      return void this.#conclude(entry.record, entry.account as Account, entry.host);
    }
    if (entry.state === "lost") {
      return void this.#conclude("lost", accountOf("lost", hostLost(entry.host ?? "")), entry.host);
    }
    if (entry.state === "forgone") {
      return void this.#conclude(unstartedRecord("fleet"), accountOf("failed", givenUp()), null);
    }
    if (entry.state === "open") return this.#again(entry);
    if (entry.state === "claimed" && entry.host !== null) {
      this.#found(entry.host);
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

  async kill(order: KillRequest): Promise<boolean> {
    // Nobody has it yet: then nobody is to have it.
    if (!this.#over && this.host === null && order.ends && (await this.#forgo(givenUp(), "killed"))) return true;
    return (await this.ask("kill", order)) === true;
  }

  async toBackground(): Promise<void> {
    this.#background = true;
    await this.ask("background");
  }

  release(): void {
    if (this.#over) return;
    this.#end();
    this.#started.resolve(null);
    this.#exited.resolve("detached");
    this.#ended.resolve("detached");
  }

  /** The line was down: what was told meanwhile was told to nobody. */
  async refresh(): Promise<void> {
    if (this.#over) return;
    const seen = await this.#ties.book.read(this.agent, this.id).catch(() => null);
    if (seen) await this.consider(seen).catch(() => {});
  }

  #found(host: string): void {
    if (this.host === host) return;
    this.host = host;
    this.#boot = null;
    this.#unwatch?.();
    this.#unwatch = this.#ties.hosts.watch(host, (worker) => void this.#hostIs(worker).catch(() => {}));
  }

  async #hostIs(worker: WorkerInfo | null): Promise<void> {
    if (this.#over) return;
    if (worker === null) return this.#hostGone();
    const restarted = this.#boot !== null && this.#boot !== worker.boot;
    this.#boot = worker.boot;
    if (restarted) await this.refresh();
  }

  /** Only one of all who notice gets to say so, and a worker that has ended it meanwhile was quicker (promise 4). */
  async #hostGone(): Promise<void> {
    const seen = await this.#ties.book.read(this.agent, this.id);
    if (seen?.entry.state !== "claimed" || seen.entry.host !== this.host) return this.refresh();
    const { entry, revision } = seen;
    const again = entry.attempt < MOST_ATTEMPTS && this.#own.find(this.id)?.attempt === entry.attempt;
    const next: Entry = again
      ? { ...entry, state: "open", attempt: entry.attempt + 1, host: null, claim: "", atMs: Date.now() }
      : { ...entry, state: "lost", atMs: Date.now() };
    if ((await this.#ties.book.change(this.agent, this.id, next, revision)) === null) return this.refresh();
    if (again) return this.#again(next);
    void this.#conclude("lost", accountOf("lost", hostLost(entry.host ?? "")), entry.host);
  }

  /** Nobody has it now. It may run once more, somewhere else, where that was asked for: as it was asked for here. */
  async #again({ attempt }: Entry): Promise<void> {
    if (this.host !== null) this.#since = performance.now();
    this.#unwatch?.();
    this.#unwatch = null;
    this.host = null;
    const own = this.#own.find(this.id);
    if (!own || attempt === this.#sentAttempt || (attempt !== own.attempt && attempt !== own.attempt + 1)) return;
    this.#attempt = attempt;
    this.#work = { ...own, attempt, to: this.#ties.address };
    this.#own.keep(this.#work);
    await this.send();
  }

  /** `begun`: somebody had it once, and may come back. */
  async #stillWaiting(begun: boolean): Promise<void> {
    if (this.#over || this.host !== null) return;
    const waited = performance.now() - this.#since;
    if (waited > this.#claimWithinMs) return void (await this.#forgo(notTakenUp(Math.round(waited / 1000))));
    if (begun || waited < NOBODY_AFTER_MS || !this.#work) return;
    const wanted = await nobodyFor(this.#ties, this.#work.request);
    if (wanted !== null) await this.#forgo(noWorker(wanted));
  }

  /** Makes sure that a command nobody has never runs, or not again. False: somebody has it. */
  async #forgo(words: Words, status: "failed" | "killed" = "failed"): Promise<boolean> {
    const { id, agent } = this;
    const about = { id, agent, attempt: this.#attempt, to: this.#ties.address, background: this.#background };
    const became = await forgo(this.#ties.book, { ...about, killed: status === "killed" });
    if (became === null) return false;
    if (typeof became === "object") {
      await this.consider(became);
      return false;
    }
    const lost = became === "lost";
    const record = { ...unstartedRecord("fleet"), ...(status === "killed" ? { reason: "killed" as const } : {}) };
    void this.#conclude(lost ? "lost" : record, accountOf(lost ? "lost" : status, words), null);
    return true;
  }

  /**
   * The stream of exits first, then its row: while that has no end, whoever comes after a kill -9 takes it up again, and
   * afterwards nobody would know what the stream was not told (each callback exactly once). `announced`: its worker has
   * seen to that; twice is once there.
   */
  async #conclude(
    record: ExitRecord | "lost",
    account: Account,
    host: string | null,
    announced = this.#exitTold,
  ): Promise<void> {
    if (this.#over || this.#concluding) return;
    if (this.#background && !announced) {
      this.#concluding = true;
      const { status, logPath, lastLines } = account;
      const exitCode = record === "lost" ? null : record.code;
      const told = { id: this.id, agent: this.agent, host, status, exitCode, logPath, lastLines };
      await announceSurely(this.#ties.link, told, () => this.#over);
      this.#concluding = false;
    }
    this.#finish(record, account);
  }

  /** Also registers this process as one to be told. */
  async #watch(): Promise<void> {
    const host = this.host;
    const news = News.safeParse(await this.ask("watch", { growth: this.#watchesGrowth }));
    if (news.success && host !== null) this.told(news.data, host);
    // The worker may have announced output before it had the request.
    if (this.#watchesGrowth) for (const listener of this.#listeners) listener();
  }

  #finish(told: ExitRecord | "lost", account: Account): void {
    if (this.#over) return;
    const record = told === "lost" ? unstartedRecord("lost") : told;
    const ending: ExitRecord = { ...record, account };
    this.gaps = record.gaps ?? [];
    this.#started.resolve(record.reason === "failed" ? null : record.pid);
    if (!this.#exitTold) this.#exited.resolve(ending);
    this.#exitTold = true;
    for (const listener of this.#listeners) listener();
    if (!record.final) return;
    this.#ended.resolve(ending);
    this.#end();
    this.#own.drop(this.id);
  }

  #end(): void {
    this.#over = true;
    this.#unwatch?.();
    this.#unwatch = null;
  }

  protected async ask(operation: string, args?: unknown): Promise<unknown> {
    if (!this.#over && this.host === null) await this.look();
    if (this.#over || this.host === null) return undefined;
    return this.#ties.ask(this.host, operation, { id: this.id, agent: this.agent, args });
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
