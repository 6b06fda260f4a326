import { SallyportError } from "../core/error.ts";
import type { SessionInfo } from "../core/session.ts";
import type { PeerListing, PeerQuery, PeerSessions } from "../executor/executor.ts";
import type { FleetClient } from "./client.ts";
import { withRetry } from "./connection.ts";
import { RemoteExecution } from "./remote-execution.ts";
import { requestValue } from "./response-stream.ts";
import type { ListRequest } from "./wire.ts";
import {
  LIST_OPERATION,
  type ListedRow,
  MAX_LIST_BYTES,
  MAX_LIST_RESPONSE_BYTES,
  MAX_LIST_ROWS,
  MAX_ROW_BYTES,
  SessionId,
  SessionListing,
} from "./wire.ts";

/** Maximum accepted difference between the clocks of two machines. */
const MAX_CLOCK_SKEW_MS = 3_600_000;

/**
 * Drops duplicates and rows that the query excludes, so that a malicious worker cannot fill the page with them and hide
 * the sessions of other workers (invariant 7).
 */
function acceptedRows(rows: ListedRow[], { before, agent }: { before?: string | undefined; agent: string | null }) {
  const attempts = new Map<string, ListedRow>();
  for (const row of rows) {
    const { id, agent: owner } = row.session;
    if (agent !== null && owner !== agent) continue;
    if (before !== undefined && id >= before) continue;
    if (createdAtMs(id) > Date.now() + MAX_CLOCK_SKEW_MS) continue;
    attempts.set(`${id} ${row.attempt}`, row);
  }
  return [...attempts.values()];
}

/** Returns the timestamp at the start of a session ID. */
function createdAtMs(id: string): number {
  return Number.parseInt(id.replace("-", "").slice(0, 12), 16);
}

/** Converts a row. The host is the worker that sent the row, not the value in the row. */
function toSessionInfo({ session, gateway }: ListedRow, host: string): SessionInfo {
  return { ...session, host, gateway };
}

const MAX_CONCURRENT_QUERIES = 64;
const RESPONSE_TIMEOUT_MS = 3000;
/** A worker that timed out gets this shorter timeout for `REDUCED_FOR_MS`, so that it does not delay every listing. */
const REDUCED_TIMEOUT_MS = 1000;
const REDUCED_FOR_MS = 10_000;
const LIST_HOSTS_RETRY_MS = 3000;
/** Maximum number of rows for a lookup: enough to detect an ambiguous reference, with all attempts of a session. */
const MAX_FOUND = 8;
/** The session ID of a listing request, which addresses no session. */
const NO_SESSION = "00000000-0000-0000-0000-000000000000";

type AgentScope = Pick<PeerQuery, "agent" | "own">;
type ReportedRow = { row: ListedRow; host: string };

/** `listed` is null without a valid response. `tooOld` is true when the worker does not support the operation. */
type HostResponse = { listed: SessionListing | null; tooOld: boolean };
type HostResponses = (HostResponse & { host: string })[];

/**
 * Lists sessions that other gateways started in the fleet. Each worker is queried for its own, so no index is needed.
 */
export class FleetPeerSessions implements PeerSessions {
  readonly #client: () => Promise<FleetClient>;
  readonly #stateId: () => string;
  readonly #refreshSnapshot: (session: SessionInfo) => Promise<void>;
  readonly #closing = new AbortController();
  /** The time until which each host gets the shorter timeout. */
  readonly #reducedUntil = new Map<string, number>();

  /** Creates a listing. `stateId` returns the ID of this gateway's state folder, whose own sessions are omitted. */
  constructor(
    client: () => Promise<FleetClient>,
    stateId: () => string,
    refreshSnapshot: (session: SessionInfo) => Promise<void>,
  ) {
    this.#client = client;
    this.#stateId = stateId;
    this.#refreshSnapshot = refreshSnapshot;
  }

