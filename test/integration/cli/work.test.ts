import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { execCallback } from "../../../src/queue/items.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { WorkQueue } from "../../../src/storage/work.ts";
import { outcome, Sandbox } from "../../fixtures/sallyport.ts";
import { until } from "../../fixtures/until.ts";

const boxes: Sandbox[] = [];
let box: Sandbox;
beforeEach(() => {
  box = new Sandbox();
  boxes.push(box);
});
after(() => {
  for (const each of boxes) each.remove();
});

function withQueue<T>(use: (queue: WorkQueue) => T): T {
  mkdirSync(box.state, { recursive: true, mode: 0o700 });
  const database = openDatabase(join(box.state, "sallyport.db"));
  try {
    return use(new WorkQueue(database));
  } finally {
    database.close();
  }
}

const CALLBACK = execCallback({
  id: "s1",
  status: "completed",
  exitCode: 3,
  logPath: "/w/s1.log",
  lastLines: ["a\x1b[31m", "\u202eb"],
});

test("claims an item, returns it, claims it again and acknowledges it", async () => {
  withQueue((queue) => queue.enqueue(CALLBACK));
  const first = await box.run(["work", "claim", "--lease", "5m", "--worker", "me", "--json"]);
  const item = JSON.parse(first.stdout);
  assert.deepEqual([item.key, item.attempts, item.worker], ["exec_callback:s1", 1, "me"]);
  assert.deepEqual(item.payload, CALLBACK.payload);
  assert.deepEqual(
    { ...(await box.run(["work", "claim"])), raw: 0, signal: 0 },
    { stdout: "", stderr: "", code: 1, raw: 0, signal: 0 },
  );

  const retry = await box.run(["work", "retry", String(item.id), item.lease, "--note", "busy"]);
  assert.deepEqual([retry.stdout, retry.stderr, retry.code], ["", "", 0]);
  const [id, lease, type, key, payload = ""] = (await box.run(["work", "claim"])).stdout.trimEnd().split("\t");
  assert.deepEqual([id, type, key], ["1", "EXEC_CALLBACK", "exec_callback:s1"]);
  assert.deepEqual(JSON.parse(payload), CALLBACK.payload);
  assert.doesNotMatch(payload, /[\p{Cc}\p{Cf}]/u);

  assert.equal((await box.run(["work", "ack", id ?? "", lease ?? ""])).code, 0);
  assert.equal((await box.run(["work"])).stdout, "");
  assert.match((await box.run(["work", "list", "-a"])).stdout, /^1\tHIGH\tEXEC_CALLBACK\tdone\t2\t/);
});

test("lists items on a terminal, in a pipe and as JSON, without leases", async () => {
  withQueue((queue) => {
    queue.enqueue(CALLBACK);
    queue.enqueue({ key: "later", type: "T", priority: "LOW", payload: {}, dueMs: Date.now() + 3_600_000 });
    queue.claim({ worker: "me" });
  });
  const person = await box.terminal(["work"], { columns: 100 });
  assert.match(person.stdout, /ID {2}PRIORITY {2}TYPE +STATE +TRIES {2}AGE +KEY +NOTE/);
  assert.match(person.stdout, / 1 {2}HIGH +EXEC_CALLBACK {2}claimed for .* exec_callback:s1/);
  assert.match(person.stdout, / 2 {2}LOW +T +due in /);
  const items = JSON.parse((await box.run(["work", "list", "--json"])).stdout);
  assert.deepEqual(
    items.map((item: { state: string }) => item.state),
    ["claimed", "pending"],
  );
  assert.ok(items.every((item: object) => !("lease" in item)));
  const only = await box.run(["work", "list", "--only", "pending"]);
  assert.match(only.stdout, /^2\tLOW\tT\tpending\t0\t/);
});

test("prints a claimed item completely and escaped on a terminal", async () => {
  withQueue((queue) => queue.enqueue(CALLBACK));
  const { stdout } = await box.terminal(["work", "claim"]);
  assert.match(stdout, /^lease +[0-9a-f-]{36}$/m);
  assert.match(stdout, /^exit_code +3$/m);
  assert.match(stdout, /^log_path +\/w\/s1\.log$/m);
  assert.ok(!stdout.includes("\u202e") && !stdout.includes("\x1b[31m"));
});

test("claim --wait waits for an item of another process, up to the given time", async () => {
  assert.equal((await box.run(["work", "claim", "--wait", "200ms"])).code, 1);
  const waiting = outcome(box.spawn(["work", "claim", "--wait", "60s", "--type", "EXEC_CALLBACK", "--json"]));
  withQueue((queue) => {
    queue.enqueue({ key: "other", type: "T", priority: "HIGH", payload: {} });
    queue.enqueue(CALLBACK);
  });
  assert.equal(JSON.parse((await waiting).stdout).key, "exec_callback:s1");
});

test("reports usage errors and invalid leases", async () => {
  withQueue((queue) => queue.enqueue(CALLBACK));
  const cases: [string[], RegExp][] = [
    [["work", "steal"], /unknown subcommand `work steal`; use list, claim, ack, retry/],
    [["work", "claim", "1"], /unexpected argument `1` for `work claim`/],
    [["work", "ack", "1"], /`work ack` requires the ID of the item and its lease/],
    [["work", "ack", "x", "y"], /`work ack` requires/],
    [
      ["work", "ack", "7", "guessed"],
      /No such work item: 7\.\n {2}List all items and their states with `sallyport work list -a`/,
    ],
    [["work", "ack", "1", "guessed"], /The lease on work item 1 is not valid/],
    [["work", "retry", "1", "guessed"], /The lease on work item 1 is not valid/],
    [["work", "--only", "lost"], /`--only` must be one of pending, claimed, done/],
  ];
  for (const [args, expected] of cases) {
    const { stderr, code } = await box.run(args);
    assert.match(stderr, expected);
    assert.equal(code, 125);
  }
});

test("list and claim --wait find a command that ended while no gateway was running", async () => {
  await box.run(["run", "-d", "--", "sleep", "0.7"]);
  const waited = await box.run(["work", "claim", "--wait", "20s", "--json"]);
  assert.equal(JSON.parse(waited.stdout).payload.exit_code, 0);
  await box.run(["run", "-d", "-c", "sleep 0.7; exit 4"]);
  const { stdout } = await box.until(["work", "--only", "pending", "--json"], "EXEC_CALLBACK");
  assert.equal(JSON.parse(stdout)[0].payload.exit_code, 4);
});

test("commands that ended while no gateway was running are queued in the order in which they ended", async () => {
  const started: string[] = [];
  for (const gate of ["a", "b", "c"]) {
    const command = `until [ -e ${gate} ]; do sleep 0.05; done`;
    started.push((await box.run(["run", "-d", "-c", command])).stdout.trim());
  }
  for (const at of [1, 2, 0]) {
    writeFileSync(join(box.folder, "abc"[at] as string), "");
    const record = join(box.state, "sessions", started[at] as string, "exit");
    await until("the command has ended", () => existsSync(record));
  }
  await box.run(["ps", "-a"]); // lists the newest first
  const { stdout } = await box.run(["work", "--only", "pending", "--json"]);
  const queued = (JSON.parse(stdout) as { payload: { session_id: string } }[]).map(({ payload }) => payload.session_id);
  assert.deepEqual(queued, [started[1], started[2], started[0]]);
});
