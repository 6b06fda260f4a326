import { setTimeout as sleep } from "node:timers/promises";
import type { TerminalStory } from "../executor/data.ts";
import type { Ending, Execution } from "../executor/executor.ts";
import type { Book, Seen } from "../fleet/registry.ts";
import type { Address, Entry, News } from "../fleet/wire.ts";
import type { WorkerGateway } from "../gateway/worker-gateway.ts";
import { killRequest } from "../session/signals.ts";
import type { NewSession, SessionRow } from "../storage/sessions.ts";
import type { Claim } from "./claims.ts";
import type { Entered, Outcome, Reports } from "./reports.ts";
import { outcomeHere, storedOutcome } from "./reports.ts";

/** A command that ends sooner is told of once, not twice. */
const ANNOUNCE_MS = 25;
const GREW_EVERY_MS = 20;
/** Well before an entry is too old to be kept. */
const RENEW_AFTER_MS = 24 * 3_600_000;
/** So many processes of gateways are told of one session. */
const MOST_TOLD = 16;
/** The end of a session is told until the registry has it. */
const TELL_AGAIN_MS = 2000;

export interface Bearer {
  /** Nothing is left to tell of it. */
  over(): void;
  slotFree(): void;
}

/** One session this worker has claimed, from there to the moment its end is known to the fleet. */
export class Charge {
  readonly claim: Claim;
  holdsSlot = true;
  readonly #reports: Reports;
  readonly #door: WorkerGateway;
  readonly #bearer: Bearer;
  readonly #to = new Map<string, Address>();
  #execution: Execution | null = null;
  #session: Omit<NewSession, "name"> | null = null;
  #name = "";
  #grew: NodeJS.Timeout | null = null;
  #watchesGrowth = false;
  #letGo = false;
  #announced = false;
  /** What was told of its end to those who were to be told by then. */
  #exit: News | null = null;

  constructor(claim: Claim, reports: Reports, door: WorkerGateway, bearer: Bearer) {
    this.claim = claim;
    this.#reports = reports;
    this.#door = door;
    this.#bearer = bearer;
    this.#tell(claim.entry.to);
  }

