import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { AgentInfo, ListQuery } from "../core/gateway.ts";
import type { Status } from "../core/result.ts";
import { inTransaction, stateError } from "./database.ts";

/** A row of the sessions table. Times are in ms since the epoch; the schema says which columns are JSON. */
export interface SessionRow {
  id: string;
  name: string;
  agent: string;
  status: Status;
  command: string;
  args: string | null;
  cwd: string;
  env_names: string;
  background: number;
  capture: "apart" | "merged";
  intent: string | null;
  log_file: string | null;
  timeout_ms: number;
  keeper_pid: number;
  pid: number | null;
  created_ms: number;
  ended_ms: number | null;
  lingering: number;
  bytes: number;
  record: string | null;
  sandbox: string | null;
  warnings: string;
  hints: string;
  error: string | null;
  limits: string | null;
  /** The machine that the session runs or ran on; null for this one. */
  host: string | null;
  /**
   * JSON (`AskedBy`): the gateway of a fleet that requested the session; null when it was requested on this gateway.
   */
  asked_by: string | null;
  /** A hash of the call that the command outlasted, until the same call gets its result; null otherwise. */
  call: string | null;
}

/** The gateway that a worker runs a session for, and the session's identity there. */
export interface AskedBy {
  gateway: string;
  /** Identifies the gateway's state folder. */
  home: string;
  id: string;
  attempt: number;
  /** The session's name on the gateway; null when the gateway does not report it. */
  name: string | null;
}

export interface StoredQuery extends ListQuery {
  /** Only sessions that other gateways of the fleet requested, except the one with this `home`. */
  notHome?: string;
  /** Only sessions with this name on their gateway, or whose ID starts with this, ignoring the last two digits. */
  called?: string;
}

export type NewSession = Omit<
  SessionRow,
  "ended_ms" | "lingering" | "bytes" | "record" | "error" | "pid" | "status" | "hints" | "host" | "asked_by" | "call"
> & { asked_by?: string | null };

/** A session that is not recorded yet. Its name is chosen when its row is written. */
export type SessionFields = Omit<NewSession, "name">;

/** The columns that retention needs. */
export interface FinishedRow extends Pick<SessionRow, "id" | "agent" | "status" | "ended_ms" | "bytes"> {
  /** The size of the texts in the row, in bytes. */
  textBytes: number;
}

export interface SessionEnd {
  status: Status;
  /** Null if it is not known when the command ended. */
  endedMs: number | null;
  lingering: boolean;
  bytes: number;
  record: string | null;
  warnings: string;
  hints: string;
  error: string | null;
  /** Log details for the exit callback, reported by the worker that ran the session. Not stored in the row. */
  callback?: { logPath: string | null; lastLines: string[] } | undefined;
}

const UNIQUE_VIOLATION = 2067;
/** The length of the ID prefix that all attempts at the same session share. */
const ATTEMPT_DIGITS = 34;
const WHOLE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const LIVE = "(status = 'running' OR lingering = 1)";

