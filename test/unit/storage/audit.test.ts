import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { SallyportError } from "../../../src/core/error.ts";
import { AuditLog } from "../../../src/storage/audit.ts";
import { inTransaction } from "../../../src/storage/database.ts";
import { newEntry } from "../../fixtures/audit-entries.ts";
import { freshDatabase } from "../../fixtures/database.ts";

function fresh() {
  const database = freshDatabase().open();
  return { database, log: new AuditLog(database) };
}

test("an entry is returned as appended, with a number, a time and a hash", () => {
  const { log } = fresh();
  const entry = newEntry({ session: "s1", detail: { reasons: [{ rule: "x" }], n: 1, none: null } });
  const from = Date.now();
  log.append(entry);
  const [{ seq, at, hash: linked, ...rest } = assert.fail("no entry")] = log.tail(10);
  assert.deepEqual(rest, entry);
  assert.equal(seq, 1);
  assert.ok(Date.parse(at) >= from && Date.parse(at) <= Date.now());
  assert.match(linked, /^[0-9a-f]{64}$/);
});

test("an empty log is valid", () => {
  assert.deepEqual(fresh().log.verify(), { entries: 0, head: { seq: 0, hash: "" }, broken: null, gaps: [] });
});

test("the chain stays valid with text that SQLite or JSON could change", () => {
  const { log } = fresh();
  const odd = "nul \0, lone \ud800, bidi \u202e, newline \n, quote ' \" \\, emoji 🚪";
  log.append(newEntry({ kind: odd, agent: odd, session: odd, actor: odd, channel: odd, outcome: odd, summary: odd }));
  log.append(newEntry({ detail: { [odd]: odd, __proto__: null, 1: "number", nested: [undefined, Number.NaN, -0] } }));
  assert.deepEqual(log.verify().broken, null);
  assert.equal(log.tail(2)[0]?.summary, odd.toWellFormed());
});

test("an entry is stored together with the change it describes, or not at all", () => {
  const { database, log } = fresh();
  log.append(newEntry());
  assert.throws(() =>
    inTransaction(database, () => {
      log.append(newEntry({ summary: "rolled back" }));
      throw new Error("the state could not be stored");
    }),
  );
  inTransaction(database, () => {
    log.append(newEntry({ summary: "kept" }));
    log.append(newEntry({ summary: "kept, too" }));
  });
  assert.deepEqual(
    log.tail(10).map(({ seq, summary }) => [seq, summary]),
    [
      [1, "ls"],
      [2, "kept"],
      [3, "kept, too"],
    ],
  );
  assert.equal(log.verify().broken, null);
});

test("masks secrets in the summary and the detail", () => {
  const { database, log } = fresh();
  log.append(
    newEntry({
      summary: "GITHUB_TOKEN=hunter2 gh api",
      detail: {
        command: "mysql",
        args: ["-phunter2", "--host", "db"],
        env: { DB_PASSWORD: "hunter2", HOME: "/root" },
        argv: ["curl", "-H", "Authorization: Bearer hunter2"],
        deep: [{ text: "curl -u me:hunter2 https://me:hunter2@example.org" }],
      },
    }),
  );
  const stored = JSON.stringify(database.prepare("SELECT * FROM audit").all());
  assert.doesNotMatch(stored, /hunter2/);
  assert.deepEqual(log.tail(1)[0]?.detail, {
    command: "mysql",
    args: ["-p•••", "--host", "db"],
    env: { DB_PASSWORD: "•••", HOME: "/root" },
    argv: ["curl", "-H", "Authorization: Bearer •••"],
    deep: [{ text: "curl -u me:••• https://me:•••@example.org" }],
  });
});

test("limits the size of entries and counts the omitted characters", () => {
  const { log } = fresh();
  log.append(newEntry({ summary: "x ".repeat(10_000), detail: { command: "y ".repeat(4_000_000) } }));
  const [entry = assert.fail("no entry")] = log.tail(1);
  assert.match(entry.summary, /^(x )+… \[19001 more characters\]$/);
  assert.ok(JSON.stringify(entry).length < 20_000);
  assert.match((entry.detail as { command: string }).command, / … \[\d+ more characters\]$/);
});

test("a log without a head rejects entries", () => {
  const { database, log } = fresh();
  database.exec("DELETE FROM audit_head");
  assert.throws(
    () => log.append(newEntry()),
    (error) => error instanceof SallyportError && error.type === "StateUnusable" && error.recovery.length > 0,
  );
  assert.equal(database.isTransaction, false);
});

