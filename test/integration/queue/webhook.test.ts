import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { afterEach, test } from "node:test";
import { SallyportError } from "../../../src/core/error.ts";
import { Dispatcher, type DispatchOptions } from "../../../src/queue/dispatch.ts";
import { execCallback } from "../../../src/queue/items.ts";
import { WorkQueue } from "../../../src/storage/work.ts";
import { TestDatabase } from "../../fixtures/database.ts";
import { until } from "../../fixtures/until.ts";
import { Receiver } from "./receiver.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const SECRET = "shared secret";
const CALLBACK = execCallback({
  id: "s1",
  status: "completed",
  exitCode: 3,
  logPath: "/w/.tmp/exec/s1.log",
  lastLines: ["1", "2"],
});

async function fixture(options: Partial<DispatchOptions> = {}) {
  const file = new TestDatabase();
  const queue = new WorkQueue(file.open());
  const receiver = new Receiver();
  const url = await receiver.listen();
  const failures: string[] = [];
  const dispatcher = new Dispatcher(
    queue,
    { webhook: { url, secret: SECRET } },
    {
      run: () => assert.fail("the dispatcher ran a command"),
      backoff: () => 10,
      onAttempt: (_, failure) => failure && failures.push(failure.why),
      ...options,
    },
  );
  cleanups.push(
    () => file.remove(),
    () => receiver.close(),
    () => dispatcher.stop(),
  );
  return { queue, receiver, dispatcher, failures };
}

test("posts an item with a signed timestamp and acknowledges it on success", async () => {
  const { queue, receiver, dispatcher, failures } = await fixture();
  dispatcher.start();
  queue.enqueue(CALLBACK);
  await until("the item is done", () => queue.count("done") === 1);

  assert.equal(receiver.received.length, 1);
  const [{ method, headers, body } = assert.fail("the webhook received no request")] = receiver.received;
  const { createdAt, ...rest } = JSON.parse(body);
  assert.deepEqual(rest, {
    id: 1,
    key: "exec_callback:s1",
    type: "EXEC_CALLBACK",
    priority: "HIGH",
    payload: {
      type: "EXEC_CALLBACK",
      priority: "HIGH",
      session_id: "s1",
      status: "completed",
      exit_code: 3,
      log_path: "/w/.tmp/exec/s1.log",
      last_lines: ["1", "2"],
    },
    attempts: 1,
  });
  assert.equal(method, "POST");
  assert.equal(headers["content-type"], "application/json");
  assert.equal(decodeURIComponent(String(headers["sallyport-key"])), "exec_callback:s1");
  const timestamp = String(headers["sallyport-timestamp"]);
  assert.ok(Math.abs(Date.now() / 1000 - Number(timestamp)) < 60);
  const expected = createHmac("sha256", SECRET).update(`${timestamp}.${body}`).digest("hex");
  assert.equal(headers["sallyport-signature"], `v1=${expected}`);
  assert.deepEqual(failures, []);
  assert.ok(Date.parse(createdAt) > 0);
});

test("retries after an error, a redirect and a timeout", async () => {
  const { queue, receiver, dispatcher, failures } = await fixture({ webhookTimeoutMs: 3000 });
  receiver.answers = [500, 302, 429, "never"];
  dispatcher.start();
  queue.enqueue(CALLBACK);
  await until("the item is done", () => queue.count("done") === 1);
  assert.deepEqual(failures, [
    "the webhook returned status 500",
    "the webhook returned status 302",
    "the webhook returned status 429",
    "the webhook request failed: timed out",
  ]);
  assert.deepEqual(
    receiver.received.map(({ body }) => JSON.parse(body).attempts),
    [1, 2, 3, 4, 5],
  );
  assert.equal(queue.list()[0]?.note, failures.at(-1));
});

test("retries until the receiver is available", async () => {
  const { queue, receiver, dispatcher, failures } = await fixture();
  await receiver.close();
  dispatcher.start();
  queue.enqueue(CALLBACK);
  await until("three deliveries have failed", () => failures.length >= 3);
  assert.match(failures[0] ?? "", /ECONNREFUSED/);
  assert.equal(queue.count("open"), 1);
  await receiver.listen();
  await until("the item is done", () => queue.count("done") === 1);
});

test("the delay grows with each attempt and does not hold up other items", async () => {
  const asked: number[] = [];
  const backoff = (attempts: number) => {
    asked.push(attempts);
    return attempts < 3 ? 10 : 60_000;
  };
  const { queue, receiver, dispatcher } = await fixture({ backoff });
  receiver.answers = [500, 500, 500];
  dispatcher.start();
  queue.enqueue(CALLBACK);
  await until("the third delivery has failed", () => asked.length === 3);
  assert.deepEqual(asked, [1, 2, 3]);
  queue.enqueue({ ...CALLBACK, key: "another" });
  await until("the other item is done", () => queue.count("done") === 1);
  assert.equal(queue.count("pending"), 1);
});

test("stopping the dispatcher during a request returns the item to the queue immediately", async () => {
  const { queue, receiver, dispatcher } = await fixture({ backoff: () => 60_000 });
  receiver.answers = ["never"];
  dispatcher.start();
  queue.enqueue(CALLBACK);
  await until("the receiver has been called", () => receiver.received.length === 1);
  await dispatcher.stop();
  assert.equal(queue.claim({ worker: "next" })?.attempts, 2);
});

test("the dispatcher can be restarted, and a second start has no effect", async () => {
  const { queue, receiver, dispatcher } = await fixture();
  dispatcher.start();
  dispatcher.start();
  await dispatcher.stop();
  await dispatcher.stop();
  queue.enqueue(CALLBACK);
  dispatcher.start();
  await until("the item is done", () => queue.count("done") === 1);
  assert.equal(receiver.received.length, 1);
});

test("two dispatchers share the items of one queue", async () => {
  const { queue, receiver, dispatcher } = await fixture();
  const webhook = { url: `http://127.0.0.1:${receiver.port}/hook`, secret: SECRET };
  const other = new Dispatcher(queue, { webhook }, { run: () => assert.fail("the dispatcher ran a command") });
  cleanups.push(() => other.stop());
  dispatcher.start();
  other.start();
  for (let number = 0; number < 30; number++) queue.enqueue({ ...CALLBACK, key: `key ${number}` });
  await until("all items are done", () => queue.count("done") === 30);
  const keys = receiver.received.map(({ body }) => JSON.parse(body).key);
  assert.deepEqual([keys.length, new Set(keys).size], [30, 30]);
});

test("rejects an invalid webhook at the start", () => {
  const file = new TestDatabase();
  cleanups.push(() => file.remove());
  const queue = new WorkQueue(file.open());
  const run = () => assert.fail("the dispatcher ran a command");
  const targets = [
    { webhook: { url: "ftp://example.org", secret: "x" } },
    { webhook: { url: "example.org", secret: "x" } },
    { webhook: { url: "https://example.org", secret: "" } },
    { command: [] },
  ];
  for (const target of targets) {
    assert.throws(
      () => new Dispatcher(queue, target, { run }),
      (error) => error instanceof SallyportError && error.type === "InvalidConfiguration",
    );
  }
});
