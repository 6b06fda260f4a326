import type { Account } from "../executor/executor.ts";
import type { Link } from "../fleet/connection.ts";
import { announceSurely } from "../fleet/exits.ts";
import type { Book } from "../fleet/registry.ts";
import type { Address, Entry, News } from "../fleet/wire.ts";
import type { Claim } from "./claims.ts";
import type { Outcome } from "./outcome.ts";

/** Results beyond this are fetched when somebody wants them: a server lets no longer message pass. */
const MOST_PART = 2;

/**
 * What became of an end that was to be entered. `anothers`: somebody has decided otherwise meanwhile, and it is nobody's
 * any more. `unreadable`: what stands there nobody can have made; whoever waits for the session is told all the same.
 */
export type Entered = "ours" | "anothers" | "unreadable";

/** Tells gateways and the registry how sessions fare. */
export class Reports {
  readonly #link: Link;
  readonly #book: Book;
  readonly #host: string;

  constructor(link: Link, book: Book, host: string) {
    this.#link = link;
    this.#book = book;
    this.#host = host;
  }

  news(to: Iterable<Address>, news: News): void {
    const payload = JSON.stringify(news);
    for (const { gateway, process } of to) {
      this.#link.nc.publish(this.#link.subjects.result(gateway, this.#host, process, "news"), payload);
    }
  }

  exitNews({ id, agent, entry }: Claim, { record, account }: Outcome, announced: boolean): News {
    const { result, ...told } = account;
    const most = (this.#link.nc.info?.max_payload ?? 1 << 20) / MOST_PART;
    const size = result ? result.stdout.length + result.stderr.length + result.output.length : 0;
    return {
      kind: "exited",
      id,
      agent,
      attempt: entry.attempt,
      host: this.#host,
      record,
      account: told,
      announced,
      // A character may take six bytes in JSON.
      ...(result && size * 6 < most ? { result } : {}),
    };
  }

  /** It may be called again after a failure: what stands in the registry already is found to be one's own. */
  async end({ id, agent, entry, revision }: Claim, outcome: Outcome, background: boolean): Promise<Entered> {
    const { result, ...account } = outcome.account;
    const ended = { ...entry, state: "ended" as const, background, atMs: Date.now(), record: outcome.record, account };
    return this.#enter(agent, id, ended, revision);
  }

  /** Whose it is the claim tells, not the revision: that may be another than we were told while servers came and went. */
  async #enter(agent: string, id: string, ended: Entry, revision: number): Promise<Entered> {
    for (let known = revision; ; ) {
      if ((await this.#book.change(agent, id, ended, known)) !== null) return "ours";
      const seen = await this.#book.read(agent, id);
      // Of a session that outlived its entry the end is entered all the same.
      if (!seen) return (await this.#book.create(agent, id, ended)) === null ? "unreadable" : "ours";
      if (seen.entry.claim !== ended.claim) return "anothers";
      if (seen.entry.state !== "claimed") return seen.entry.state === "ended" ? "ours" : "anothers";
      known = seen.revision;
    }
  }

  /** What a worker that was killed between the two may not have done: the entry stands, the stream is told (again). */
  async complete(claim: Claim, { background, record, account }: Entry, isOff: () => boolean): Promise<void> {
    if (background && record && account) await this.announce(claim, { record, account: account as Account }, isOff);
  }

  /** Until the stream of exits has it; false: that will not take it, or it is no longer ours to tell. */
  announce({ id, agent }: Claim, { record, account }: Outcome, isOff: () => boolean): Promise<boolean> {
    const exitCode = record === "lost" ? null : record.code;
    const { status, logPath, lastLines } = account;
    const told = { id, agent, host: this.#host, status, exitCode, logPath, lastLines };
    return announceSurely(this.#link, told, isOff);
  }
}
