import { SallyportError } from "../../contract/error.ts";
import type { SessionInfo } from "../../contract/session.ts";
import type { FoundOthers, Others, OthersQuery } from "../executor.ts";
import { insist } from "./book.ts";
import { answerOf } from "./flow.ts";
import {
  believed,
  LIST,
  type ListAsk,
  Listed,
  type ListedRow,
  LONGEST_ANSWER,
  MOST_BYTES,
  MOST_LISTED,
  MOST_ROW_BYTES,
  shownOf,
} from "./listed.ts";
import type { Ties } from "./ties.ts";
import { Visit } from "./visit.ts";
import { SessionId } from "./wire.ts";

/** So many workers are asked at a time, and each gets so long. */
const AT_ONCE = 64;
const ANSWER_MS = 3000;
const PATIENCE_MS = 3000;
/** Enough to know that a reference is not one session's, with all attempts at it. */
const MOST_FOUND = 8;
/** Stands where a request names a session: a list is about none. */
const NO_SESSION = "00000000-0000-0000-0000-000000000000";

type Whose = Pick<OthersQuery, "agent" | "own">;
type Answers = { host: string; listed: Listed | null }[];

/** Asks every worker of the fleet what other gateways have there: the workers know, and nobody needs to keep an index. */
export class FleetOthers implements Others {
  readonly #ties: () => Promise<Ties>;
  readonly #home: () => string;
  readonly #glance: (session: SessionInfo) => Promise<void>;
  readonly #closing = new AbortController();

  /** `home`: whose sessions are not others'. `glance`: has one's usage told, for those who cannot wait for it. */
  constructor(ties: () => Promise<Ties>, home: () => string, glance: (session: SessionInfo) => Promise<void>) {
    this.#ties = ties;
    this.#home = home;
    this.#glance = glance;
  }

  async list({ status, live, before, text, limit, ...whose }: OthersQuery): Promise<FoundOthers> {
    const most = Math.min(limit, MOST_LISTED);
    const answers = await this.#askAll(whose, {
      limit: most,
      count: true,
      ...(status === undefined ? {} : { status: [status].flat() }),
      ...(live === undefined ? {} : { live }),
      ...(before === undefined ? {} : { before }),
      ...(text === undefined ? {} : { text }),
    });
    const sessions = newestFirst(answers);
    const told = answers.flatMap(({ listed }) => listed ?? []);
    // Of a worker that has more than it told of, nothing older is known: to show others' would leave its own out.
    const floors = told.filter((listed) => hasMore(listed, most)).map(oldestOf);
    const floor = floors.reduce((a, b) => (a > b ? a : b), "");
    const known = sessions.filter(({ id }) => id >= floor);
    return {
      sessions: known.slice(0, most),
      more: known.length > most || floors.length > 0,
      total: told.reduce((sum, { total }) => sum + (total ?? 0), 0),
      silent: answers.filter(({ listed }) => !listed).map(({ host }) => host),
    };
  }

  async find(reference: string, whose: Whose): Promise<SessionInfo[]> {
    const ask = { called: reference, limit: MOST_FOUND };
    const host = await this.#hostOf(reference, whose);
    const found = newestFirst(host === null ? await this.#askAll(whose, ask) : await this.#askEach([host], whose, ask));
    const [only] = found;
    if (only && found.length === 1 && isLive(only)) await this.#glance(only).catch(() => {});
    return found;
  }

  visit(session: SessionInfo, told: (now: SessionInfo) => void): Visit {
    const look = async (host: string) => {
      const { agent, id } = session;
      const [answer] = await this.#askEach([host], { agent, own: agent }, { called: id, limit: MOST_FOUND });
      return answer ? (newestFirst([answer]).find((each) => each.id === id) ?? null) : null;
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
        const listed = await asked(ties, host, whose, args);
        // One that has said goodbye is not silent.
        if (listed || (await ties.hosts.look(host).catch(() => true))) answers.push({ host, listed });
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, hosts.length) }, work));
    return answers.sort((a, b) => (a.host < b.host ? -1 : 1));
  }
}

/** Null: it said nothing, or nothing that can be understood. */
async function asked(ties: Ties, host: string, { agent = null, own }: AskedFor, args: ListAsk): Promise<Listed | null> {
  try {
    // A list is no reason to wait for a machine that is gone; of one session somebody wants to know.
    const asking = { id: NO_SESSION, agent, args, longest: LONGEST_ANSWER, now: args.called === undefined };
    const answer = Listed.parse(await answerOf(ties, host, LIST, asking, AbortSignal.timeout(ANSWER_MS)));
    return { ...answer, rows: believed(answer.rows, { before: args.before, agent }) };
  } catch (error) {
    const refused = error instanceof SallyportError && error.type === "PermissionDenied";
    return refused && agent === null ? asked(ties, host, { agent: own, own }, args) : null;
  }
}

type AskedFor = { agent?: string | null | undefined; own: string };

function isLive({ status, lingering }: SessionInfo): boolean {
  return status === "running" || lingering;
}

/** An answer that could have told more is all there is, whatever it says: nobody hides others' sessions so. */
function hasMore(listed: Listed, limit: number): boolean {
  return listed.more && (listed.rows.length >= limit || bytesOf(listed.rows) >= MOST_BYTES);
}

/** One row of any length is not a page. */
function bytesOf(rows: ListedRow[]): number {
  return rows.reduce((sum, row) => sum + Math.min(JSON.stringify(row).length, MOST_ROW_BYTES), 0);
}

function oldestOf({ rows }: Listed): string {
  return rows.map(({ session }) => session.id).reduce((a, b) => (a < b ? a : b));
}

/** Each session once: of several attempts at it, the last. */
function newestFirst(answers: Answers): SessionInfo[] {
  const last = new Map<string, { row: ListedRow; host: string }>();
  for (const { host, listed } of answers) {
    for (const row of listed?.rows ?? []) {
      const before = last.get(row.session.id);
      if (!before || before.row.attempt < row.attempt) last.set(row.session.id, { row, host });
    }
  }
  const sessions = [...last.values()].map(({ row, host }) => shownOf(row, host));
  return sessions.sort((a, b) => (a.id < b.id ? 1 : -1));
}
