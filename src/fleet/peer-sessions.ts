import { SallyportError } from "../core/error.ts";
import type { SessionInfo } from "../core/session.ts";
import type { PeerListing, PeerQuery, PeerSessions } from "../executor/peer-sessions.ts";
import type { Ties } from "./client.ts";
import { insist } from "./connection.ts";
import { Visit } from "./remote-execution.ts";
import { answerOf } from "./response-stream.ts";
import type { ListAsk } from "./wire.ts";
import {
  LIST,
  Listed,
  type ListedRow,
  MAX_LIST_BYTES,
  MAX_LIST_RESPONSE_BYTES,
  MAX_LIST_ROWS,
  MAX_ROW_BYTES,
  SessionId,
} from "./wire.ts";

/** Clocks differ, but not by more than this. */
const MOST_AHEAD_MS = 3_600_000;
/**
 * What is left of an answer when what nobody asked for and what is told again is left out: neither makes the page of a
 * worker full, behind which it could hide others' sessions (promise 7).
 */
export function believed(rows: ListedRow[], { before, agent }: { before?: string | undefined; agent: string | null }) {
  const attempts = new Map<string, ListedRow>();
  for (const row of rows) {
    const { id, agent: whose } = row.session;
    if (agent !== null && whose !== agent) continue;
    if (before !== undefined && id >= before) continue;
    if (madeAtMs(id) > Date.now() + MOST_AHEAD_MS) continue;
    attempts.set(`${id} ${row.attempt}`, row);
  }
  return [...attempts.values()];
}

/** Ids begin with the time. */
function madeAtMs(id: string): number {
  return Number.parseInt(id.replace("-", "").slice(0, 12), 16);
}

/** A row as this gateway shows it. Where it is, is who said so. */
export function shownOf({ session, gateway }: ListedRow, host: string): SessionInfo {
  return { ...session, host, gateway };
}

/** So many workers are asked at a time, and each gets so long. */
const AT_ONCE = 64;
const ANSWER_MS = 3000;
/** One that let that time pass gets less of it for a while, where others' sessions wait for it. */
const MUTE_ANSWER_MS = 1000;
const MUTE_FOR_MS = 10_000;
const PATIENCE_MS = 3000;
/** Enough to know that a reference is not one session's, with all attempts at it. */
const MOST_FOUND = 8;
/** Stands where a request names a session: a list is about none. */
const NO_SESSION = "00000000-0000-0000-0000-000000000000";

type Whose = Pick<PeerQuery, "agent" | "own">;
type Told = { row: ListedRow; host: string };

/** `listed` null: it said nothing, or nothing that can be understood; `tooOld`: since it knows of no lists. */
type Answer = { listed: Listed | null; tooOld: boolean };
type Answers = (Answer & { host: string })[];

/** Asks every worker of the fleet what other gateways have there: the workers know, and nobody needs to keep an index. */
export class FleetOthers implements PeerSessions {
  readonly #ties: () => Promise<Ties>;
  readonly #home: () => string;
  readonly #glance: (session: SessionInfo) => Promise<void>;
  readonly #closing = new AbortController();
  /** Hosts, and until when they count as mute. */
  readonly #mute = new Map<string, number>();

  /** `home`: whose sessions are not others'. `glance`: has one's usage told, for those who cannot wait for it. */
  constructor(ties: () => Promise<Ties>, home: () => string, glance: (session: SessionInfo) => Promise<void>) {
    this.#ties = ties;
    this.#home = home;
    this.#glance = glance;
  }