test("shows a tampered entry", () => {
  const { database, log } = fresh();
  log.append(newEntry());
  database.exec("UPDATE audit SET detail = '{broken', at_ms = 'never'");
  const [entry] = log.tail(1);
  assert.deepEqual(entry?.detail, { unreadable: "{broken" });
  assert.equal(entry?.at, "never");
});

test("the export can be verified without Sallyport, as documented", () => {
  const { log } = fresh();
  for (let number = 0; number < 2500; number++) log.append(newEntry({ detail: { number } }));
  let previous = "";
  let count = 0;
  for (const line of log.export()) {
    const { seq, at, kind, agent, session, actor, channel, outcome, summary, detail, hash: linked } = JSON.parse(line);
    const fields = [previous, seq, Date.parse(at), kind, agent, session, actor, channel, outcome, summary];
    assert.equal(hash("sha256", JSON.stringify([...fields, JSON.stringify(detail)])), linked);
    previous = linked;
    count += 1;
  }
  assert.deepEqual({ count, previous }, { count: 2500, previous: log.verify().head.hash });
});

test("reports progress up to the total", () => {
  const { database, log } = fresh();
  inTransaction(database, () => {
    for (let number = 0; number < 25_000; number++) log.append(newEntry());
  });
  const told: [number, number][] = [];
  assert.equal(log.verify({ onProgress: (...progress) => told.push(progress) }).entries, 25_000);
  assert.deepEqual(told, [
    [10_000, 25_000],
    [20_000, 25_000],
    [25_000, 25_000],
  ]);
});

test("searches by every field, newest first, in pages", async (t) => {
  const { database, log } = fresh();
  const minute = (number: number) => Date.UTC(2026, 0, 1, 0, number);
  log.append(newEntry({ agent: "a", session: "s1", summary: "make all" }));
  log.append(newEntry({ agent: "b", session: "s1", kind: "exit", outcome: "completed", summary: "100% done" }));
  log.append(newEntry({ agent: "a", outcome: "blocked", summary: "rm_rf", detail: { command: 'echo "Größe"' } }));
  const shift = database.prepare("UPDATE audit SET at_ms = ? WHERE seq = ?");
  for (const seq of [1, 2, 3]) shift.run(minute(seq), seq);
  const found = (query: Parameters<AuditLog["search"]>[0]) => log.search(query).map(({ seq }) => seq);
  const cases: [string, Parameters<AuditLog["search"]>[0], number[]][] = [
    ["no condition", {}, [3, 2, 1]],
    ["agent", { agent: "a" }, [3, 1]],
    ["session", { session: "s1" }, [2, 1]],
    ["kind", { kind: "exit" }, [2]],
    ["outcome", { outcome: "blocked" }, [3]],
    ["since is inclusive", { since: minute(2) }, [3, 2]],
    ["until is exclusive", { until: minute(2) }, [1]],
    ["text in a summary, any case", { text: "MAKE" }, [1]],
    ["text with a quote in the detail", { text: 'echo "Gr' }, [3]],
    ["% is literal", { text: "0% d" }, [2]],
    ["_ is literal", { text: "m_r" }, [3]],
    ["no such text", { text: "m%r" }, []],
    ["all conditions", { agent: "a", session: "s1", kind: "run", outcome: "allowed", text: "all" }, [1]],
    ["limit", { limit: 2 }, [3, 2]],
    ["before", { before: 3, limit: 1 }, [2]],
  ];
  for (const [what, query, expected] of cases) await t.test(what, () => assert.deepEqual(found(query), expected));
  assert.deepEqual(
    log.after(1, { agent: "a" }).map(({ seq }) => seq),
    [3],
  );
  assert.deepEqual(
    log.tail(2).map(({ seq }) => seq),
    [2, 3],
  );
});

test("an entry stays small for any input", () => {
  const { log } = fresh();
  const many = Array.from({ length: 200_000 }, (_, i) => `VARIABLE_${i}`);
  const long = Array.from({ length: 90 }, () => "word ".repeat(10_000));
  log.append(newEntry({ detail: { env: many, deep: { programs: long } } }));
  const [entry = assert.fail("no entry")] = log.tail(1);
  assert.ok(JSON.stringify(entry).length < 100_000);
  const { env } = entry.detail as { env: string[] };
  assert.equal(env.length, 101);
  assert.equal(env.at(-1), "… [199900 more]");
  assert.equal(log.verify().broken, null);
});
