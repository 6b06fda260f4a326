import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { NewAuditEntry } from "../core/audit.ts";
import { sha256 } from "./sha256.ts";

/** A row of the audit table. */
export interface AuditRow extends Omit<NewAuditEntry, "detail"> {
  seq: number;
  at_ms: number;
  /** A JSON object. */
  detail: string;
  hash: string;
}

/** The sequence number and hash of a chain's latest entry. */
export interface ChainHead {
  /** The sequence number. */
  seq: number;
  /** The hash. */
  hash: string;
}

/** The result of a verification. */
export interface ChainReport {
  /** The number of valid entries. */
  entries: number;
  /** The last valid entry. Store it outside the state folder, as the `anchor` of a later verification. */
  head: ChainHead;
  /** The first invalid entry and what is wrong with it. Null when the log is valid. */
  broken: { seq: number; why: string } | null;
  /** The entries that say that others may be missing, because the machine stopped before they were on the disk. */
  gaps: ChainGap[];
}

/** Where entries of an otherwise valid log may be missing. */
export interface ChainGap {
  /** The entry that says so. */
  seq: number;
  /** The last entry before the missing ones. */
  after: number;
}

/** Options for `verify`. */
export interface VerifyOptions {
  /** A head that was stored outside the state folder earlier. The log must still contain it. */
  anchor?: ChainHead;
  /** Called regularly with the number of verified entries and the total number of entries. */
  onProgress?(checked: number, total: number): void;
}

/** Entries per read. A long read would keep SQLite from truncating its write-ahead log. */
const BATCH = 10_000;
/** Entries verified before yielding; they take about 10 ms. */
const SMALL_BATCH = 1000;
const CORRUPT = 11;
/** The position of the kind in the columns that `batchReader` returns. */
const KIND_COLUMN = 3;

/**
 * Returns the hash of an entry. The encoding as a JSON array is unambiguous: no two different entries have the same
 * encoding.
 */
export function chainHash(previous: string, row: Omit<AuditRow, "hash">): string {
  const { seq, at_ms, kind, agent, session, actor, channel, outcome, summary, detail } = row;
  return sha256(encoded([previous, seq, at_ms, kind, agent, session, actor, channel, outcome, summary, detail]));
}

function encoded(fields: unknown[]): string {
  return JSON.stringify(fields);
}

/** Verifies the whole chain in constant memory. Stops at the first invalid entry. */
export function verifyChain(database: DatabaseSync, options: VerifyOptions = {}): ChainReport {
  const steps = verifySteps(database, options, BATCH);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Like `verifyChain`, but yields to the event loop regularly. */
export async function verifyChainInBatches(database: DatabaseSync, options: VerifyOptions = {}): Promise<ChainReport> {
  const steps = verifySteps(database, options, SMALL_BATCH);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function* verifySteps(
  database: DatabaseSync,
  { anchor, onProgress }: VerifyOptions,
  batch: number,
): Generator<undefined, ChainReport, undefined> {
  const bounds = readBounds(database);
  const total = bounds.head?.seq ?? 0;
  const gaps: ChainGap[] = [];
  let at: ChainHead = { seq: 0, hash: "" };
  const report = (why: string | null, seq = at.seq + 1): ChainReport => {
    return { entries: at.seq, head: at, broken: why === null ? null : { seq, why }, gaps };
  };
  if (!bounds.head) return report("the head of the log is missing");
  if (bounds.first < 1n) return report("it precedes the first entry", Number(bounds.first));

  const read = batchReader(database, batch);
  while (at.seq < total) {
    const from = at.seq;
    try {
      for (const row of read.iterate(from, total)) {
        const fields: unknown[] = Array.isArray(row) ? row : Object.values(row);
        const own = fields.pop() as string;
        const seq = fields[1] as number;
        if (seq !== at.seq + 1) return report("it is missing");
        fields[0] = at.hash;
        if (process.getBuiltinModule("node:crypto").hash("sha256", encoded(fields)) !== own)
          return report("it was altered or inserted");
        at = { seq, hash: own };
        if (fields[KIND_COLUMN] === "gap") gaps.push({ seq, after: seq - 1 });
        if (anchor?.seq === seq && anchor.hash !== own) return report("it does not match the anchor", seq);
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
      return report(`it cannot be read: ${(error as Error).message}`);
    }
    if (at.seq === from) return report(`it is missing: the log ends here, but ${total} entries were written`);
    onProgress?.(at.seq, total);
    yield;
  }
  if (at.hash !== bounds.head.hash) return report("it does not match the recorded end of the log", at.seq);
  if (bounds.last > BigInt(total))
    return report("it comes after the recorded end of the log, so it was not written by Sallyport");
  if (anchor && anchor.seq > at.seq) return report(`it is missing: the log once had ${anchor.seq} entries`);
  return report(null);
}

/**
 * Returns a statement whose columns are in the order in which `chainHash` encodes them: first a placeholder for the
 * previous hash, and last the entry's own hash, which is not encoded.
 */
function batchReader(database: DatabaseSync, batch: number): StatementSync {
  const statement = database.prepare(
    `SELECT '' AS previous, seq, at_ms, kind, agent, session, actor, channel, outcome, summary, detail, hash
     FROM audit WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ${batch}`,
  ) as StatementSync & { setReturnArrays?(enabled: boolean): void };
  // Arrays are twice as fast as objects. Older Node versions return objects, with the values in the same order.
  statement.setReturnArrays?.(true);
  return statement;
}

/** Reads all bounds in one statement, and so from one snapshot. Entries appended later are not verified. */
function readBounds(database: DatabaseSync): { head: ChainHead | null; first: bigint; last: bigint } {
  const statement = database.prepare(
    `SELECT (SELECT min(seq) FROM audit) AS first, (SELECT max(seq) FROM audit) AS last,
       (SELECT seq FROM audit_head) AS seq, (SELECT hash FROM audit_head) AS hash`,
  );
  statement.setReadBigInts(true); // A forged number may exceed the safe integers.
  const row = statement.get() as { first: bigint | null; last: bigint | null; seq: bigint | null; hash: string };
  const head = row.seq === null ? null : { seq: Number(row.seq), hash: row.hash };
  return { head, first: row.first ?? 1n, last: row.last ?? 0n };
}

function isDamage(error: unknown): boolean {
  const { code, errcode } = error as { code?: string; errcode?: number };
  return code === "ERR_OUT_OF_RANGE" || ((errcode ?? 0) & 0xff) === CORRUPT;
}
