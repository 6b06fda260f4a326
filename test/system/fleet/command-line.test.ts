import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { TestFleet } from "../../fixtures/fleet.ts";
import { NO_NATS } from "../../fixtures/nats.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";

const skip = NO_NATS;
let fleet: TestFleet;
const home = new Sandbox();

before(async () => {
  if (skip) return;
  fleet = await TestFleet.start();
  await fleet.worker("h1", { labels: { gpu: "yes" } });
});

after(async () => {
  await fleet?.close();
  home.remove();
});

test("run, ps, logs, inspect and kill accept --fleet", { skip }, async () => {
  const say = (...args: string[]) => home.run(["--fleet", fleet.servers, ...args]);
  const ran = await say("run", "--label", "gpu=yes", "-c", "echo hello; exit 3");
  assert.deepEqual([ran.stdout, ran.code], ["hello\n", 3], ran.stderr);
  const started = await say("run", "-d", "--host", "h1", "--name", "far", "-c", "echo begun; sleep 1000");
  assert.equal(started.code, 0, started.stderr);
  assert.match((await say("ps")).stdout, /far\trunning/);
  assert.equal((await say("logs", "far")).stdout, "begun\n");
  assert.equal(JSON.parse((await say("inspect", "--json", "far")).stdout).host, "h1");
  assert.equal((await say("kill", "far")).code, 0);
  assert.equal((await say("ps")).stdout, "");
});

test("service ready worker reports whether the fleet has the worker of this machine", { skip }, async () => {
  const ready = (as: string) => home.run(["--fleet", `${fleet.servers}?as=${as}`, "service", "ready", "worker"]);
  const here = await ready("h1");
  assert.equal(here.code, 0, here.stderr);
  const missing = await ready("h2");
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /not ready: the fleet has no worker h2/);
});
