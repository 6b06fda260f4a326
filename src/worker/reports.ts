import type { RunResult } from "../core/result.ts";
import type { Account, Ending, ExitRecord, Parting } from "../executor/executor.ts";
import { unstartedRecord } from "../executor/unstarted-record.ts";
import type { Link } from "../fleet/connection.ts";
import { announceSurely } from "../fleet/exits.ts";
import type { Book } from "../fleet/registry.ts";
import type { Address, Entry, News } from "../fleet/wire.ts";
import { endingOf } from "../session/outcome.ts";
import type { Refusal } from "../session/refusal.ts";
import type { Registry } from "../session/registry.ts";
import type { NewSession, SessionRow } from "../storage/sessions.ts";
import type { Claim } from "./claims.ts";

export interface Outcome {
  record: ExitRecord | "lost";
  account: Account;
}

type Asked = Omit<NewSession, "name">;

/** What there is to say of a command's end: only here can its files and folders be looked at. */
export async function outcomeHere(
  registry: Registry,
  session: Asked,
  name: string,
  ending: Ending,
  withResult: boolean,
): Promise<Outcome> {
  const data = registry.executor.data(session);
  const ended = endingOf(session, ending, data);
  const account: Account = {
    status: ended.status,
    warnings: JSON.parse(ended.warnings) as string[],
    hints: JSON.parse(ended.hints) as string[],
    error: ended.error === null ? null : (JSON.parse(ended.error) as Account["error"]),
    ...(session.background === 1 ? told(session, data.forCallback()) : { logPath: null, lastLines: [] }),
  };
  if (!withResult) return { record: ending, account };
  const result = await data.result(name, session, ending);
  const { status, warnings, hints, error } = result;
  return { record: ending, account: { ...account, status, warnings, hints, error: error as Account["error"], result } };
}

function told(session: Asked, { logPath, lastLines }: { logPath: string | null; lastLines: string[] }) {
  return { logPath: session.log_file ?? logPath, lastLines };
}

/** The end of a session that this worker's records tell of. */
export function storedOutcome(row: SessionRow, logs: { logPath: string | null; lastLines: string[] }): Outcome {
  const record = row.record === null ? ("lost" as const) : (JSON.parse(row.record) as ExitRecord);
  const account: Account = {
    status: row.status,
    warnings: JSON.parse(row.warnings) as string[],
    hints: JSON.parse(row.hints) as string[],
    error: row.error === null ? null : (JSON.parse(row.error) as Account["error"]),
    ...logs,
  };
  return { record, account };
}

/** It never came to run here. */
export function refusedOutcome({ status, error }: Refusal): Outcome {
  const account: Account = { status, warnings: [], hints: [], error, logPath: null, lastLines: [] };
  return { record: unstartedRecord("worker"), account };
}

export function isOver(ending: Parting): ending is Ending {
  return ending !== "detached";
}

/** What fits into one message besides all else. */
export function fits(result: RunResult | undefined, most: number): boolean {
  if (!result) return true;
  return result.stdout.length + result.stderr.length + result.output.length < most / 4;
}

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