  /** Tells of its start and its end. */
  follow(execution: Execution, session: Omit<NewSession, "name">, name: string): void {
    this.#execution = execution;
    this.#session = session;
    this.#name = name;
    const announce = setTimeout(() => void this.#sayStarted(), session.background === 1 ? 0 : ANNOUNCE_MS);
    void execution.exited.then(async (ending) => {
      clearTimeout(announce);
      if (ending === "detached" || this.#letGo) return;
      await this.#ended(ending).catch(() => this.#resumeLater());
    });
  }

  /** After a restart: it runs on, or has ended meanwhile. */
  async resume(row: SessionRow): Promise<void> {
    const now = this.#door.registry.reconcile(row);
    if (now.status !== "running" && now.lingering !== 1) {
      const logs = this.#door.registry.executor.data(now).forCallback();
      this.#session ??= now;
      return void this.settle(storedOutcome(now, logs));
    }
    const execution = await this.#door.execution(row.id);
    if (execution) this.follow(execution, row, row.name);
    else this.#resumeLater();
  }

  /** Its end could not be made out now; its own records here tell of it, by then or later. */
  #resumeLater(): void {
    const again = () => {
      const row = this.#letGo ? null : this.#door.row(this.claim.local);
      if (row) this.resume(row).catch(() => this.#resumeLater());
    };
    setTimeout(again, TELL_AGAIN_MS).unref();
  }

  /** It ended before this worker was started, and the registry has that: what may be missing is added. */
  async complete(entry: Entry): Promise<void> {
    await this.#reports.complete(this.claim, entry, () => this.#letGo);
    if (!this.#letGo) this.forget();
  }

  /** It was given to others, or given up: whatever of it runs here is ended (never twice). */
  async supersede(): Promise<void> {
    const { local, id, agent } = this.claim;
    this.#letGo = true;
    const execution = this.#execution ?? (this.#door.row(local) ? await this.#door.execution(local) : null);
    if (execution) {
      this.#door.note({ agent, session: local, outcome: "superseded", summary: `${id} was given up`, detail: {} });
      await execution.kill(killRequest("SIGKILL", 0));
    }
    this.#free();
    this.#bearer.over();
  }

  /** Entries age, and a session may outlive them: its entry is written anew, so that nobody takes it for gone. */
  async renew(book: Book): Promise<void> {
    const { agent, id, entry } = this.claim;
    const seen = await book.read(agent, id);
    if (seen?.entry.state !== "claimed" || seen.entry.claim !== entry.claim) return this.#check(book, seen);
    if (seen.entry.atMs < Date.now() - RENEW_AFTER_MS)
      await book.change(agent, id, { ...seen.entry, atMs: Date.now() }, seen.revision);
  }

  async checkClaim(book: Book): Promise<void> {
    await this.#check(book, await book.read(this.claim.agent, this.claim.id));
  }

  async #check(book: Book, seen: Seen | null): Promise<void> {
    const { agent, id, entry } = this.claim;
    // No entry is nobody's decision: it was too old, or the servers lost it.
    if (!seen) return void (await book.create(agent, id, { ...entry, atMs: Date.now() }));
    if (seen?.entry.state === "claimed" && seen.entry.claim === entry.claim) return;
    if (seen?.entry.state === "ended" && seen.entry.claim === entry.claim) return;
    await this.supersede();
  }

  /** It never began here, and others may have it. */
  forget(): void {
    this.#free();
    this.#bearer.over();
  }

  /** Who else is to be told, and how it is by now. */
  watch(to: Address | undefined, growth: boolean): News | null {
    if (to) this.#tell(to);
    if (growth) this.#watchGrowth();
    return this.#exit ?? this.#startedNews();
  }

  letGo(): void {
    this.#letGo = true;
  }

  /**
   * Who waits for a foreground command is told at once. Of a background one gateways hear when the stream of exits has
   * it: whose row has an end by our word must not have to see to that.
   */
  async settle(outcome: Outcome): Promise<void> {
    this.#free();
    const background = this.#background;
    if (!background) this.#sayExited(outcome, false);
    const entered = await this.#enter(outcome);
    if (background && entered !== "anothers") await this.#announce(outcome);
    if (this.#letGo) return;
    this.#bearer.over();
  }

  async #ended(ending: Ending): Promise<void> {
    const session = this.#session as Omit<NewSession, "name">;
    const foreground = session.background !== 1;
    const outcome = await outcomeHere(this.#door.registry, session, this.#name, ending, foreground);
    const final = ending === "lost" || ending.final;
    if (final) return this.settle(outcome);
    this.#free();
    await this.#announce(outcome);
    const last = await this.#execution?.ended;
    if (!last || last === "detached" || this.#letGo) return;
    const over = last === "lost" ? last : { ...last, final: true };
    await this.settle(await outcomeHere(this.#door.registry, session, this.#name, over, false));
  }

  /** The stream of exits, then the gateways. */
  async #announce(outcome: Outcome): Promise<void> {
    this.#announced ||= await this.#reports.announce(this.claim, outcome, () => this.#letGo);
    if (!this.#letGo) this.#sayExited(outcome, this.#announced);
  }

  #sayExited(outcome: Outcome, announced: boolean): void {
    this.#exit = this.#reports.exitNews(this.claim, outcome, announced);
    this.#reports.news(this.#to.values(), this.#exit);
  }

  /** Until the registry has answered. */
  async #enter(outcome: Outcome): Promise<Entered> {
    while (!this.#letGo) {
      try {
        return await this.#reports.end(this.claim, outcome, this.#background);
      } catch {
        await sleep(TELL_AGAIN_MS, undefined, { ref: false });
      }
    }
    return "anothers";
  }

  /** A foreground command may have become one meanwhile. */
  get #background(): boolean {
    return this.#session ? this.#session.background === 1 : this.claim.entry.background;
  }

  async #sayStarted(): Promise<void> {
    const pid = await this.#execution?.started;
    const news = this.#startedNews(pid ?? null);
    if (news && !this.#letGo) this.#reports.news(this.#to.values(), news);
  }

  #startedNews(pid = this.#door.row(this.claim.local)?.pid ?? null): News | null {
    const session = this.#session;
    if (!session) return null;
    const terminal = this.#door.registry.executor.data(session).terminal() as TerminalStory | null;
    return {
      kind: "started",
      id: this.claim.id,
      agent: this.claim.agent,
      attempt: this.claim.entry.attempt,
      host: this.claim.entry.host ?? "",
      pid,
      gaps: [...(this.#execution?.gaps ?? [])],
      terminal,
    };
  }

  #watchGrowth(): void {
    if (this.#watchesGrowth || !this.#execution) return;
    this.#watchesGrowth = true;
    const { id, agent, entry } = this.claim;
    this.#execution.onGrew(() => {
      this.#grew ??= setTimeout(() => {
        this.#grew = null;
        this.#reports.news(this.#to.values(), { kind: "grew", id, agent, attempt: entry.attempt });
      }, GREW_EVERY_MS).unref();
    });
  }

  #tell(address: Address): void {
    const key = `${address.gateway}.${address.process}`;
    // Who asked for it stays; of those who only watch, whoever came first makes room.
    const [, oldest] = this.#to.keys();
    if (!this.#to.has(key) && this.#to.size >= MOST_TOLD && oldest !== undefined) this.#to.delete(oldest);
    this.#to.set(key, address);
  }

  #free(): void {
    if (!this.holdsSlot) return;
    this.holdsSlot = false;
    this.#bearer.slotFree();
  }
}
