import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { AuditEntry, AuditFilter, NewAuditEntry } from "../core/audit.ts";
import { SallyportError } from "../core/error.ts";
import { operatorStep } from "../core/next-step.ts";
import { maskData, maskText } from "../text/secrets.ts";
import type { AuditRow } from "./audit-chain.ts";
import {
  type ChainHead,
  type ChainReport,
  chainHash,
  type VerifyOptions,
  verifyChain,
  verifyChainInBatches,
} from "./audit-chain.ts";
import { inTransaction } from "./database.ts";

/** Converts a filter to SQL. */
function auditConditions(filter: AuditFilter): { where: string; values: (string | number)[] } {
  const parts: string[] = [];
  const values: (string | number)[] = [];
  const add = (sql: string, ...given: (string | number)[]) => {
    parts.push(sql);
    values.push(...given);
  };
  for (const name of ["agent", "session", "kind", "outcome"] as const) {
    const value = filter[name];
    // Entries of earlier versions can have names of agents with capital letters.
    if (value !== undefined) add(`${name} = ?${name === "agent" ? " COLLATE NOCASE" : ""}`, value);
  }
  if (filter.since !== undefined) add("at_ms >= ?", filter.since);
  if (filter.until !== undefined) add("at_ms < ?", filter.until);
  if (filter.text) {
    // The detail is JSON, so the text is searched in its JSON encoding.
    const inJson = JSON.stringify(filter.text).slice(1, -1);
    add("(summary LIKE ? ESCAPE '!' OR detail LIKE ? ESCAPE '!')", containing(filter.text), containing(inJson));
  }
  return { where: parts.length > 0 ? parts.join(" AND ") : "TRUE", values };
}

function containing(text: string): string {
  return `%${text.replace(/[!%_]/g, "!$&")}%`;
}

/** Converts a row to the public type. Never throws: tampered rows must still be shown. */
function auditEntryOf({ at_ms, detail, ...row }: AuditRow): AuditEntry {
  const { hash, seq, ...rest } = row;
  return { seq, at: timeOf(at_ms), ...rest, detail: parsed(detail), hash };
}

function timeOf(ms: unknown): string {
  const date = new Date(Number(ms));
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString();
}

function parsed(text: unknown): object {
  try {
    const value: unknown = JSON.parse(String(text));
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Handled below.
  }
  return { unreadable: String(text) };
}

const BATCH = 1000;
/**
 * The maximum length of a summary, in characters. The limits keep an agent from filling the disk with refused requests.
 */
const MOST_SUMMARY = 1000;
/** The maximum length of a text in the detail, in characters. */
const MOST_TEXT = 16 * 1024;
/** The maximum total length of all texts in the detail, in characters. */
const MOST_DETAIL = 64 * 1024;
/** The maximum number of items in a list in the detail. */
const MOST_ITEMS = 100;
/** The number of characters that is kept of every text, even above `MOST_DETAIL`. */
const LEAST_TEXT = 100;

/**
 * The audit log: requests, decisions and outcomes, as one hash chain for all gateways of a state folder. See
 * docs/audit.md.
 */
