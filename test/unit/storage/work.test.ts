import assert from "node:assert/strict";
import { test } from "node:test";
import { SallyportError } from "../../../src/core/error.ts";
import { backoffMs } from "../../../src/queue/dispatch.ts";
import { inTransaction } from "../../../src/storage/database.ts";
import type { NewWorkItem } from "../../../src/storage/work.ts";
import { WorkQueue } from "../../../src/storage/work.ts";
import { freshDatabase } from "../../fixtures/database.ts";
import { pause, until } from "../../fixtures/until.ts";

function fresh() {
  const file = freshDatabase();
  const database = file.open();
  return { file, database, queue: new WorkQueue(database) };
}

const item = (key: string, more: Partial<NewWorkItem> = {}): NewWorkItem => {
  return { key, type: "T", priority: "NORMAL", payload: { key }, ...more };
};

const ME = { worker: "me" };

function failsWith(type: string) {
  return (error: unknown) => error instanceof SallyportError && error.type === type && error.recovery.length > 0;
}

function claimed(queue: WorkQueue, options: Parameters<WorkQueue["claim"]>[0] = ME) {
  return queue.claim(options) ?? assert.fail("there is nothing to claim");
}

test("accepts a key once, even after the item is done", () => {
  const { queue } = fresh();
  assert.equal(queue.enqueue(item("a")), true);
  assert.equal(queue.enqueue(item("a", { priority: "HIGH", payload: { other: true } })), false);
  const { id, lease } = claimed(queue);
  assert.equal(queue.enqueue(item("a")), false);
  queue.ack(id, lease);
  assert.equal(queue.enqueue(item("a")), false);
  assert.deepEqual([queue.count(), queue.count("open"), queue.count("done")], [1, 0, 1]);
});

test("an item is stored together with the change it belongs to, or not at all", () => {
  const { database, queue } = fresh();
  assert.throws(() =>
    inTransaction(database, () => {
      queue.enqueue(item("a"));
      throw new Error("the state could not be stored");
    }),
  );
  assert.equal(queue.count(), 0);
  assert.equal(queue.enqueue(item("a")), true);
});

test("a claimed item has all its fields", () => {
  const { queue } = fresh();
  queue.enqueue(item("a", { priority: "HIGH", payload: { session_id: "s", last_lines: ["1", "2"] } }));
  const { createdAt, dueAt, lease, ...rest } = claimed(queue, { worker: "me", leaseMs: 5000 });
  assert.deepEqual(rest, {
    id: 1,
    key: "a",
    type: "T",
    priority: "HIGH",
    payload: { session_id: "s", last_lines: ["1", "2"] },
    state: "claimed",
    attempts: 1,
    worker: "me",
    note: null,
    doneAt: null,
  });
  assert.match(lease, /^[0-9a-f-]{36}$/);
  assert.ok(Date.parse(dueAt) - Date.parse(createdAt) >= 5000);
});

test("claims by priority, then oldest first", () => {
  const { queue } = fresh();
  const order = ["LOW 1", "NORMAL 1", "HIGH 1", "LOW 2", "HIGH 2", "NORMAL 2"];
  for (const key of order) queue.enqueue(item(key, { priority: key.split(" ")[0] as NewWorkItem["priority"] }));
  const taken = order.map(() => claimed(queue).key);
  assert.deepEqual(taken, ["HIGH 1", "HIGH 2", "NORMAL 1", "NORMAL 2", "LOW 1", "LOW 2"]);
  assert.equal(queue.claim(ME), null);
});

test("claims only due items of the given types", () => {
  const { queue } = fresh();
  queue.enqueue(item("later", { dueMs: Date.now() + 60_000, priority: "HIGH" }));
  queue.enqueue(item("other", { type: "OTHER" }));
  assert.equal(queue.claim({ ...ME, types: ["T"] }), null);
  assert.equal(queue.claim({ ...ME, types: [] }), null);
  assert.equal(claimed(queue, { ...ME, types: ["X", "OTHER"] }).key, "other");
  assert.equal(queue.claim(ME), null);
});

test("another consumer can claim an item whose lease has expired, and the first lease is invalid", async () => {
  const { queue } = fresh();
  queue.enqueue(item("a"));
  const first = claimed(queue, { worker: "first", leaseMs: 2000 });
  assert.equal(queue.claim({ worker: "second" }), null);
  await until("the lease has expired", () => queue.count("pending") === 1);
  assert.equal(queue.count("claimed"), 0);
  const second = claimed(queue, { worker: "second" });
  assert.deepEqual([second.id, second.attempts], [first.id, 2]);
  assert.notEqual(second.lease, first.lease);
  assert.throws(() => queue.ack(first.id, first.lease), failsWith("LeaseLost"));
  assert.throws(() => queue.retry(first.id, first.lease), failsWith("LeaseLost"));
  queue.ack(second.id, second.lease);
});

test("items stay claimable, and leases and delays keep their length, when the clock is set back", (t) => {
  const { file, queue } = fresh();
  const HOUR = 3_600_000;
  let now = Date.now();
  t.mock.method(Date, "now", () => now);
  for (const key of ["leased", "delayed"]) queue.enqueue(item(key));
  const leased = claimed(queue, { ...ME, leaseMs: 20_000 });
  const delayed = claimed(queue);
  queue.retry(delayed.id, delayed.lease, { delayMs: 30_000 });
  queue.enqueue(item("new"));
  queue.enqueue(item("later", { dueMs: now + 10_000 }));
  now -= HOUR;
  // A gateway that was started after the clock was set back, and one that was running.
  const other = new WorkQueue(file.open());
  assert.equal(claimed(other).key, "new");
  assert.equal(queue.claim(ME), null);
  now += 10_000;
  assert.equal(claimed(queue).key, "later");
  now += 10_000;
  assert.equal(claimed(other).key, leased.key);
  assert.equal(other.claim(ME), null);
  now += 10_000;
  assert.equal(claimed(queue).key, delayed.key);
});