  async list({ status, live, before, text, limit, ...scope }: PeerQuery): Promise<PeerListing> {
    const max = Math.min(limit, MAX_LIST_ROWS);
    const responses = await this.#queryAll(scope, {
      limit: max,
      count: true,
      ...(status === undefined ? {} : { status: [status].flat() }),
      ...(live === undefined ? {} : { live }),
      ...(before === undefined ? {} : { before }),
      ...(text === undefined ? {} : { text }),
    });
    const sessions = await this.#newestFirst(responses);
    const reported = responses.flatMap(({ listed }) => listed ?? []);
    // A worker that did not send all its rows may have any older session, so the page ends at the oldest row it sent.
    const floors = reported.filter((listed) => hasMore(listed, max)).map(oldestOf);
    const floor = floors.reduce((a, b) => (a > b ? a : b), "");
    const known = sessions.filter(({ id }) => id >= floor);
    return {
      sessions: known.slice(0, max),
      more: known.length > max || floors.length > 0,
      total: reported.reduce((sum, { total }) => sum + (total ?? 0), 0),
      silent: responses.filter(({ listed, tooOld }) => !listed && !tooOld).map(({ host }) => host),
      tooOld: responses.filter(({ tooOld }) => tooOld).map(({ host }) => host),
    };
  }

  async find(reference: string, scope: AgentScope): Promise<SessionInfo[]> {
    const query = { called: reference, limit: MAX_FOUND };
    const host = await this.#hostOf(reference, scope);
    const responses = host === null ? await this.#queryAll(scope, query) : await this.#queryHosts([host], scope, query);
    const found = await this.#newestFirst(responses);
    const [only] = found;
    if (only && found.length === 1 && isLive(only)) await this.#refreshSnapshot(only).catch(() => {});
    return found;
  }

  attach(session: SessionInfo, onUpdate: (now: SessionInfo) => void): RemoteExecution {
    const fetchInfo = async (host: string) => {
      const { agent, id } = session;
      const responses = await this.#queryHosts([host], { agent, own: agent }, { called: id, limit: MAX_FOUND });
      return (await this.#newestFirst(responses)).find((each) => each.id === id) ?? null;
    };
    return new RemoteExecution(session, this.#client, fetchInfo, onUpdate, this.#closing.signal);
  }

  /** Cancels all waits for sessions. */
  close(): void {
    this.#closing.abort();
  }

  /** Looks up the host of a full session ID in the registry, so that only this host must be queried. */
  async #hostOf(reference: string, { agent }: AgentScope): Promise<string | null> {
    if (agent === undefined || !SessionId.safeParse(reference).success) return null;
    const { registry } = await this.#client();
    return (await registry.read(agent, reference).catch(() => null))?.entry.host ?? null;
  }

  async #newestFirst(responses: HostResponses): Promise<SessionInfo[]> {
    const reported = new Map<string, ReportedRow[]>();
    for (const { host, listed } of responses) {
      for (const row of listed?.rows ?? [])
        reported.set(row.session.id, [...(reported.get(row.session.id) ?? []), { row, host }]);
    }
    const sessions = await Promise.all([...reported.values()].map((each) => this.#latestAttempt(each)));
    return sessions.sort((a, b) => (a.id < b.id ? 1 : -1));
  }

  /**
   * Returns the last attempt of a session. If several hosts report the session, the registry decides, so that no host
   * can take over a session of another (invariant 7).
   */
  async #latestAttempt(reported: ReportedRow[]): Promise<SessionInfo> {
    const [last, ...rest] = reported.sort((a, b) => b.row.attempt - a.row.attempt) as [ReportedRow, ...ReportedRow[]];
    if (rest.every(({ host }) => host === last.host)) return toSessionInfo(last.row, last.host);
    const { registry } = await this.#client();
    for (const { row, host } of reported) {
      const current = await registry.read(row.session.agent, row.session.id).catch(() => null);
      if (current?.entry.host === host) return toSessionInfo(row, host);
    }
    return toSessionInfo(last.row, last.host);
  }

  async #queryAll(scope: AgentScope, query: Omit<ListRequest, "notHome">): Promise<HostResponses> {
    const client = await this.#client();
    return this.#queryHosts(await withRetry(() => client.hosts.names(), LIST_HOSTS_RETRY_MS), scope, query);
  }

  async #queryHosts(hosts: string[], scope: AgentScope, query: Omit<ListRequest, "notHome">): Promise<HostResponses> {
    const client = await this.#client();
    const args: ListRequest = { ...query, notHome: this.#stateId() };
    const responses: HostResponses = [];
    let next = 0;
    const work = async () => {
      for (let at = next++; at < hosts.length; at = next++) {
        const host = hosts[at] as string;
        const response = await this.#query(client, host, scope, args);
        // A worker that has shut down in the meantime is not reported as unresponsive.
        if (response.listed || (await client.hosts.get(host).catch(() => true))) responses.push({ host, ...response });
      }
    };
    await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT_QUERIES, hosts.length) }, work));
    return responses.sort((a, b) => (a.host < b.host ? -1 : 1));
  }

  async #query(client: FleetClient, host: string, scope: AgentScope, args: ListRequest): Promise<HostResponse> {
    const short = args.called === undefined && performance.now() < (this.#reducedUntil.get(host) ?? 0);
    const deadline = AbortSignal.timeout(short ? REDUCED_TIMEOUT_MS : RESPONSE_TIMEOUT_MS);
    const response = await queryHost(client, host, scope, args, deadline);
    if (response.listed) this.#reducedUntil.delete(host);
    else if (deadline.aborted && !short) this.#reducedUntil.set(host, performance.now() + REDUCED_FOR_MS);
    return response;
  }
}

async function queryHost(
  client: FleetClient,
  host: string,
  { agent = null, own }: QueryScope,
  args: ListRequest,
  deadline: AbortSignal,
): Promise<HostResponse> {
  try {
    // A listing does not wait for a worker that is down; a request for one session does.
    const request = { id: NO_SESSION, agent, args, maxBytes: MAX_LIST_RESPONSE_BYTES, now: args.called === undefined };
    const response = SessionListing.parse(await requestValue(client, host, LIST_OPERATION, request, deadline));
    return {
      listed: { ...response, rows: acceptedRows(response.rows, { before: args.before, agent }) },
      tooOld: false,
    };
  } catch (error) {
    const type = error instanceof SallyportError ? error.type : null;
    if (type === "PermissionDenied" && agent === null)
      return queryHost(client, host, { agent: own, own }, args, deadline);
    // A worker of an earlier release treats the listing as a request about a session and does not find it.
    return { listed: null, tooOld: type === "SessionNotFound" || type === "FleetVersion" };
  }
}

type QueryScope = { agent?: string | null | undefined; own: string };

function isLive({ status, lingering }: SessionInfo): boolean {
  return status === "running" || lingering;
}

/** Reports whether a worker has more rows. Only a full page counts, so that a worker cannot hide sessions of others. */
function hasMore(listed: SessionListing, limit: number): boolean {
  return listed.more && (listed.rows.length >= limit || bytesOf(listed.rows) >= MAX_LIST_BYTES);
}

/** Returns the size of the rows. Each counts up to a maximum, so that a single long row does not fill a page. */
function bytesOf(rows: ListedRow[]): number {
  return rows.reduce((sum, row) => sum + Math.min(JSON.stringify(row).length, MAX_ROW_BYTES), 0);
}

function oldestOf({ rows }: SessionListing): string {
  return rows.map(({ session }) => session.id).reduce((a, b) => (a < b ? a : b));
}
