/** Sessions beyond this state folder: what other gateways of the same fleet have run. */
import { SallyportError } from "../core/error.ts";
import type { ListQuery, SessionList, SessionsQuery } from "../core/gateway.ts";
import type { SessionInfo } from "../core/session.ts";
import type { Execution } from "../executor/execution.ts";
import type { Executor, PeerListing, PeerSessions, SessionRef } from "../executor/executor.ts";
import { outdatedHosts, ownedByOtherGateway, peerSessionsUnavailable, unresponsiveHosts } from "../fleet/errors.ts";
import { ambiguousId } from "../session/errors.ts";
import type { SessionRecords } from "../session/session.ts";
import { assertPermitted } from "./authorize-operation.ts";
import type { GatewayContext } from "./context.ts";

export const DEFAULT_LIMIT = 50;
/** What a session can be called, whole or in part. */
const REFERENCE = /^[a-z0-9][a-z0-9_.-]{0,62}$/i;
const NONE: PeerListing = { sessions: [], more: false, total: 0, silent: [], tooOld: [] };

/** This gateway's own records, as its caller sees them. */
export interface Own {
  list(query: ListQuery): SessionInfo[];
  count(query: ListQuery): number;
}

/** One page of this gateway's sessions together with the others'. */
export async function listAllSessions(
  context: GatewayContext,
  records: Own,
  asked: SessionsQuery,
): Promise<SessionList> {
  assertPermitted(context, "list");
  const { others: othersOnly = false, limit = DEFAULT_LIMIT, ...query } = asked;
  const own = othersOnly ? [] : records.list({ ...query, limit });
  const ownTotal = othersOnly ? 0 : records.count(query);
  const { found, warnings } = await listPeers(context, { ...query, limit });
  const { registry, executor } = context;
  // What a worker says of a session that is in our own records counts for nothing.
  const theirs = found.sessions.filter(({ id }) => registry.ownerOf(id) === null);
  // Below the oldest of those who have more, one of them may have a newer one than what is known.
  const ownMore = own.length >= limit && ownTotal > own.length;
  const [ownFloor, theirFloor] = [ownMore ? own.at(-1)?.id : "", found.more ? found.sessions.at(-1)?.id : ""];
  const floor = [ownFloor ?? "", theirFloor ?? ""].sort().at(-1) ?? "";
  const known = [...own, ...theirs].filter(({ id }) => id >= floor).sort((a, b) => (a.id < b.id ? 1 : -1));
  const sessions = known.slice(0, limit);
  const next = known.length > limit || floor !== "" ? (sessions.at(-1)?.id ?? floor) : null;
  return { sessions, next, total: ownTotal + found.total, fleet: executor.peerSessions !== undefined, warnings };
}

async function listPeers(
  context: GatewayContext,
  query: ListQuery & { limit: number },
): Promise<{ found: PeerListing; warnings: string[] }> {
  const { peerSessions: peers } = context.executor;
  if (!peers) return { found: NONE, warnings: [] };
  try {
    const found = await peers.list({ ...query, ...whose(context, query.agent) });
    const { silent, tooOld } = found;
    const warnings = [
      silent.length > 0 ? unresponsiveHosts(silent) : "",
      tooOld.length > 0 ? outdatedHosts(tooOld) : "",
    ];
    return { found, warnings: warnings.filter((each) => each !== "") };
  } catch (error) {
    // Our own records are there all the same.
    return { found: NONE, warnings: [peerSessionsUnavailable((error as Error).message)] };
  }
}

/** An agent finds its own sessions only, wherever they run. */
function whose({ ownOnly, agent }: GatewayContext, asked?: string): { agent: string | undefined; own: string } {
  return { agent: ownOnly ? agent : asked, own: agent };
}

/** Another gateway's session; `missing` is thrown where there is none. */
export async function findRemoteSession(
  context: GatewayContext,
  reference: string,
  missing: unknown,
): Promise<{ peers: PeerSessions; session: SessionInfo }> {
  const { peerSessions: peers } = context.executor;
  const unknown = missing instanceof SallyportError && missing.type === "SessionNotFound";
  if (!peers || !unknown || !REFERENCE.test(reference)) throw missing;
  const found = await peers.find(reference, whose(context));
  const theirs = found.filter(({ id }) => context.registry.ownerOf(id) === null);
  const exact = theirs.filter(({ id, name }) => id === reference || name === reference);
  const [session, second] = exact.length > 0 ? exact : theirs;
  if (!session) throw missing;
  if (second) throw ambiguousId(reference);
  return { peers, session };
}

/** One session of another gateway: what its worker last told of it. Nothing of it is written down here. */
export class RemoteSession implements SessionRecords {
  readonly executor: Executor;
  readonly #visit: ReturnType<PeerSessions["attach"]>;
  #session: SessionInfo;

  constructor(executor: Executor, peers: PeerSessions, session: SessionInfo) {
    this.executor = executor;
    this.#session = session;
    this.#visit = peers.attach(session, (now) => {
      this.#session = now;
    });
  }

  info(): SessionInfo {
    return this.#session;
  }

  located(): SessionRef {
    return this.#session;
  }

  usage(): NonNullable<ReturnType<SessionRecords["usage"]>> {
    if (this.#lives()) return this.executor.data(this.#session).usage(this.#visit.keeperPid);
    return { usage: this.#session.resourceUsage, processes: [] };
  }

  async refresh(): Promise<void> {
    await this.#visit.refresh();
  }

  held(): Execution | null {
    return this.#lives() ? this.#visit : null;
  }

  endedExecution(): null {
    return null;
  }

  async execution(): Promise<Execution | null> {
    return this.held();
  }

  /** Whether somebody waits for it is its own gateway's to say. */
  toBackground(): boolean {
    return false;
  }

  setDeadline(_id: string, timeoutMs: number): void {
    const { startedAt } = this.#session;
    const fromStart = timeoutMs === 0 ? 0 : Date.now() - Date.parse(startedAt) + timeoutMs;
    this.#session = { ...this.#session, timeoutMs: fromStart };
  }

  async remove(): Promise<void> {
    this.assertOwn();
  }

  assertOwn(): never {
    const { name, gateway, host } = this.#session;
    throw new SallyportError("OtherGateway", ...ownedByOtherGateway(name, gateway ?? "", host ?? ""));
  }

  #lives(): boolean {
    const { status, lingering } = this.#session;
    return status === "running" || lingering;
  }
}
