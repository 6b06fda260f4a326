import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, afterEach, before, test } from "node:test";
import { DBOS } from "@dbos-inc/dbos-sdk";
import { Dispatcher } from "../../../src/queue/dispatch.ts";
import { execCallback } from "../../../src/queue/items.ts";
import { WorkQueue } from "../../../src/storage/work.ts";
import { TestDatabase } from "../../fixtures/database.ts";
import { NO_POSTGRES, Postgres } from "../../fixtures/postgres.ts";
import { until } from "../../fixtures/until.ts";

const skip = NO_POSTGRES;
const QUEUE = { queue: "ends", workflow: "onEnd" };
const noLogger = { info() {}, debug() {}, warn() {}, error() {} };
let postgres: Postgres;
/** The arguments that the workflow received, by workflow ID. */
const ran: { id: string | undefined; item: { key: string; payload: { session_id: string; exit_code: number } } }[] = [];

before(async () => {
  if (skip) return;
  postgres = await Postgres.start();
  DBOS.setConfig({ name: "tested", systemDatabaseUrl: postgres.url, logger: noLogger });
  DBOS.registerWorkflow(
    async (item: (typeof ran)[0]["item"]) => {
      ran.push({ id: DBOS.workflowID, item });
    },
    { name: QUEUE.workflow },
  );

  await DBOS.launch();
  await DBOS.registerQueue(QUEUE.queue);
});

after(async () => {
  if (skip) return;
  await DBOS.shutdown();
  await postgres.close();
});

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function fixture(databaseUrl = postgres.url) {
  const file = new TestDatabase();
  const queue = new WorkQueue(file.open());
  const failures: string[] = [];
  const dispatcher = new Dispatcher(
    queue,
    { dbos: { databaseUrl, ...QUEUE } },
    {
      run: () => assert.fail("the dispatcher ran a command"),
      backoff: () => 50,
      dbosTimeoutMs: 20_000,
      onAttempt: (_, failure) => failure && failures.push(failure.why),
    },
  );
  cleanups.push(
    () => file.remove(),
    () => dispatcher.stop(),
  );
  return { queue, dispatcher, failures };
}

const ended = (id: string) => execCallback({ id, status: "completed", exitCode: 3, logPath: null, lastLines: ["bye"] });

test("the end of a session starts one workflow, even when it is delivered twice", { skip }, async () => {
  const first = fixture();
  first.dispatcher.start();
  first.queue.enqueue(ended("s1"));
  await until("the work item is done", () => first.queue.count("done") === 1, 60_000);
  await until("the workflow has run", () => ran.length === 1, 60_000);
  assert.equal(ran[0]?.id, "exec_callback:s1");
  assert.deepEqual(ran[0]?.item.payload.exit_code, 3);
  assert.deepEqual(first.failures, []);

  // A second gateway without a record of the delivery, as after a crash between delivery and acknowledgement.
  const second = fixture();
  second.dispatcher.start();
  second.queue.enqueue(ended("s1"));
  second.queue.enqueue(ended("s2"));
  await until("both work items are done", () => second.queue.count("done") === 2, 60_000);
  await until("the second workflow has run", () => ran.some(({ id }) => id === "exec_callback:s2"), 60_000);
  assert.equal(ran.length, 2);
});

test("retries while the database is unavailable and does not reveal its URL", { skip }, async () => {
  const { queue, dispatcher, failures } = fixture();
  await postgres.stop();
  dispatcher.start();
  queue.enqueue(ended("s3"));
  await until("one delivery has failed", () => failures.length > 0, 60_000);
  assert.match(failures[0] ?? "", /^enqueuing in DBOS failed: /);
  for (const failure of failures) assert.ok(!failure.includes("tester@"), failure);
  await postgres.start();
  await until("the work item is done", () => queue.count("done") === 1, 60_000);
  await until("the workflow has run", () => ran.some(({ id }) => id === "exec_callback:s3"), 60_000);
  assert.equal(ran.filter(({ id }) => id === "exec_callback:s3").length, 1);
});

test("rejects a URL that is not a PostgreSQL database", () => {
  assert.throws(() => fixture("mysql://x"), /must contain the URL of a PostgreSQL database/);
});

test("the error names the package that is not installed", () => {
  const hooks = `import { registerHooks } from "node:module";
    registerHooks({ resolve: (name, context, next) => {
      if (name.startsWith("@dbos-inc/")) throw new Error("not installed");
      return next(name, context);
    } });
    const { checkDbos } = await import(${JSON.stringify(import.meta.resolve("../../../src/queue/dbos.ts"))});
    try { checkDbos({ databaseUrl: "postgresql://x/y", queue: "q", workflow: "w" }); } catch (error) {
      console.log(JSON.stringify(error));
    }`;
  const stdout = execFileSync(process.execPath, ["--input-type=module", "-e", hooks], { encoding: "utf8" });
  const { type, message, recovery } = JSON.parse(stdout);
  assert.equal(type, "InvalidConfiguration");
  assert.match(message, /requires the package @dbos-inc\/dbos-sdk/);
  assert.match(recovery[0].hint, /npm install @dbos-inc\/dbos-sdk/);
});
