import assert from "node:assert/strict";
import { after, test } from "node:test";
import { AuditLog } from "../../../src/storage/audit.ts";
import type { AuditRow } from "../../../src/storage/audit-chain.ts";
import { chainHash } from "../../../src/storage/audit-chain.ts";
import { newEntry } from "../../fixtures/audit-entries.ts";
import { TestDatabase } from "../../fixtures/database.ts";

const file = new TestDatabase();
after(() => file.remove());
const database = file.open();
const log = new AuditLog(database);
for (let number = 1; number <= 20; number++) log.append(newEntry({ session: "s", detail: { number } }));
const noted = log.verify().head;

/** Tampers with the log, verifies it, and undoes the change. */
function tampered(sql: string | (() => void), options: Parameters<AuditLog["verify"]>[0] = {}) {
  database.exec("BEGIN IMMEDIATE");
  try {
    if (typeof sql === "string") database.exec(sql);
    else sql();
    return log.verify(options);
  } finally {
    database.exec("ROLLBACK");
  }
}

const ALTERED = "it was altered or inserted";
const SHIFT = "UPDATE audit SET seq = -seq WHERE seq >= 7; UPDATE audit SET seq = 1 - seq WHERE seq < 0;";
const copy = (from: number, to: string) =>
  `INSERT INTO audit SELECT ${to}, at_ms, kind, agent, session, actor, channel, outcome, summary, detail, hash
   FROM audit WHERE seq = ${from}`;

const CASES: [what: string, sql: string, seq: number, why: string][] = [
  [
    "a changed number",
    "UPDATE audit SET seq = 100 WHERE seq = 20",
    20,
    "it is missing: the log ends here, but 20 entries were written",
  ],
  ["a changed time", "UPDATE audit SET at_ms = at_ms + 1 WHERE seq = 7", 7, ALTERED],
  ["a time changed by less than a millisecond", "UPDATE audit SET at_ms = at_ms + 0.5 WHERE seq = 7", 7, ALTERED],
  ["a changed kind", "UPDATE audit SET kind = 'exit' WHERE seq = 7", 7, ALTERED],
  ["a changed agent", "UPDATE audit SET agent = 'other' WHERE seq = 1", 1, ALTERED],
  ["a changed session", "UPDATE audit SET session = 't' WHERE seq = 7", 7, ALTERED],
  ["a removed session", "UPDATE audit SET session = NULL WHERE seq = 7", 7, ALTERED],
  ["a changed actor", "UPDATE audit SET actor = 'a person' WHERE seq = 7", 7, ALTERED],
  ["a changed channel", "UPDATE audit SET channel = 'cli' WHERE seq = 7", 7, ALTERED],
  ["a changed outcome", "UPDATE audit SET outcome = 'denied' WHERE seq = 7", 7, ALTERED],
  ["a changed summary", "UPDATE audit SET summary = 'ls ' WHERE seq = 20", 20, ALTERED],
  ["a summary changed to bytes", "UPDATE audit SET summary = CAST(summary AS BLOB) WHERE seq = 7", 7, ALTERED],
  ["a changed detail", "UPDATE audit SET detail = '{}' WHERE seq = 7", 7, ALTERED],
  ["changed whitespace in a detail", "UPDATE audit SET detail = detail || ' ' WHERE seq = 7", 7, ALTERED],
  ["a changed hash", "UPDATE audit SET hash = upper(hash) WHERE seq = 7", 7, ALTERED],
  [
    "text moved from one column to the next",
    "UPDATE audit SET actor = actor || channel, channel = '' WHERE seq = 7",
    7,
    ALTERED,
  ],
  ["a removed first entry", "DELETE FROM audit WHERE seq = 1", 1, "it is missing"],
  ["a removed entry", "DELETE FROM audit WHERE seq = 7", 7, "it is missing"],
  [
    "a removed entry with the rest renumbered",
    "DELETE FROM audit WHERE seq = 7; UPDATE audit SET seq = seq - 1 WHERE seq > 7",
    7,
    ALTERED,
  ],
  ["an inserted entry", `${SHIFT} ${copy(6, "7")}`, 7, ALTERED],
  ["an entry inserted before the first", copy(1, "0"), 0, "it precedes the first entry"],
  [
    "an entry inserted far before the first",
    copy(1, "-9223372036854775807"),
    Number(-(2n ** 63n)),
    "it precedes the first entry",
  ],
  [
    "an entry inserted after the last",
    copy(20, "21"),
    21,
    "it comes after the recorded end of the log, so it was not written by Sallyport",
  ],
  [
    "two swapped entries",
    "UPDATE audit SET seq = -1 WHERE seq = 7; UPDATE audit SET seq = 7 WHERE seq = 8; UPDATE audit SET seq = 8 WHERE seq = -1",
    7,
    ALTERED,
  ],
  [
    "a truncated end",
    "DELETE FROM audit WHERE seq > 12",
    13,
    "it is missing: the log ends here, but 20 entries were written",
  ],
  ["an emptied log", "DELETE FROM audit", 1, "it is missing: the log ends here, but 20 entries were written"],
  [
    "a truncated end with a changed head",
    "DELETE FROM audit WHERE seq > 12; UPDATE audit_head SET seq = 12",
    12,
    "it does not match the recorded end of the log",
  ],
  ["a removed head", "DELETE FROM audit_head", 1, "the head of the log is missing"],
  ["a number too large to read", "UPDATE audit SET at_ms = 9223372036854775807 WHERE seq = 7", 7, ""],
];

