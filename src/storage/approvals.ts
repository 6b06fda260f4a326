import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ApprovalStatus } from "../core/approval.ts";
import { Deadlines } from "./deadlines.ts";

/** A row of the approvals table. Times are in ms since the epoch; the schema says which columns are JSON. */
export interface ApprovalRow {
  id: string;
  agent: string;
  status: ApprovalStatus;
  created_ms: number;
  expires_ms: number;
  /** How far ahead `expires_ms` was set. */
  lasts_ms: number;
  fingerprint: string;
  request: string;
  binding: string;
  origin: string;
  quorum: string;
  decisions: string;
  decided_ms: number | null;
  /** The session that waits for the approval, or that used it. */
  session: string | null;
  /** 1 when the agent was told that the request was denied or has expired. */
  told: number;
}

type NewApprovalRow = Omit<ApprovalRow, "status" | "expires_ms" | "decisions" | "decided_ms" | "session" | "told">;

/** A filter for approvals. An approval must meet all conditions. */
export interface ApprovalQuery {
  /** Only approvals in one of these states. */
  status?: ApprovalStatus | ApprovalStatus[];
  /** Only approvals of this agent. */
  agent?: string;
  /** The maximum number of approvals to return, newest first. Default: 50. */
  limit?: number;
}

/** The approvals table. Every update checks the previous status, so that exactly one of several gateways succeeds. */
export class ApprovalStore {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #byId: StatementSync;
  readonly #byPrefix: StatementSync;
  readonly #open: StatementSync;
  readonly #untold: StatementSync;
  readonly #waiting: StatementSync;
  readonly #waitingBytes: StatementSync;
  readonly #waitsUntil: StatementSync;
  readonly #approved: StatementSync;
  readonly #due: StatementSync;
  readonly #deleteSettled: StatementSync;
  readonly #expire: StatementSync;
  readonly #decide: StatementSync;
  readonly #use: StatementSync;
  readonly #deadlines: Deadlines;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#deadlines = new Deadlines(database, "approvals");
    this.#insert = database.prepare(
      `INSERT INTO approvals (id, agent, status, created_ms, expires_ms, lasts_ms, fingerprint, request, binding, origin, quorum)
       VALUES (?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#byId = database.prepare("SELECT * FROM approvals WHERE id = ?");
    this.#byPrefix = database.prepare("SELECT * FROM approvals WHERE id >= ? AND id < ? ORDER BY id LIMIT 2");
    this.#open = database.prepare(
      `SELECT * FROM approvals WHERE agent = ? AND fingerprint = ? AND status IN ('pending', 'approved') AND expires_ms > ?
       ORDER BY status LIMIT 1`,
    );
    this.#untold = database.prepare(
      `SELECT * FROM approvals WHERE agent = ? AND fingerprint = ? AND told = 0 AND (
         (status = 'denied' AND decided_ms > ?) OR (status = 'expired' AND decided_ms IS NULL AND expires_ms > ?))
       ORDER BY id DESC LIMIT 1`,
    );
    this.#waiting = database.prepare("SELECT count(*) AS n FROM approvals WHERE agent = ? AND status = 'pending'");
    // `octet_length` does not load the text, which may be megabytes long.
    this.#waitingBytes = database.prepare(
      "SELECT sum(octet_length(request)) AS n FROM approvals WHERE agent = ? AND status = 'pending'",
    );
    this.#waitsUntil = database.prepare(
      "SELECT expires_ms FROM approvals WHERE id = ? AND status = 'pending' AND expires_ms > ?",
    );
    this.#approved = database.prepare(
      "SELECT binding FROM approvals WHERE agent = ? AND status = 'approved' ORDER BY id DESC LIMIT 20",
    );
    this.#deleteSettled = database.prepare(
      "DELETE FROM approvals WHERE status IN ('denied', 'expired', 'used') AND created_ms < ?",
    );
    this.#due = database.prepare(
      `SELECT * FROM approvals WHERE status IN ('pending', 'approved') AND expires_ms <= ? LIMIT 1000`,
    );
    this.#expire = database.prepare("UPDATE approvals SET status = 'expired' WHERE id = ? AND status = ?");
    this.#decide = database.prepare(
      `UPDATE approvals SET status = ?, decisions = ?, decided_ms = ?, expires_ms = ?, lasts_ms = ?
       WHERE id = ? AND status = 'pending'`,
    );
    this.#use = database.prepare(
      "UPDATE approvals SET status = 'used', session = ? WHERE id = ? AND status = 'approved'",
    );
  }

  insert(row: NewApprovalRow): void {
    const { id, agent, created_ms, lasts_ms, fingerprint, request, binding, origin, quorum } = row;
    const expires_ms = created_ms + lasts_ms;
    this.#insert.run(id, agent, created_ms, expires_ms, lasts_ms, fingerprint, request, binding, origin, quorum);
  }

  /** Corrects expiry times if the clock was set back. Must be called before they are compared with `nowMs`. */
  limitExpiry(nowMs: number): void {
    this.#deadlines.limit(nowMs);
  }

  get(id: string): ApprovalRow | null {
    return (this.#byId.get(id) as unknown as ApprovalRow | undefined) ?? null;
  }

  /** Returns the rows whose ID starts with the prefix, at most two: enough to know whether the prefix is unique. */
  withPrefix(prefix: string): ApprovalRow[] {
    return this.#byPrefix.all(prefix, `${prefix}g`) as unknown as ApprovalRow[];
  }

  /** Returns the agent's approval for the same fingerprint that is pending, or approved and unused. */
  open(agent: string, fingerprint: string, nowMs: number): ApprovalRow | null {
    return (this.#open.get(agent, fingerprint, nowMs) as unknown as ApprovalRow | undefined) ?? null;
  }

  /** Returns the agent's request for the same fingerprint that was denied or expired since a time, untold. */
  untold(agent: string, fingerprint: string, sinceMs: number): ApprovalRow | null {
    const row = this.#untold.get(agent, fingerprint, sinceMs, sinceMs) as unknown as ApprovalRow | undefined;
    return row ?? null;
  }

  /** Records that the agent was told about a denial or an expiry. */
  setTold(id: string): void {
    this.#database.prepare("UPDATE approvals SET told = 1 WHERE id = ?").run(id);
  }

  /** Records which session waits for an approval. */
  setWaiting(id: string, session: string): void {
    this.#database
      .prepare("UPDATE approvals SET session = ? WHERE id = ? AND status IN ('pending', 'approved')")
      .run(session, id);
  }

  /** Ends the session that waits for an approval which can no longer be used. */
  endWaiting(session: string, error: string, nowMs: number): void {
    this.#database
      .prepare("UPDATE sessions SET status = 'denied', error = ?, ended_ms = ? WHERE id = ? AND status = 'pending'")
      .run(error, nowMs, session);
  }

  waiting(agent: string): number {
    return Number(this.#waiting.get(agent)?.n ?? 0);
  }

  waitingBytes(agent: string): number {
    return Number(this.#waitingBytes.get(agent)?.n ?? 0);
  }

  /** Returns when the approval expires, or null if it was decided or has expired. */
  waitsUntil(id: string, nowMs: number): number | null {
    const row = this.#waitsUntil.get(id, nowMs) as Pick<ApprovalRow, "expires_ms"> | undefined;
    return row?.expires_ms ?? null;
  }

  /** Returns approved and unused approvals, newest first. */
  approved(agent: string): Pick<ApprovalRow, "binding">[] {
    return this.#approved.all(agent) as unknown as Pick<ApprovalRow, "binding">[];
  }

  deleteSettled(beforeMs: number): number {
    return Number(this.#deleteSettled.run(beforeMs).changes);
  }

  due(nowMs: number): ApprovalRow[] {
    return this.#due.all(nowMs) as unknown as ApprovalRow[];
  }

  expire(id: string, from: ApprovalStatus): boolean {
    return this.#expire.run(id, from).changes === 1;
  }

  /** Records a decision. Returns false when the approval was no longer pending. */
  decide(row: Pick<ApprovalRow, "id" | "status" | "decisions" | "decided_ms" | "expires_ms" | "lasts_ms">): boolean {
    const { id, status, decisions, decided_ms, expires_ms, lasts_ms } = row;
    return this.#decide.run(status, decisions, decided_ms, expires_ms, lasts_ms, id).changes === 1;
  }

  /** Uses an approval. Returns true for the one caller that may run the command. */
  use(id: string, session: string): boolean {
    return this.#use.run(session, id).changes === 1;
  }

  list({ status, agent, limit = 50 }: ApprovalQuery): ApprovalRow[] {
    const statuses = status === undefined ? [] : [status].flat();
    const parts = [
      ...(statuses.length > 0 ? [`status IN (${statuses.map(() => "?").join(", ")})`] : []),
      ...(agent === undefined ? [] : ["agent = ?"]),
    ];
    const where = parts.length > 0 ? `WHERE ${parts.join(" AND ")}` : "";
    const values = [...statuses, ...(agent === undefined ? [] : [agent]), limit];
    const sql = `SELECT * FROM approvals ${where} ORDER BY id DESC LIMIT ?`;
    return this.#database.prepare(sql).all(...values) as unknown as ApprovalRow[];
  }
}
