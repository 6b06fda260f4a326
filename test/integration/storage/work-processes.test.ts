import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { WorkQueue } from "../../../src/storage/work.ts";
import { freshDatabase } from "../../fixtures/database.ts";
import { until } from "../../fixtures/until.ts";

function fresh() {
  const file = freshDatabase();
  return { file, queue: new WorkQueue(file.open()) };
}

test("each key that three processes enqueue is accepted once", async () => {
  const { file, queue } = fresh();
  const put = await Promise.all([1, 2, 3].map(() => file.run("work-worker.ts", "enqueue", "100")));
  assert.deepEqual(
    put
      .flat()
      .map(Number)
      .sort((a, b) => a - b),
    [...Array(100).keys()],
  );
  assert.equal(queue.count(), 100);
});

test("three processes that drain the queue never hold the same item", async () => {
  const { file, queue } = fresh();
  for (let number = 0; number < 200; number++) {
    queue.enqueue({ key: String(number), type: "T", priority: "NORMAL", payload: {} });
  }
  const taken = (await Promise.all(["a", "b", "c"].map((name) => file.run("work-worker.ts", "drain", name)))).flat();
  assert.deepEqual(
    taken.map((line) => Number(line.split(" ")[0])).sort((a, b) => a - b),
    Array.from({ length: 200 }, (_, index) => index + 1),
  );
  assert.ok(
    taken.every((line) => line.endsWith(" 1")),
    "an item was claimed twice",
  );
  assert.equal(queue.count("done"), 200);
});

test("`next()` wakes for an item from another process", async () => {
  const { file, queue } = fresh();
  const waiting = queue.next({ worker: "me", timeoutMs: 60_000 });
  await file.run("work-worker.ts", "enqueue", "1");
  assert.equal((await waiting)?.key, "key 0");
});

test("the item of a killed worker is claimed again after its lease has expired", async () => {
  const { file, queue } = fresh();
  queue.enqueue({ key: "a", type: "T", priority: "HIGH", payload: {} });
  const child = file.start("work-worker.ts", "hold", "4000");
  const ended = once(child, "close");
  await until("the worker has claimed the item", () => queue.count("claimed") === 1);
  assert.equal(queue.claim({ worker: "me" }), null);
  child.kill("SIGKILL");
  await ended;
  const item = await queue.next({ worker: "me", timeoutMs: 60_000 });
  assert.deepEqual([item?.key, item?.attempts, item?.worker], ["a", 2, "me"]);
});