for (const [what, sql, seq, why] of CASES) {
  test(`detects ${what} and names the entry`, () => {
    const { broken } = tampered(sql);
    assert.equal(broken?.seq, seq);
    if (why === "") assert.match(broken?.why ?? "", /^it cannot be read: /);
    else assert.equal(broken?.why, why);
  });
}

test("a valid log verifies, even while it is written to", () => {
  assert.deepEqual(log.verify(), { entries: 20, head: noted, broken: null, gaps: [] });
});

test("a truncated end is detected after later entries", () => {
  const { broken } = tampered(() => {
    database.exec("DELETE FROM audit WHERE seq > 12");
    log.append(newEntry());
  });
  assert.deepEqual(broken, { seq: 13, why: "it is missing" });
});

/** Recomputes all hashes, as an attacker can. Only a head stored elsewhere reveals that. */
function forge() {
  database.exec("UPDATE audit SET outcome = 'allowed', summary = 'harmless' WHERE seq = 7");
  rehash();
}

function rehash() {
  let head = { seq: 0, hash: "" };
  for (const row of database.prepare("SELECT * FROM audit ORDER BY seq").all() as unknown as AuditRow[]) {
    head = { seq: row.seq, hash: chainHash(head.hash, row) };
    database.prepare("UPDATE audit SET hash = ? WHERE seq = ?").run(head.hash, row.seq);
  }
  database.prepare("UPDATE audit_head SET seq = ?, hash = ?").run(head.seq, head.hash);
}

test("an anchor reveals a log that was forged completely", () => {
  assert.equal(tampered(forge).broken, null);
  assert.deepEqual(tampered(forge, { anchor: noted }).broken, {
    seq: 20,
    why: "it does not match the anchor",
  });
});

test("an anchor reveals a log that was forged and shortened", () => {
  const shorten = () => {
    database.exec("DELETE FROM audit WHERE seq > 12");
    rehash();
  };
  assert.deepEqual(tampered(shorten, { anchor: noted }).broken, {
    seq: 13,
    why: "it is missing: the log once had 20 entries",
  });
});

test("a log that has grown still contains the anchor", () => {
  const { broken, entries } = tampered(() => log.append(newEntry()), { anchor: noted });
  assert.deepEqual({ broken, entries }, { broken: null, entries: 21 });
});