test("a wait with a timeout ends in time when the clock is set back", async (t) => {
  const { queue } = fresh();
  const real = Date.now;
  let back = 0;
  t.mock.method(Date, "now", () => real() - back);
  const waiting = queue.next({ ...ME, timeoutMs: 300 });
  back = 3_600_000;
  assert.equal(await waiting, null);
});

test("an expired lease is valid until another consumer claims the item", async () => {
  const { queue } = fresh();
  queue.enqueue(item("a"));
  const { id, lease } = claimed(queue, { ...ME, leaseMs: 1 });
  await pause(10);
  queue.ack(id, lease);
  assert.equal(queue.count("done"), 1);
});

test("acknowledging twice is harmless; a wrong lease or unknown item is an error", () => {
  const { queue } = fresh();
  queue.enqueue(item("a"));
  const { id, lease } = claimed(queue);
  assert.throws(() => queue.ack(id, "guessed"), failsWith("LeaseLost"));
  queue.ack(id, lease);
  queue.ack(id, lease);
  assert.throws(() => queue.ack(id, "guessed"), failsWith("LeaseLost"));
  assert.throws(() => queue.retry(id, lease), failsWith("LeaseLost"));
  assert.throws(() => queue.ack(99, lease), failsWith("WorkNotFound"));
  assert.throws(() => queue.retry(99, lease), failsWith("WorkNotFound"));
});

test("a returned item waits, keeps its position and has a note", async () => {
  const { queue } = fresh();
  queue.enqueue(item("a"));
  queue.enqueue(item("b"));
  const first = claimed(queue);
  queue.retry(first.id, first.lease, { delayMs: 2000, note: "mail is down" });
  assert.equal(claimed(queue).key, "b");
  assert.equal(queue.list({ state: "pending" })[0]?.note, "mail is down");
  const again = await queue.next(ME);
  assert.deepEqual([again?.key, again?.attempts], ["a", 2]);
});

test("lists items in claim order, newest done items first, without leases", () => {
  const { queue } = fresh();
  for (const key of ["a", "b", "c", "d"]) queue.enqueue(item(key));
  queue.enqueue(item("urgent", { priority: "HIGH" }));
  const { id, lease } = claimed(queue);
  queue.ack(id, lease);
  claimed(queue);
  const keys = (state: Parameters<WorkQueue["list"]>[0]) => queue.list(state).map(({ key }) => key);
  assert.deepEqual(keys({}), ["a", "b", "c", "d", "urgent"]);
  assert.deepEqual(keys({ state: "open" }), ["a", "b", "c", "d"]);
  assert.deepEqual(keys({ state: "pending" }), ["b", "c", "d"]);
  assert.deepEqual(keys({ state: "claimed" }), ["a"]);
  assert.deepEqual(keys({ state: "done" }), ["urgent"]);
  assert.deepEqual(keys({ limit: 2 }), ["a", "b"]);
  assert.ok(queue.list().every((each) => !("lease" in each)));
});

test("purges old done items and items never claimed, but no claimed item", async () => {
  const { queue } = fresh();
  for (const key of ["done", "claimed", "unclaimed"]) queue.enqueue(item(key));
  const { id, lease } = claimed(queue);
  queue.ack(id, lease);
  claimed(queue);
  assert.equal(queue.purge(60_000), 0);
  await pause(5);
  assert.equal(queue.purge(1), 2);
  assert.deepEqual(
    queue.list({ state: "all" }).map(({ key }) => key),
    ["claimed"],
  );
});

test("`next()` resolves with an item or at its timeout, and rejects when aborted", async () => {
  const { queue } = fresh();
  queue.enqueue(item("there"));
  assert.equal((await queue.next(ME))?.key, "there");

  const waiting = queue.next(ME);
  queue.enqueue(item("put in"));
  assert.equal((await waiting)?.key, "put in");

  assert.equal(await queue.next({ ...ME, timeoutMs: 20 }), null);

  const abort = new AbortController();
  const called = queue.next({ ...ME, signal: abort.signal });
  abort.abort(new Error("enough"));
  await assert.rejects(called, /enough/);
  await assert.rejects(queue.next({ ...ME, signal: abort.signal }), /enough/);
});

test("several waiters in one process get different items", async () => {
  const { queue } = fresh();
  const waiting = [1, 2, 3].map((number) => queue.next({ worker: `w${number}` }));
  for (const key of ["a", "b", "c"]) queue.enqueue(item(key));
  const keys = (await Promise.all(waiting)).map((each) => each?.key);
  assert.deepEqual(keys.sort(), ["a", "b", "c"]);
});

test("`next()` wakes for an item that becomes due and for an expired lease", async () => {
  const { queue } = fresh();
  queue.enqueue(item("due soon", { dueMs: Date.now() + 30 }));
  assert.equal((await queue.next({ ...ME, leaseMs: 30 }))?.key, "due soon");
  assert.equal((await queue.next(ME))?.attempts, 2);
});

test("retry delays double up to 15 minutes, with jitter", () => {
  assert.deepEqual(
    [1, 2, 3, 4].map((attempts) => backoffMs(attempts, 1)),
    [1000, 2000, 4000, 8000],
  );
  assert.deepEqual([backoffMs(1, 0), backoffMs(11, 1), backoffMs(5000, 1)], [500, 900_000, 900_000]);
  const some = new Set(Array.from({ length: 20 }, () => backoffMs(10)));
  assert.ok(some.size > 10);
});
