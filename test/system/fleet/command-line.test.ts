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
