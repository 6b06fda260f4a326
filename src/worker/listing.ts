import type { SessionInfo } from "../core/session.ts";
import { ListAsk, type Listed, type ListedRow, MOST_BYTES, MOST_ROW_BYTES } from "../fleet/listed.ts";
import { agentOf, EVERY_AGENT } from "../fleet/subjects.ts";
import type { WorkerDoor } from "../gateway/for-worker.ts";
import type { AskedBy, SessionRow, StoredQuery } from "../storage/sessions.ts";
import type { Piece } from "./response-streams.ts";

const MOST_TEXT = 1000;

/**
 * The sessions that gateways had run here, the newest first. Whose, is said by the subject, which the servers let nobody
 * choose for another (promise 7); what this machine's own people run is none of it.
 */
export async function* listHere(door: WorkerDoor, agent: string, given: unknown): AsyncGenerator<Piece> {
  const { count, limit, ...asked } = ListAsk.parse(given);
  const whose = agent === EVERY_AGENT ? {} : { agent: agentOf(agent) ?? "" };
  const query = { ...definedOf(asked), ...whose } as StoredQuery;
  const { store } = door.registry;
  const found = store.list({ ...query, limit: limit + 1 });
  const answer: Listed = { rows: [], more: found.length > limit, total: count ? store.count(query) : null };
  let bytes = 0;
  for (const row of found.slice(0, limit)) {
    if (bytes > MOST_BYTES) {
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
function listedRow({ registry }: WorkerDoor, row: SessionRow): ListedRow {
  const { gateway, id, attempt, name } = JSON.parse(row.asked_by ?? "{}") as AskedBy;
  const info = { ...registry.info(row), id, name: name ?? row.name };
  return { session: short(info) as ListedRow["session"], gateway, attempt };
}

/** A list is for finding one: texts of any length are left to whoever looks at it. */
function short(info: SessionInfo): SessionInfo {
  if (JSON.stringify(info).length <= MOST_ROW_BYTES) return info;
  const { command, args, intent, error } = info;
  return {
    ...info,
    command: [command, ...(args ?? [])].join(" ").slice(0, MOST_TEXT),
    args: null,
    intent: intent?.slice(0, MOST_TEXT) ?? null,
    envNames: [],
    warnings: [],
    hints: [],
    cwd: info.cwd.slice(0, MOST_TEXT),
    logFile: info.logFile?.slice(0, MOST_TEXT) ?? null,
    error: error && { ...error, message: error.message.slice(0, MOST_TEXT), recovery: [] },
  };
}
