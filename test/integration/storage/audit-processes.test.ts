import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { AuditLog } from "../../../src/storage/audit.ts";
import { newEntry } from "../../fixtures/audit-entries.ts";
import { freshDatabase } from "../../fixtures/database.ts";
import { until } from "../../fixtures/until.ts";

function fresh() {
  const file = freshDatabase();
  return { file, log: new AuditLog(file.open()) };
}

test("three processes append to one chain, each in its own order", async () => {
  const { file, log } = fresh();
  const names = ["one", "two", "three"];
  await Promise.all(names.map((name) => file.run("audit-writer.ts", name, "300")));
  assert.deepEqual({ ...log.verify(), head: null }, { entries: 900, head: null, broken: null, gaps: [] });
  for (const agent of names) {
    const numbers = log.after(0, { agent }).map(({ summary }) => Number(summary));
    assert.deepEqual(numbers, [...numbers.keys()]);
    assert.equal(numbers.length, 300);
  }
});

test("a process killed while it appends leaves a valid chain that others continue", async () => {
  const { file, log } = fresh();
  for (let round = 0; round < 5; round++) {
    const before = log.verify().entries;
    const child = file.start("audit-writer.ts", `round ${round}`, "1000000");
    const ended = once(child, "close");
    await until("the process has appended some entries", () => (log.tail(1)[0]?.seq ?? 0) > before + 20);
    child.kill("SIGKILL");
    await ended;
    log.append(newEntry({ summary: "after the kill" }));
    const { broken, entries } = log.verify();
    assert.equal(broken, null);
    assert.ok(entries > before + 20);
    // Both entries of a transaction exist, or neither.
    const last = log.search({ agent: `round ${round}`, limit: 1 })[0];
    assert.notEqual(Number(last?.summary) % 3, 1);
  }
});
