import assert from "node:assert/strict";
import { once } from "node:events";
import { after, test } from "node:test";
import { NativeExecutor } from "../../../src/executor/native/executor.ts";
import { LocalSessionReader } from "../../../src/session/session-folder.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { rawSpec } from "../../fixtures/raw-keeper.ts";

const fixture = new GatewayFixture();
after(() => fixture.close());

test("a listener that throws causes a warning and does not affect commands", async () => {
  const gateway = await fixture.open({
    onEvent: ({ type }) => {
      throw new Error(`the listener failed on ${type}`);
    },
  });
  const warned = once(process, "warning");
  const first = await gateway.run({ command: "sleep 0.2; echo first" });
  const second = await gateway.run({ command: "echo second" });
  assert.equal(first.stdout, "first\n");
  assert.equal(second.stdout, "second\n");
  assert.match(String((await warned)[0]), /the listener failed on started/);
  assert.equal((await gateway.run({ command: "rm -rf /" })).status, "blocked");
});

test("a slot that has launched cannot be cancelled", async () => {
  const executor = new NativeExecutor(fixture.state, new LocalSessionReader());
  const slot = await executor.prepare();
  const slow = slot.launch(rawSpec(["sh", "-c", "sleep 0.3; exit 3"]), () => {});
  slot.cancel();
  const quick = (await executor.prepare()).launch(rawSpec(["true"]), () => {});
  const codes = [await quick.exited, await slow.exited].map((ending) =>
    typeof ending === "string" ? ending : ending.code,
  );
  assert.deepEqual(codes, [0, 3]);
  await executor.close();
});
