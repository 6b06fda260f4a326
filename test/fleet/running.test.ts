import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Gateway } from "../../src/gateway/gateway.ts";
import { TestFleet } from "../fixtures/fleet.ts";
import { NO_NATS } from "../fixtures/nats.ts";

const skip = NO_NATS;
let fleet: TestFleet;
let gateway: Gateway;

before(async () => {
  if (skip) return;
  fleet = await TestFleet.start();
  await fleet.worker("h1");
  gateway = await fleet.open();
});

after(() => fleet?.close());

test("a command runs on a worker and answers as if it had run here", { skip }, async () => {
  const result = await gateway.run({ command: "echo out; echo err >&2; exit 3" });
  assert.deepEqual(
    [result.status, result.exitCode, result.stdout, result.stderr, result.error],
    ["completed", 3, "out\n", "err\n", null],
  );
  const info = gateway.session(result.id).info();
  assert.deepEqual([info.status, info.exitCode, info.host], ["completed", 3, "h1"]);
});