export class AuditLog {
  readonly #database: DatabaseSync;
  readonly #head: StatementSync;
  readonly #insert: StatementSync;
  readonly #move: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#head = database.prepare("SELECT seq, hash FROM audit_head");
    this.#insert = database.prepare(
      `INSERT INTO audit (seq, at_ms, kind, agent, session, actor, channel, outcome, summary, detail, hash)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#move = database.prepare("UPDATE audit_head SET seq = ?, hash = ?");
  }

  /** Appends an entry. */
  append(entry: NewAuditEntry): void {
    // Joins the current transaction, so that a change and its entry are stored together or not at all. That transaction
    // must be IMMEDIATE, as `inTransaction` makes it, because the chain has one writer at a time.
    const summary = maskText(truncateText(entry.summary, MOST_SUMMARY)).toWellFormed();
    let left = MOST_DETAIL;
    const within = (text: string) => {
      const kept = truncateText(text, Math.min(MOST_TEXT, Math.max(left, LEAST_TEXT)));
      left -= kept.length;
      return kept;
    };
    const detail = JSON.stringify(maskData(withShortLists(entry.detail), within));
    inTransaction(this.#database, () => this.#link(entry, summary, detail));
  }

  #link(entry: NewAuditEntry, summary: string, detail: string): void {
    const head = this.#head.get() as unknown as ChainHead | undefined;
    if (!head) throw headMissing();
    const { seq: last, hash: previous } = head;
    const row = {
      seq: last + 1,
      at_ms: Date.now(),
      // SQLite does not store lone surrogates, and the hash must match the text that is read back.
      kind: entry.kind.toWellFormed(),
      agent: entry.agent.toWellFormed(),
      session: entry.session?.toWellFormed() ?? null,
      actor: entry.actor.toWellFormed(),
      channel: entry.channel.toWellFormed(),
      outcome: entry.outcome.toWellFormed(),
      summary,
      detail,
    };
    const hash = chainHash(previous, row);
    const { seq, at_ms, kind, agent, session, actor, channel, outcome } = row;
    this.#insert.run(seq, at_ms, kind, agent, session, actor, channel, outcome, summary, detail, hash);
    this.#move.run(seq, hash);
  }

  /** Verifies every entry, in constant memory. Blocks the event loop until it is done; see `verifyInBatches`. */
  verify(options: VerifyOptions = {}): ChainReport {
    return verifyChain(this.#database, options);
  }

  /** Verifies every entry without blocking the event loop. */
  verifyInBatches(options: VerifyOptions = {}): Promise<ChainReport> {
    return verifyChainInBatches(this.#database, options);
  }

  /** Returns the latest `count` matching entries, oldest first. */
  tail(count: number, filter: AuditFilter = {}): AuditEntry[] {
    return this.search({ ...filter, limit: count }).reverse();
  }

  /**
   * Returns matching entries, newest first. `before` continues from an earlier page: only entries with a lower `seq`.
   * Default limit: 50.
   */
  search({ limit = 50, before, ...filter }: AuditFilter & { limit?: number; before?: number } = {}): AuditEntry[] {
    const { where, values } = auditConditions(filter);
    const sql = `SELECT * FROM audit WHERE ${where} AND seq < ? ORDER BY seq DESC LIMIT ?`;
    const rows = this.#database.prepare(sql).all(...values, before ?? Number.MAX_SAFE_INTEGER, limit);
    return (rows as unknown as AuditRow[]).map(auditEntryOf);
  }

  /** Returns matching entries after `seq`, oldest first, to follow the log or read all of it. Default limit: 1000. */
  after(seq: number, filter: AuditFilter = {}, limit: number = BATCH): AuditEntry[] {
    const { where, values } = auditConditions(filter);
    const sql = `SELECT * FROM audit WHERE ${where} AND seq > ? ORDER BY seq LIMIT ?`;
    return (this.#database.prepare(sql).all(...values, seq, limit) as unknown as AuditRow[]).map(auditEntryOf);
  }

  /** Yields every matching entry, oldest first, as one line of JSON each. Reads lazily. */
  *export(filter: AuditFilter = {}): Generator<string, void, undefined> {
    for (let seq = 0; ; ) {
      const entries = this.after(seq, filter);
      for (const entry of entries) yield `${JSON.stringify(entry)}\n`;
      const last = entries.at(-1);
      if (!last) return;
      seq = last.seq;
    }
  }
}

/** Returns the error for a missing head, which is fatal: no command may run without an audit entry. */
function headMissing(): SallyportError {
  return new SallyportError("StateUnusable", "The audit log has been tampered with: its head is missing.", [
    operatorStep("verify_audit", "Run `sallyport audit verify` to see how much of the log can be trusted."),
    operatorStep("other_state", "Keep this state folder as evidence and use another one with `--state DIR`."),
  ]);
}

/** Truncates long lists: a request may have any number of variables and arguments. */
function withShortLists(value: unknown): unknown {
  if (Array.isArray(value)) {
    const kept = value.slice(0, MOST_ITEMS).map(withShortLists);
    return value.length > MOST_ITEMS ? [...kept, `… [${value.length - MOST_ITEMS} more]`] : kept;
  }
  if (typeof value !== "object" || value === null || "toJSON" in value) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withShortLists(each)]));
}

/** Truncates at a space if possible, so that a secret is not cut into a part that is no longer recognized. */
function truncateText(text: string, most: number): string {
  if (text.length <= most) return text;
  const space = text.lastIndexOf(" ", most);
  const end = space > most / 2 ? space : most;
  return `${text.slice(0, end)} … [${text.length - end} more characters]`;
}
