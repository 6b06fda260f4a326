/** Remote sessions: those that other gateways of the same fleet have started. */
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
/** A session ID or name, or a prefix of one. */
const REFERENCE = /^[a-z0-9][a-z0-9_.-]{0,62}$/i;
const NONE: PeerListing = { sessions: [], more: false, total: 0, silent: [], tooOld: [] };

/** This gateway's own sessions that are visible to the caller. */
export interface Own {
  list(query: ListQuery): SessionInfo[];
  count(query: ListQuery): number;
}

/** Returns one page of this gateway's sessions merged with remote sessions. */
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
  // The gateway's own records take precedence over those of a worker.
  const theirs = found.sessions.filter(({ id }) => registry.ownerOf(id) === null);
  // A source may have more sessions than it returned, which are older than the last one returned, so the page ends
  // there.
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
    // The gateway's own sessions are listed even when the fleet is unreachable.
    return { found: NONE, warnings: [peerSessionsUnavailable((error as Error).message)] };
  }
}

/** Returns the agent filter of a query. An agent sees only its own sessions. */
function whose({ ownOnly, agent }: GatewayContext, asked?: string): { agent: string | undefined; own: string } {
  return { agent: ownOnly ? agent : asked, own: agent };
}

/** Finds a remote session. Throws `missing` when there is none. */
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

/** A session of another gateway, as last reported by its worker. Nothing about it is stored in this state folder. */
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

  /** Returns false: only the gateway that started the session can detach it. */
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
