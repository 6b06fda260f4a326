import type { Book } from "../../executor/fleet/book.ts";
import { announceExit } from "../../executor/fleet/exits.ts";
import type { Link } from "../../executor/fleet/link.ts";
import type { Address, News } from "../../executor/fleet/wire.ts";
import type { Claim } from "./claims.ts";
import type { Outcome } from "./outcome.ts";

/** Results beyond this are fetched when somebody wants them: a server lets no longer message pass. */
const MOST_PART = 2;

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

  exitNews({ id, entry }: Claim, { record, account }: Outcome): News {
    const { result, ...told } = account;
    const most = (this.#link.nc.info?.max_payload ?? 1 << 20) / MOST_PART;
    const size = result ? result.stdout.length + result.stderr.length + result.output.length : 0;
    return {
      kind: "exited",
      id,
      attempt: entry.attempt,
      host: this.#host,
      record,
      account: told,
      // A character may take six bytes in JSON.
      ...(result && size * 6 < most ? { result } : {}),
    };
  }

  /** False: somebody has decided otherwise meanwhile, and this end is nobody's any more. */
  async end({ id, agent, entry, revision }: Claim, outcome: Outcome, background: boolean): Promise<boolean> {
    const { result, ...account } = outcome.account;
    const { work, ...rest } = entry;
    const ended = { ...rest, state: "ended" as const, background, atMs: Date.now(), record: outcome.record, account };
    if ((await this.#book.change(agent, id, ended, revision)) === null) return false;
    if (background) await this.announce({ id, agent }, outcome);
    return true;
  }

  async announce({ id, agent }: Pick<Claim, "id" | "agent">, { record, account }: Outcome): Promise<void> {
    const exitCode = record === "lost" ? null : record.code;
    const { status, logPath, lastLines } = account;
    await announceExit(this.#link, { id, agent, host: this.#host, status, exitCode, logPath, lastLines });
  }
}
