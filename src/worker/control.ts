import type { Msg } from "@nats-io/transport-node";
import { SallyportError } from "../core/error.ts";
import type { SessionInfo } from "../core/session.ts";
import type { Link } from "../fleet/connection.ts";
import { notHere, notUnderstood } from "../fleet/errors.ts";
import { agentOf, agentToken, EVERY_AGENT } from "../fleet/subjects.ts";
import type { Listed, ListedRow } from "../fleet/wire.ts";
import { Ask, LIST, ListAsk, MAX_LIST_BYTES, MAX_ROW_BYTES } from "../fleet/wire.ts";
import type { WorkerGateway } from "../gateway/worker-gateway.ts";
import type { AskedBy, SessionRow, StoredQuery } from "../storage/sessions.ts";
import { localIds } from "./claims.ts";
import { ASKED, READ } from "./operations.ts";
import type { Piece } from "./response-streams.ts";
import { asFailure, Flows } from "./response-streams.ts";

const MAX_TEXT_CHARS = 1000;
/**
 * The sessions that gateways had run here, the newest first. Whose, is said by the subject, which the servers let nobody
 * choose for another (promise 7); what this machine's own people run is none of it.
 */
export async function* listHere(door: WorkerGateway, agent: string, given: unknown): AsyncGenerator<Piece> {
  const { count, limit, ...asked } = ListAsk.parse(given);
  const whose = agent === EVERY_AGENT ? {} : { agent: agentOf(agent) ?? "" };
  const query = { ...definedOf(asked), ...whose } as StoredQuery;
  const { store } = door.registry;
  const found = store.list({ ...query, limit: limit + 1 });
  const answer: Listed = { rows: [], more: found.length > limit, total: count ? store.count(query) : null };
  let bytes = 0;
  for (const row of found.slice(0, limit)) {
    if (bytes > MAX_LIST_BYTES) {
      answer.more = true;
      break;
    }
    const listed = listedRow(door, row);
    // The query goes by what ids of all attempts have in common.
    if (asked.called !== undefined && !isCalled(listed.session, asked.called)) continue;
    bytes += JSON.stringify(listed).length;
    answer.rows.push(listed);
  }
  yield { value: answer };
}

function isCalled({ id, name }: SessionInfo, called: string): boolean {
  return name === called || id.startsWith(called);
}

function definedOf<T extends object>(given: T): Partial<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** Under the id and the name its gateway has for it. */
function listedRow({ registry }: WorkerGateway, row: SessionRow): ListedRow {
  const { gateway, id, attempt, name } = JSON.parse(row.asked_by ?? "{}") as AskedBy;
  const info = { ...registry.info(row), id, name: name ?? row.name };
  return { session: short(info) as ListedRow["session"], gateway, attempt };
}

/** A list is for finding one: texts of any length are left to whoever looks at it. */
function short(info: SessionInfo): SessionInfo {
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

/** What the worker itself answers besides. */
export interface Own {
  /** Registers who is to be told of a session, and says how it is. */
  watch(row: SessionRow, ask: Ask): Promise<unknown>;
}

/** Answers what gateways ask about sessions of this host. An agent's gateway finds its own sessions only. */
export class Control {
  readonly #door: WorkerGateway;
  readonly #host: string;
  readonly #own: Own;
  readonly #flows: Flows;
  readonly #head: string;

  constructor(link: Link, door: WorkerGateway, host: string, own: Own) {
    this.#door = door;
    this.#host = host;
    this.#own = own;
    this.#flows = new Flows(link, host);
    this.#head = `sp.${link.fleet}.ctl.${host}.`;
    link.nc.subscribe(`${this.#head}*.*`, {
      callback: (error, message) => {
        if (!error) void this.#take(message);
      },
    });
  }

  close(): void {
    this.#flows.close();
  }

  async #take(message: Msg): Promise<void> {
    // A server can be made to deliver here what was published under another subject: that asks for nothing.
    if (!message.subject.startsWith(this.#head)) return;
    const [agent = "", operation = ""] = message.subject.slice(this.#head.length).split(".");
    try {
      const ask = Ask.safeParse(json(message));
      if (!ask.success) throw new SallyportError("FleetVersion", ...notUnderstood(this.#host));
      const value = await this.#answer(agent, operation, ask.data);
      answer(message, { ok: true, value: value ?? null });
    } catch (error) {
      answer(message, { ok: false, error: asFailure(error) });
    }
  }

  async #answer(agent: string, operation: string, ask: Ask): Promise<unknown> {
    const { flow, to, args } = ask;
    if (operation === "credit" && flow)
      return this.#flows.credit(flow, Number((args as { bytes?: number })?.bytes ?? 0));
    if (operation === "cancel" && flow) return this.#flows.cancel(flow);
    if (operation === LIST && flow && to) {
      void this.#flows.run(to, flow, () => listHere(this.#door, agent, args));
      return null;
    }
    const row = this.#row(agent, ask.id);
    if (operation === "watch") return this.#own.watch(row, ask);
    const on = { door: this.#door, row };
    const read = Object.hasOwn(READ, operation) ? READ[operation] : undefined;
    if (read && flow && to) {
      void this.#flows.run(to, flow, (signal) => read(on, args, signal));
      return null;
    }
    const asked = Object.hasOwn(ASKED, operation) ? ASKED[operation] : undefined;
    if (!asked) throw new SallyportError("FleetVersion", ...notUnderstood(this.#host));
    return asked(on, args);
  }

  /** The newest attempt at it. Of another agent's nobody learns whether it is there. */
  #row(agent: string, id: string): SessionRow {
    for (const local of localIds(id)) {
      const row = this.#door.row(local);
      if (row && agentToken(row.agent) === agent) return row;
    }
    throw new SallyportError("SessionNotFound", ...notHere(id, this.#host));
  }
}

/** Servers let a worker answer wherever it was asked to: it must not be made to write to a stream or a bucket so. */
function answer(message: Msg, what: object): void {
  if (message.reply?.startsWith("_INBOX.")) message.respond(JSON.stringify(what));
}

function json(message: Msg): unknown {
  try {
    return message.json();
  } catch {
    return null;
  }
}