/** The sessions table. Every statement is prepared once, because preparing costs as much as running. */
export class SessionStore {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #end: StatementSync;
  readonly #refuse: StatementSync;
  readonly #running: StatementSync;
  /** Prepared on first use, because most gateways run all sessions on this machine. */
  #host: StatementSync | null = null;
  readonly #startedAround: StatementSync;
  readonly #started: StatementSync;
  readonly #moved: StatementSync;
  readonly #extended: StatementSync;
  readonly #byId: StatementSync;
  readonly #byPrefix: StatementSync;
  readonly #byName: StatementSync;
  readonly #live: StatementSync;
  readonly #ended: StatementSync;
  readonly #delete: StatementSync;
  readonly #rename: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#insert = database.prepare(
      `INSERT INTO sessions (id, name, agent, status, command, args, cwd, env_names, background, capture, intent,
         log_file, timeout_ms, keeper_pid, created_ms, sandbox, warnings, limits, asked_by)
       VALUES (?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#refuse = database.prepare(
      "UPDATE sessions SET status = ?, error = ?, ended_ms = created_ms WHERE id = ? AND status = 'running'",
    );
    this.#running = database.prepare(`SELECT count(*) AS n FROM sessions WHERE agent = ? AND ${LIVE}`);
    // A refused session has no keeper.
    this.#startedAround = database.prepare(
      "SELECT count(*) AS n FROM sessions WHERE id >= ? AND id < ? AND agent = ? AND keeper_pid > 0",
    );
    // Checks the previous state, so that exactly one of several gateways records the end.
    this.#end = database.prepare(
      `UPDATE sessions SET status = ?, ended_ms = ?, lingering = ?, bytes = ?, record = ?, warnings = ?, hints = ?,
         error = ?
       WHERE id = ? AND status = ? AND lingering = ?`,
    );
    this.#started = database.prepare("UPDATE sessions SET pid = ? WHERE id = ? AND pid IS NULL");
    this.#moved = database.prepare("UPDATE sessions SET keeper_pid = ? WHERE id = ?");
    this.#extended = database.prepare("UPDATE sessions SET timeout_ms = ? WHERE id = ? AND status = 'running'");
    this.#byId = database.prepare("SELECT * FROM sessions WHERE id = ?");
    this.#byPrefix = database.prepare(
      "SELECT * FROM sessions WHERE id >= ? AND id < ? AND (? IS NULL OR agent = ?) ORDER BY id LIMIT 2",
    );
    this.#byName = database.prepare("SELECT * FROM sessions WHERE name = ?");
    this.#live = database.prepare(`SELECT * FROM sessions WHERE ${LIVE}`);
    this.#ended = database.prepare(
      `SELECT id, agent, status, coalesce(ended_ms, created_ms) AS ended_ms, bytes,
         octet_length(command) + coalesce(octet_length(args), 0) + octet_length(env_names) AS textBytes
       FROM sessions WHERE NOT ${LIVE} ORDER BY id DESC`,
    );
    this.#delete = database.prepare(`DELETE FROM sessions WHERE id = ? AND NOT ${LIVE}`);
    this.#rename = database.prepare("SELECT 1 FROM sessions WHERE name = ?");
  }

  /** Inserts a running session. Returns false when the name is in use. */
  insert(row: NewSession): boolean {
    try {
      this.#insert.run(
        row.id,
        row.name,
        row.agent,
        row.command,
        row.args,
        row.cwd,
        row.env_names,
        row.background,
        row.capture,
        row.intent,
        row.log_file,
        row.timeout_ms,
        row.keeper_pid,
        row.created_ms,
        row.sandbox,
        row.warnings,
        row.limits,
        row.asked_by ?? null,
      );
      return true;
    } catch (error) {
      if ((error as { errcode?: number }).errcode === UNIQUE_VIOLATION && this.#rename.get(row.name)) return false;
      throw stateError(this.#database.location() ?? "the database", error);
    }
  }

  /** Marks a session as blocked, denied, pending or failed. Called in the transaction that inserts it. */
  refuse(id: string, status: Status, error: string): void {
    this.#refuse.run(status, error, id);
  }

  /** Turns a pending session into a running one. */
  resume(row: NewSession): void {
    this.#database
      .prepare(
        `UPDATE sessions SET status = 'running', error = NULL, ended_ms = NULL, name = ?, cwd = ?, env_names = ?,
           background = ?, capture = ?, intent = ?, log_file = ?, timeout_ms = ?, keeper_pid = ?, created_ms = ?,
           sandbox = ?, warnings = ?, limits = ?
         WHERE id = ? AND status = 'pending'`,
      )
      .run(
        row.name,
        row.cwd,
        row.env_names,
        row.background,
        row.capture,
        row.intent,
        row.log_file,
        row.timeout_ms,
        row.keeper_pid,
        row.created_ms,
        row.sandbox,
        row.warnings,
        row.limits,
        row.id,
      );
  }

  /** Counts sessions with running processes, including those whose main process has exited. */
  running(agent: string): number {
    return Number(this.#running.get(agent)?.n ?? 0);
  }

  /** Counts the sessions an agent started within `withinMs` of a time. Uses the primary key, because IDs are ordered by time. */
  startedAround(agent: string, nowMs: number, withinMs: number): number {
    const [from, to] = [nowMs - withinMs, nowMs + withinMs].map(idPrefix);
    return Number(this.#startedAround.get(from as string, to as string, agent)?.n ?? 0);
  }

  setPid(id: string, pid: number): void {
    this.#started.run(pid, id);
  }

  /** Moves a session to the background. Returns false when it has ended or is already there. */
  toBackground(id: string): boolean {
    const sql = "UPDATE sessions SET background = 1 WHERE id = ? AND status = 'running' AND background = 0";
    return this.#database.prepare(sql).run(id).changes === 1;
  }

  /** Returns the newest session of an agent whose main process has or had this process ID, preferring running ones. */
  withPid(agent: string, pid: number): SessionRow | null {
    const sql = `SELECT * FROM sessions WHERE agent = ? AND (pid = ? OR json_extract(record, '$.pid') = ?)
       ORDER BY ${LIVE} DESC, id DESC LIMIT 1`;
    return (this.#database.prepare(sql).get(agent, pid, pid) as unknown as SessionRow | undefined) ?? null;
  }

  /** Sets or clears the call whose repetition gets the result of the session. */
  setCall(id: string, call: string | null): void {
    this.#database.prepare("UPDATE sessions SET call = ? WHERE id = ?").run(call, id);
  }

  /** Returns the agent's sessions that outlasted this call, and run or have ended in an interval, oldest first. */
  ofCall(agent: string, call: string, [fromMs, toMs]: readonly [number, number]): SessionRow[] {
    const sql = `SELECT * FROM sessions WHERE agent = ? AND call = ? AND (ended_ms IS NULL OR ended_ms BETWEEN ? AND ?)
       ORDER BY id`;
    return this.#database.prepare(sql).all(agent, call, fromMs, toMs) as unknown as SessionRow[];
  }

  setHost(id: string, host: string): void {
    this.#host ??= this.#database.prepare("UPDATE sessions SET host = ? WHERE id = ?");
    this.#host.run(host, id);
  }

  setKeeper(id: string, keeperPid: number): void {
    this.#moved.run(keeperPid, id);
  }

  /** Sets the deadline, in milliseconds from the session's start; 0 for none. */
  setTimeout(id: string, timeoutMs: number): void {
    this.#extended.run(timeoutMs, id);
  }

  /** Records an end, if the session is still in state `from`. Returns true for the one caller that recorded it. */
  end(id: string, ended: SessionEnd, from: { status: Status; lingering: boolean }): boolean {
    const { changes } = this.#end.run(
      ended.status,
      ended.endedMs,
      ended.lingering ? 1 : 0,
      ended.bytes,
      ended.record,
      ended.warnings,
      ended.hints,
      ended.error,
      id,
      from.status,
      from.lingering ? 1 : 0,
    );
    return changes === 1;
  }

  /** Returns the sessions on this machine that have an exit record and ended after a time, at most `limit`. */
  endedSince(ms: number, limit: number): SessionRow[] {
    const sql = `SELECT * FROM sessions WHERE record IS NOT NULL AND host IS NULL AND NOT ${LIVE} AND ended_ms >= ?
       ORDER BY id DESC LIMIT ?`;
    return this.#database.prepare(sql).all(ms, limit) as unknown as SessionRow[];
  }

  /** Replaces the exit record of a session whose output is incomplete on this disk. */
  setRecord(id: string, record: string, warnings: string): void {
    this.#database.prepare("UPDATE sessions SET record = ?, warnings = ? WHERE id = ?").run(record, warnings, id);
  }

  get(id: string): SessionRow | null {
    return (this.#byId.get(id) as unknown as SessionRow | undefined) ?? null;
  }

  /** Returns the sandbox of the agent's latest command that ran. Null when there is none. */
  latestSandbox(agent: string): string | null {
    const query = "SELECT sandbox FROM sessions WHERE agent = ? AND keeper_pid > 0 ORDER BY id DESC LIMIT 1";
    const row = this.#database.prepare(query).get(agent) as { sandbox: string | null } | undefined;
    return row?.sandbox ?? null;
  }

  named(name: string): SessionRow | null {
    return (this.#byName.get(name) as unknown as SessionRow | undefined) ?? null;
  }

  /** Returns the rows whose ID starts with the prefix, at most two: enough to know whether the prefix is unique. */
  withPrefix(prefix: string, agent?: string): SessionRow[] {
    // "g" sorts after all hexadecimal digits and the dash.
    return this.#byPrefix.all(prefix, `${prefix}g`, agent ?? null, agent ?? null) as unknown as SessionRow[];
  }

  live(): SessionRow[] {
    return this.#live.all() as unknown as SessionRow[];
  }

  /** Returns finished sessions, newest first, without their texts. */
  finished(): FinishedRow[] {
    return this.#ended.all() as unknown as FinishedRow[];
  }

  isFinished(id: string): boolean {
    const row = this.get(id);
    return row !== null && row.status !== "running" && row.lingering === 0;
  }

  /** Deletes a finished session. Returns false when it is running or does not exist. */
  delete(id: string): boolean {
    return inTransaction(this.#database, () => this.#delete.run(id).changes === 1);
  }

  list(query: StoredQuery): SessionRow[] {
    const { where, values } = conditions(query);
    const sql = `SELECT * FROM sessions ${where} ORDER BY id DESC LIMIT ?`;
    return this.#database.prepare(sql).all(...values, query.limit ?? 50) as unknown as SessionRow[];
  }

  /** Returns at most 1000 agents, the most recently active first. */
  agents(): AgentInfo[] {
    const sql = `SELECT agent AS name, count(*) AS total, count(*) FILTER (WHERE ${LIVE}) AS running,
      max(created_ms) AS ms FROM sessions GROUP BY agent ORDER BY ms DESC LIMIT 1000`;
    const rows = this.#database.prepare(sql).all() as unknown as (Omit<AgentInfo, "lastSeenAt"> & { ms: number })[];
    return rows.map(({ name, running, total, ms }) => ({
      name,
      running,
      total,
      lastSeenAt: new Date(ms).toISOString(),
    }));
  }

  count(query: StoredQuery): number {
    const { where, values } = conditions(query);
    return Number(this.#database.prepare(`SELECT count(*) AS n FROM sessions ${where}`).get(...values)?.n ?? 0);
  }
}

function conditions(query: StoredQuery): { where: string; values: string[] } {
  const parts: string[] = [];
  const values: string[] = [];
  const statuses = query.status === undefined ? [] : [query.status].flat();
  if (statuses.length > 0) {
    parts.push(`status IN (${statuses.map(() => "?").join(", ")})`);
    values.push(...statuses);
  }
  if (query.live) parts.push(LIVE);
  if (query.agent !== undefined) {
    parts.push("agent = ?");
    values.push(query.agent);
  }
  if (query.before !== undefined) {
    parts.push("id < ?");
    values.push(query.before);
  }
  if (query.text) {
    const pattern = `%${query.text.replace(/[!%_]/g, "!$&")}%`;
    const fields = ["command", "coalesce(args, '')", "name", "coalesce(intent, '')"];
    parts.push(`(${fields.map((field) => `${field} LIKE ? ESCAPE '!'`).join(" OR ")})`);
    values.push(...fields.map(() => pattern));
  }
  if (query.notHome !== undefined) {
    parts.push("asked_by IS NOT NULL AND json_extract(asked_by, '$.home') <> ?");
    values.push(query.notHome);
  }
  if (query.called !== undefined) {
    const prefix = query.called.slice(0, ATTEMPT_DIGITS);
    // A complete ID is looked up by key only, because a search by name scans all rows.
    const names = WHOLE_ID.test(query.called) ? [] : [query.called];
    parts.push(`(${names.map(() => "json_extract(asked_by, '$.name') = ? OR ").join("")}(id >= ? AND id < ?))`);
    values.push(...names, prefix, `${prefix}g`);
  }
  return { where: parts.length > 0 ? `WHERE ${parts.join(" AND ")}` : "", values };
}

/** Returns the beginning of the IDs that are created at a time. */
function idPrefix(ms: number): string {
  const time = Math.max(0, Math.floor(ms)).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}