  async list({ status, live, before, text, limit, ...whose }: PeerQuery): Promise<PeerListing> {
    const most = Math.min(limit, MAX_LIST_ROWS);
    const answers = await this.#askAll(whose, {
      limit: most,
      count: true,
      ...(status === undefined ? {} : { status: [status].flat() }),
      ...(live === undefined ? {} : { live }),
      ...(before === undefined ? {} : { before }),
      ...(text === undefined ? {} : { text }),
    });
    const sessions = await this.#newestFirst(answers);
    const told = answers.flatMap(({ listed }) => listed ?? []);
    // Of a worker that has more than it told of, nothing older is known: to show others' would leave its own out.
    const floors = told.filter((listed) => hasMore(listed, most)).map(oldestOf);
    const floor = floors.reduce((a, b) => (a > b ? a : b), "");
    const known = sessions.filter(({ id }) => id >= floor);
    return {
      sessions: known.slice(0, most),
      more: known.length > most || floors.length > 0,
      total: told.reduce((sum, { total }) => sum + (total ?? 0), 0),
      silent: answers.filter(({ listed, tooOld }) => !listed && !tooOld).map(({ host }) => host),
      tooOld: answers.filter(({ tooOld }) => tooOld).map(({ host }) => host),
    };
  }

  async find(reference: string, whose: Whose): Promise<SessionInfo[]> {
    const ask = { called: reference, limit: MOST_FOUND };
    const host = await this.#hostOf(reference, whose);
    const answers = host === null ? await this.#askAll(whose, ask) : await this.#askEach([host], whose, ask);
    const found = await this.#newestFirst(answers);
    const [only] = found;
    if (only && found.length === 1 && isLive(only)) await this.#glance(only).catch(() => {});
    return found;
  }

  visit(session: SessionInfo, told: (now: SessionInfo) => void): Visit {
    const look = async (host: string) => {
      const { agent, id } = session;
      const answers = await this.#askEach([host], { agent, own: agent }, { called: id, limit: MOST_FOUND });
      return (await this.#newestFirst(answers)).find((each) => each.id === id) ?? null;
    };
    return new Visit(session, this.#ties, look, told, this.#closing.signal);
  }

  /** Who waits for the end of a session is let go. */
  close(): void {
    this.#closing.abort();
  }

  /** Of a whole id and one agent the registry tells who has it: nobody else needs to be asked. */
  async #hostOf(reference: string, { agent }: Whose): Promise<string | null> {
    if (agent === undefined || !SessionId.safeParse(reference).success) return null;
    const { book } = await this.#ties();
    return (await book.read(agent, reference).catch(() => null))?.entry.host ?? null;
  }

  async #newestFirst(answers: Answers): Promise<SessionInfo[]> {
    const told = new Map<string, Told[]>();
    for (const { host, listed } of answers) {
      for (const row of listed?.rows ?? [])
        told.set(row.session.id, [...(told.get(row.session.id) ?? []), { row, host }]);
    }
    const sessions = await Promise.all([...told.values()].map((each) => this.#oneOf(each)));
    return sessions.sort((a, b) => (a.id < b.id ? 1 : -1));
  }

  /** Of several attempts the last. Where hosts differ the registry tells who has it: nobody takes it over (promise 7). */
  async #oneOf(told: Told[]): Promise<SessionInfo> {
    const [last, ...rest] = told.sort((a, b) => b.row.attempt - a.row.attempt) as [Told, ...Told[]];
    if (rest.every(({ host }) => host === last.host)) return shownOf(last.row, last.host);
    const { book } = await this.#ties();
    for (const { row, host } of told) {
      const seen = await book.read(row.session.agent, row.session.id).catch(() => null);
      if (seen?.entry.host === host) return shownOf(row, host);
    }
    return shownOf(last.row, last.host);
  }

  async #askAll(whose: Whose, ask: Omit<ListAsk, "notHome">): Promise<Answers> {
    const ties = await this.#ties();
    return this.#askEach(await insist(() => ties.hosts.names(), PATIENCE_MS), whose, ask);
  }

  async #askEach(hosts: string[], whose: Whose, ask: Omit<ListAsk, "notHome">): Promise<Answers> {
    const ties = await this.#ties();
    const args: ListAsk = { ...ask, notHome: this.#home() };
    const answers: Answers = [];
    let next = 0;
    const work = async () => {
      for (let at = next++; at < hosts.length; at = next++) {
        const host = hosts[at] as string;
        const answer = await this.#ask(ties, host, whose, args);
        // One that has said goodbye is not silent.
        if (answer.listed || (await ties.hosts.look(host).catch(() => true))) answers.push({ host, ...answer });
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, hosts.length) }, work));
    return answers.sort((a, b) => (a.host < b.host ? -1 : 1));
  }

  /** Who was mute just now does not keep every list waiting as long again. */
  async #ask(ties: Ties, host: string, whose: Whose, args: ListAsk): Promise<Answer> {
    const short = args.called === undefined && performance.now() < (this.#mute.get(host) ?? 0);
    const deadline = AbortSignal.timeout(short ? MUTE_ANSWER_MS : ANSWER_MS);
    const answer = await asked(ties, host, whose, args, deadline);
    if (answer.listed) this.#mute.delete(host);
    else if (deadline.aborted && !short) this.#mute.set(host, performance.now() + MUTE_FOR_MS);
    return answer;
  }
}

async function asked(
  ties: Ties,
  host: string,
  { agent = null, own }: AskedFor,
  args: ListAsk,
  deadline: AbortSignal,
): Promise<Answer> {
  try {
    // A list is no reason to wait for a machine that is gone; of one session somebody wants to know.
    const asking = { id: NO_SESSION, agent, args, longest: MAX_LIST_RESPONSE_BYTES, now: args.called === undefined };
    const answer = Listed.parse(await answerOf(ties, host, LIST, asking, deadline));
    return { listed: { ...answer, rows: believed(answer.rows, { before: args.before, agent }) }, tooOld: false };
  } catch (error) {
    const type = error instanceof SallyportError ? error.type : null;
    if (type === "PermissionDenied" && agent === null) return asked(ties, host, { agent: own, own }, args, deadline);
    // To a worker of an earlier release this is about a session.
    return { listed: null, tooOld: type === "SessionNotFound" || type === "FleetVersion" };
  }
}

type AskedFor = { agent?: string | null | undefined; own: string };

function isLive({ status, lingering }: SessionInfo): boolean {
  return status === "running" || lingering;
}

/** An answer that could have told more is all there is, whatever it says: nobody hides others' sessions so. */
function hasMore(listed: Listed, limit: number): boolean {
  return listed.more && (listed.rows.length >= limit || bytesOf(listed.rows) >= MAX_LIST_BYTES);
}

/** One row of any length is not a page. */
function bytesOf(rows: ListedRow[]): number {
  return rows.reduce((sum, row) => sum + Math.min(JSON.stringify(row).length, MAX_ROW_BYTES), 0);
}

function oldestOf({ rows }: Listed): string {
  return rows.map(({ session }) => session.id).reduce((a, b) => (a < b ? a : b));
}
