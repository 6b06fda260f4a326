import type { Msg } from "@nats-io/transport-node";
import { SallyportError } from "../core/error.ts";
import type { SessionInfo } from "../core/session.ts";
import type { FleetConnection } from "../fleet/connection.ts";
import { incompatibleMessage, sessionNotThere } from "../fleet/errors.ts";
import { ALL_AGENTS, agentFromToken, agentToken } from "../fleet/subjects.ts";
import type { ListedRow, SessionListing } from "../fleet/wire.ts";
import {
  ControlRequest,
  LIST_OPERATION,
  ListRequest,
  MAX_LIST_BYTES,
  MAX_ROW_BYTES,
  parseJson,
} from "../fleet/wire.ts";
import type { WorkerGateway } from "../gateway/worker-gateway.ts";
import type { AskedBy, SessionRow, StoredQuery } from "../storage/sessions.ts";
import { localIds } from "./claims.ts";
import { REQUESTS, STREAMS } from "./operations.ts";
import type { ResponseItem } from "./response-streams.ts";
import { ResponseStreams, serializeError } from "./response-streams.ts";

/** The part of the worker that control requests need. */
interface SessionWatcher {
  /** Subscribes the requesting process to a session's events, and returns the latest event. */
  watch(row: SessionRow, request: ControlRequest): Promise<unknown>;
}

/**
 * Serves requests of gateways about sessions of this host. A request reaches only sessions of the agent in its subject.
 */
export class ControlServer {
  readonly #gateway: WorkerGateway;
  readonly #host: string;
  readonly #watcher: SessionWatcher;
  readonly #streams: ResponseStreams;
  readonly #subjectPrefix: string;

  constructor(connection: FleetConnection, gateway: WorkerGateway, host: string, watcher: SessionWatcher) {
    this.#gateway = gateway;
    this.#host = host;
    this.#watcher = watcher;
    this.#streams = new ResponseStreams(connection, host);
    this.#subjectPrefix = `sp.${connection.fleet}.ctl.${host}.`;
    connection.nc.subscribe(`${this.#subjectPrefix}*.*`, {
      callback: (error, message) => {
        if (!error) void this.#receive(message);
      },
    });
  }

  close(): void {
    this.#streams.close();
  }

  async #receive(message: Msg): Promise<void> {
    // A member can make a server deliver messages with other subjects here. They are ignored.
    if (!message.subject.startsWith(this.#subjectPrefix)) return;
    const [agent = "", operation = ""] = message.subject.slice(this.#subjectPrefix.length).split(".");
    try {
      const request = ControlRequest.safeParse(parseJson(message));
      if (!request.success) throw new SallyportError("FleetVersion", ...incompatibleMessage(this.#host));
      const value = await this.#dispatch(agent, operation, request.data);
      respond(message, { ok: true, value: value ?? null });
    } catch (error) {
      respond(message, { ok: false, error: serializeError(error) });
    }
  }

  async #dispatch(agent: string, operation: string, request: ControlRequest): Promise<unknown> {
    const { flow, to, args } = request;
    if (operation === "credit" && flow)
      return this.#streams.credit(flow, Number((args as { bytes?: number })?.bytes ?? 0));
    if (operation === "cancel" && flow) return this.#streams.cancel(flow);
    if (operation === LIST_OPERATION && flow && to) {
      void this.#streams.run(to, flow, () => listSessions(this.#gateway, agent, args));
      return null;
    }
    const row = this.#row(agent, request.id);
    if (operation === "watch") return this.#watcher.watch(row, request);
    const target = { gateway: this.#gateway, row };
    const read = Object.hasOwn(STREAMS, operation) ? STREAMS[operation] : undefined;
    if (read && flow && to) {
      void this.#streams.run(to, flow, (signal) => read(target, args, signal));
      return null;
    }
    const handler = Object.hasOwn(REQUESTS, operation) ? REQUESTS[operation] : undefined;
    if (!handler) throw new SallyportError("FleetVersion", ...incompatibleMessage(this.#host));
    return handler(target, args);
  }

  /** Returns the newest attempt of a session. A session of another agent is reported as not found. */
  #row(agent: string, id: string): SessionRow {
    for (const local of localIds(id)) {
      const row = this.#gateway.row(local);
      if (row && agentToken(row.agent) === agent) return row;
    }
    throw new SallyportError("SessionNotFound", ...sessionNotThere(id, `on \`${this.#host}\``));
  }
}

/** Sends a response. The sender chooses the reply subject, so it must be an inbox, never a stream or a bucket. */
function respond(message: Msg, response: object): void {
  if (message.reply?.startsWith("_INBOX.")) message.respond(JSON.stringify(response));
}

const MAX_TEXT_CHARS = 1000;

/**
 * Lists sessions that gateways of the fleet started here, newest first. The agent comes from the subject, which the
 * servers check (invariant 7). Sessions that were started locally on this machine are not listed.
 */
async function* listSessions(gateway: WorkerGateway, agent: string, given: unknown): AsyncGenerator<ResponseItem> {
  const { count, limit, ...filter } = ListRequest.parse(given);
  const agentFilter = agent === ALL_AGENTS ? {} : { agent: agentFromToken(agent) ?? "" };
  const query = { ...omitUndefined(filter), ...agentFilter } as StoredQuery;
  const { store } = gateway.registry;
  const found = store.list({ ...query, limit: limit + 1 });
  const listing: SessionListing = { rows: [], more: found.length > limit, total: count ? store.count(query) : null };
  let bytes = 0;
  for (const row of found.slice(0, limit)) {
    if (bytes > MAX_LIST_BYTES) {
      listing.more = true;
      break;
    }
    const listed = listedRow(gateway, row);
    // The query matches local IDs, so the reference is checked again against the gateway's ID and name.
    if (filter.called !== undefined && !matchesReference(listed.session, filter.called)) continue;
    bytes += JSON.stringify(listed).length;
    listing.rows.push(listed);
  }
  yield { value: listing };
}

function matchesReference({ id, name }: SessionInfo, called: string): boolean {
  return name === called || id.startsWith(called);
}

function omitUndefined<T extends object>(given: T): Partial<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** Converts a row, with the ID and name that its gateway uses. */
function listedRow({ registry }: WorkerGateway, row: SessionRow): ListedRow {
  const { gateway, id, attempt, name } = JSON.parse(row.asked_by ?? "{}") as AskedBy;
  const info = { ...registry.info(row), id, name: name ?? row.name };
  return { session: truncateRow(info) as ListedRow["session"], gateway, attempt };
}

/** Truncates the texts of a long row. The full texts are available from the session itself. */
function truncateRow(info: SessionInfo): SessionInfo {
  if (JSON.stringify(info).length <= MAX_ROW_BYTES) return info;
  const { command, args, intent, error } = info;
  return {
    ...info,
    command: [command, ...(args ?? [])].join(" ").slice(0, MAX_TEXT_CHARS),
    args: null,
    intent: intent?.slice(0, MAX_TEXT_CHARS) ?? null,
    envNames: [],
    warnings: [],
    hints: [],
    cwd: info.cwd.slice(0, MAX_TEXT_CHARS),
    logFile: info.logFile?.slice(0, MAX_TEXT_CHARS) ?? null,
    error: error && { ...error, message: error.message.slice(0, MAX_TEXT_CHARS), recovery: [] },
  };
}
