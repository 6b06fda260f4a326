import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { Dispatcher, type DispatchOptions } from "../../../src/queue/dispatch.ts";
import { execCallback } from "../../../src/queue/items.ts";
import { LocalSessionReader } from "../../../src/session/session-folder.ts";
import { WorkQueue } from "../../../src/storage/work.ts";
import { TestDatabase } from "../../fixtures/database.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new GatewayFixture();
const file = new TestDatabase();
let gateway: Gateway;
let queue: WorkQueue;
before(async () => {
  gateway = await fixture.open();
  queue = new WorkQueue(file.open());
});
after(async () => {
  file.remove();
  await fixture.close();
});

async function dispatching(command: string[], use: () => Promise<void>, options: Partial<DispatchOptions> = {}) {
  const run: DispatchOptions["run"] = (request, { signal }) => gateway.run(request, { signal });
  const dispatcher = new Dispatcher(queue, { command }, { run, backoff: () => 10, ...options });
  dispatcher.start();
  try {
    await use();
  } finally {
    await dispatcher.stop();
  }
}

const callback = (id: string) => execCallback({ id, status: "completed", exitCode: 0, logPath: null, lastLines: [] });

test("runs the command through the gateway with the item on stdin, and retries until it succeeds", async () => {
  writeFileSync(fixture.path("left"), "2");
  const script = 'cat > item; n=$(cat left); [ "$n" = 0 ] || { echo $((n - 1)) > left; exit 3; }';
  const failures: string[] = [];
  const onAttempt: DispatchOptions["onAttempt"] = (_, failure) => failure && failures.push(failure.why);
  await dispatching(
    ["bash", "-c", script],
    async () => {
      queue.enqueue(callback("s1"));
      await until("the item is done", () => queue.count("open") === 0);
    },
    { onAttempt },
  );
  assert.deepEqual(failures, Array(2).fill("the command failed: exit code 3"));
  assert.equal(JSON.parse(readFileSync(fixture.path("item"), "utf8")).key, "exec_callback:s1");
  assert.equal(gateway.list().filter(({ intent }) => intent === "Deliver work item exec_callback:s1").length, 3);
});

test("a missing command is a failed delivery with a reason", async () => {
  await dispatching(["no-such-program-here"], async () => {
    queue.enqueue(callback("s2"));
    await until("one delivery has failed", () => (queue.list({ state: "open" })[0]?.note ?? null) !== null);
  });
  assert.match(queue.list({ state: "open" })[0]?.note ?? "", /^the command .*no-such-program-here/);
});

test("stopping the dispatcher kills the running command and returns the item to the queue", async () => {
  const [waiting] = queue.list({ state: "open" });
  assert.equal(waiting?.key, "exec_callback:s2");
  await dispatching(["sleep", "1000"], async () => {
    await until("the command is running", () => fixture.alive().length > 0);
  });
  await until("the command has exited", () => fixture.alive().length === 0);
  assert.equal(queue.claim({ worker: "next" })?.key, "exec_callback:s2");
});

const lastLines = (id: string, capture: "merged" | "apart") =>
  new LocalSessionReader().open({ id, capture }, fixture.sessionFolder(id), () => null).forCallback().lastLines;

test("the last lines are at most five, with both streams in order and long lines truncated", async () => {
  const script = "for i in 1 2 3 4 5 6; do echo out $i; done; echo err >&2; printf unfinished";
  const result = await gateway.run({ command: script, capture: "merged" });
  assert.deepEqual(lastLines(result.id, "merged"), ["out 4", "out 5", "out 6", "err", "unfinished"]);
  const long = await gateway.run({ command: "head -c 1000000 /dev/zero | tr '\\0' x; echo; echo end" });
  const [cut = "", last] = lastLines(long.id, "apart");
  assert.equal(cut.length, 2001);
  assert.equal(last, "end");
  assert.deepEqual(lastLines("none", "apart"), []);
});
