/** Sessions beyond this state folder: what other gateways of the same fleet have run. */
import { SallyportError } from "../core/error.ts";
import type { ListQuery, SessionList, SessionsQuery } from "../core/gateway.ts";
import type { SessionInfo } from "../core/session.ts";
import type { PeerListing, PeerSessions } from "../executor/peer-sessions.ts";
import { othersUnknown, silentHosts, tooOldHosts } from "../fleet/errors.ts";
import { ambiguous } from "../session/find.ts";
import { insistOnTier } from "./operation.ts";
import type { Rooms } from "./rooms.ts";

export const DEFAULT_LIMIT = 50;
/** What a session can be called, whole or in part. */
const REFERENCE = /^[a-z0-9][a-z0-9_.-]{0,62}$/i;
const NONE: PeerListing = { sessions: [], more: false, total: 0, silent: [], tooOld: [] };

/** This gateway's own records, as its caller sees them. */
interface Own {
  list(query: ListQuery): SessionInfo[];
  count(query: ListQuery): number;
}

/** One page of this gateway's sessions together with the others'. */
export async function pageOfAll(rooms: Rooms, records: Own, asked: SessionsQuery): Promise<SessionList> {
  insistOnTier(rooms, "list");
  const { others: othersOnly = false, limit = DEFAULT_LIMIT, ...query } = asked;
  const own = othersOnly ? [] : records.list({ ...query, limit });
  const ownTotal = othersOnly ? 0 : records.count(query);
  const { found, warnings } = await listPeers(rooms, { ...query, limit });
  const { registry, executor } = rooms;
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
  rooms: Rooms,
  query: ListQuery & { limit: number },
): Promise<{ found: PeerListing; warnings: string[] }> {
  const { peerSessions: peers } = rooms.executor;
  if (!peers) return { found: NONE, warnings: [] };
  try {
    const found = await peers.list({ ...query, ...whose(rooms, query.agent) });
    const { silent, tooOld } = found;
    const warnings = [silent.length > 0 ? silentHosts(silent) : "", tooOld.length > 0 ? tooOldHosts(tooOld) : ""];
    return { found, warnings: warnings.filter((each) => each !== "") };
  } catch (error) {
    // Our own records are there all the same.
    return { found: NONE, warnings: [othersUnknown((error as Error).message)] };
  }
}

/** An agent finds its own sessions only, wherever they run. */
function whose({ ownOnly, agent }: Rooms, asked?: string): { agent: string | undefined; own: string } {
  return { agent: ownOnly ? agent : asked, own: agent };
}

/** Another gateway's session; `missing` is thrown where there is none. */
export async function findElsewhere(
  rooms: Rooms,
  reference: string,
  missing: unknown,
): Promise<{ peers: PeerSessions; session: SessionInfo }> {
  const { peerSessions: peers } = rooms.executor;
  const unknown = missing instanceof SallyportError && missing.type === "SessionNotFound";
  if (!peers || !unknown || !REFERENCE.test(reference)) throw missing;
  const found = await peers.find(reference, whose(rooms));
  const theirs = found.filter(({ id }) => rooms.registry.ownerOf(id) === null);
  const exact = theirs.filter(({ id, name }) => id === reference || name === reference);
  const [session, second] = exact.length > 0 ? exact : theirs;
  if (!session) throw missing;
  if (second) throw ambiguous(reference);
  return { peers, session };
}
