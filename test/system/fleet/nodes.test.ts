import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { jetstream } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { subjectsOf } from "../../../src/fleet/subjects.ts";
import type { WorkerInfo } from "../../../src/fleet/wire.ts";
import { NatsServer, NO_NATS } from "../../fixtures/nats.ts";
import { killAndWait, stopZygotes } from "../../fixtures/processes.ts";
import { ENTRY, Sandbox } from "../../fixtures/sallyport.ts";
import { until } from "../../fixtures/until.ts";

const skip = NO_NATS;
const box = new Sandbox();
let server: NatsServer;
const workers: ChildProcess[] = [];

function startWorker(name: string, ...more: string[]): ChildProcess {
  const folder = join(box.folder, name);
  mkdirSync(folder, { recursive: true });
  const options = [
    "--as",
    name,
    "--slots",
    "3",
    "--workspaces",
    join(folder, "work"),
    "--state",
    join(folder, "state"),
  ];
  const worker = spawn(process.execPath, [ENTRY, "worker", "--fleet", server.url, ...options, ...more], {
    env: { ...process.env, XDG_CONFIG_HOME: folder },
    stdio: "ignore",
  });
  workers.push(worker);
  return worker;
}

const nodes = (...args: string[]) => box.run(["nodes", ...args, "--fleet", server.url]);
const listed = async () => JSON.parse((await nodes("--json")).stdout) as WorkerInfo[];

before(async () => {
  if (skip) return;
  server = await NatsServer.start();
  startWorker("b-2");
  startWorker("a-1", "--labels", "gpu=yes,disk=fast");
  await until("both workers are listed", async () => ((await nodes()).stdout.match(/\n/g) ?? []).length === 2, 60_000);
});

after(async () => {
  for (const worker of workers) await killAndWait(worker, "SIGTERM");
  for (const name of ["a-1", "b-2"]) await stopZygotes(join(box.folder, name, "state"));
  await server?.close();
  box.remove();
});

test("nodes lists the workers by name, with slots, labels and version", { skip }, async () => {
  const [first, second] = await listed();
  assert.deepEqual([first?.host, second?.host], ["a-1", "b-2"]);
  assert.deepEqual(first?.labels, { gpu: "yes", disk: "fast" });
  assert.deepEqual([first?.slots, first?.free, first?.draining], [3, 3, false]);
  const { stdout } = await nodes("list");
  assert.match(stdout, /^a-1\tready\t3\t0\t\d+\.\d\d\t20\S+\t\d+\.\d+\.\d+\tdisk=fast,gpu=yes\nb-2\tready\t/);
});

test("a drained worker stays drained across a restart until `nodes return`", { skip }, async () => {
  const { stdout, code } = await nodes("drain", "b-2");
  assert.equal(code, 0);
  assert.match(stdout, /^b-2\tdrained\t/);
  const boot = (await listed()).find(({ host }) => host === "b-2")?.boot;
  await killAndWait(workers[0] as ChildProcess);
  startWorker("b-2");
  await until("the worker is listed again", async () =>
    (await listed()).some((node) => node.host === "b-2" && node.boot !== boot),
  );
  assert.match((await nodes()).stdout, /^b-2\tdrained\t/m);
  assert.match((await nodes("return", "b-2")).stdout, /^b-2\tready\t/);
});

test("ignores messages on the drain subject that are not valid commands", { skip }, async () => {
  const connection = await connect({ servers: server.url });
  const subject = subjectsOf("main").node("a-1", "drain");
  // The publisher chooses the subject to which the stream sends its acknowledgement.
  connection.publish("sp.main.exit.a-1.x.y", "x", { reply: subject });
  connection.publish(subject, JSON.stringify({ order: "return" }), { reply: "_INBOX.x" });
  connection.publish(subject, "{");
  connection.publish(subject, JSON.stringify({ order: "drain" }), { reply: "sp.main.work.any.x" });
  await jetstream(connection).publish("sp.main.exit.a-1.x.z", "x");
  await connection.close();
  assert.match((await nodes("return", "a-1")).stdout, /^a-1\tready\t/);
  assert.deepEqual(
    (await listed()).map(({ draining }) => draining),
    [false, false],
  );
});

for (const [args, complaint] of [
  [["drain", "nobody"], /No worker named "nobody" is running/],
  [["drain", "a.b"], /not a valid name for a host/],
  [["drain"], /no worker given/],
  [["list", "x"], /unexpected argument `x`/],
  [["burn"], /unknown subcommand `nodes burn`/],
] as const) {
  test(`nodes ${args.join(" ")} fails with an error message`, { skip }, async () => {
    const { code, stderr } = await nodes(...args);
    assert.equal(code, 125);
    assert.match(stderr, complaint);
  });
}
