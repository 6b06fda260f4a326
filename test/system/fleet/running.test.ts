import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import type { Worker } from "../../../src/worker/worker.ts";
import { TestFleet } from "../../fixtures/fleet.ts";
import { NO_NATS } from "../../fixtures/nats.ts";

const skip = NO_NATS;
let fleet: TestFleet;
let h1: Worker;
let gateway: Gateway;

before(async () => {
  if (skip) return;
  fleet = await TestFleet.start();
  h1 = await fleet.worker("h1", { labels: { gpu: "no", disk: "fast" } });
  await fleet.worker("h2", { labels: { gpu: "yes", disk: "fast" } });
  gateway = await fleet.open();
});

after(() => fleet?.close());

test("a command that runs on a worker returns the same result as a local one", { skip }, async () => {
  const result = await gateway.run({ command: "echo out; echo err >&2; exit 3" });
  assert.deepEqual(
    [result.status, result.exitCode, result.stdout, result.stderr, result.error],
    ["completed", 3, "out\n", "err\n", null],
  );
  const info = gateway.session(result.id).info();
  assert.deepEqual([info.status, info.exitCode], ["completed", 3]);
  assert.match(info.host ?? "", /^h[12]$/);
});

test("a request selects its worker by host or labels", { skip }, async () => {
  const hostOf = async (request: object) =>
    gateway.session((await gateway.run({ command: "true", ...request })).id).info().host;
  assert.equal(await hostOf({ host: "h1" }), "h1");
  assert.equal(await hostOf({ host: "h2" }), "h2");
  assert.equal(await hostOf({ labels: { gpu: "yes" } }), "h2");
  assert.equal(await hostOf({ labels: { gpu: "no", disk: "fast" } }), "h1");
});

test("a command that no worker can run fails with NoWorker", { skip }, async () => {
  const result = await gateway.run({ command: "true", host: "nobody" });
  assert.deepEqual([result.status, result.error?.type], ["failed", "NoWorker"]);
  assert.match(result.error?.message ?? "", /on `nobody`/);
  assert.ok((result.error?.recovery.length ?? 0) > 0);
});

test("commands of a workspace see files of earlier commands, in a folder that exists only on the worker", {
  skip,
}, async () => {
  await gateway.run({ command: "mkdir -p deep && echo kept > deep/file" });
  const result = await gateway.run({ command: "cat file", cwd: "deep" });
  assert.equal(result.stdout, "kept\n");
  assert.equal(existsSync(fleet.home.path("deep")), false);
  const out = await gateway.run({ command: "true", cwd: "no/such/folder" });
  assert.deepEqual([out.status, out.error?.type], ["failed", "WorkdirNotFound"]);
});

test("returns output that does not fit into one message", { skip }, async () => {
  const result = await gateway.run({ command: "head -c 900000 /dev/zero | tr '\\0' x; echo; echo last >&2" });
  assert.equal(result.stdout.length, 900_001);
  assert.equal(result.stderr, "last\n");
});

test("a command with a terminal returns its output as text", { skip }, async () => {
  const result = await gateway.run({ command: "test -t 1 && echo on a terminal", pty: true });
  assert.deepEqual([result.exitCode, result.output], [0, "on a terminal\n"]);
});

test("reports CommandNotFound for a program that is missing on the worker", { skip }, async () => {
  const result = await gateway.run({ command: "no-such-program-here", args: [] });
  assert.deepEqual([result.status, result.error?.type], ["failed", "CommandNotFound"]);
});

test("each of many concurrent commands runs exactly once", { skip }, async () => {
  const results = await Promise.all(
    Array.from({ length: 40 }, (_, index) => gateway.run({ command: `echo ${index} >> many; echo ${index}` })),
  );
  assert.deepEqual(
    results.map(({ stdout }) => stdout),
    Array.from({ length: 40 }, (_, index) => `${index}\n`),
  );
  const { stdout } = await gateway.run({ command: "sort -n many | uniq -c | awk '$1 != 1' | wc -l; wc -l < many" });
  assert.equal(stdout, "0\n40\n");
});

test("a gateway without a fleet rejects `host`", { skip }, async () => {
  const here = await fleet.home.open();
  const result = await here.run({ command: "true", host: "h1" });
  assert.deepEqual([result.status, result.error?.type], ["failed", "InvalidRequest"]);
});

test("a log folder is created in the workspace on the worker", { skip }, async () => {
  const result = await gateway.run({ command: "echo logged", host: "h1" }, { logFolder: ".tmp/exec" });
  assert.equal(result.exitCode, 0, JSON.stringify(result.error));
  const { stdout } = await gateway.run({ command: `cat .tmp/exec/${result.id}.log`, host: "h1" });
  assert.equal(stdout, "logged\n");
  assert.ok(readdirSync(join(h1.gateway.state)).length > 0);
});
