import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { after, test } from "node:test";
import { GatewayFixture } from "../../fixtures/gateway.ts";

const fixture = new GatewayFixture();
after(() => fixture.close());

test("an abort signal used for many waits and a long log has no listeners afterwards", async () => {
  const gateway = await fixture.open();
  const { signal } = new AbortController();
  const session = await gateway.start({ command: "for i in $(seq 30); do echo $i; sleep 0.02; done" });
  for (let i = 0; i < 5; i++) await session.wait({ timeoutMs: 10, signal });
  let most = 0;
  for await (const _ of session.follow({ signal })) {
    most = Math.max(most, getEventListeners(signal, "abort").length);
  }
  assert.ok(most <= 1, `${most} listeners`);
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("a wait longer than the longest timer does not end early", async () => {
  const gateway = await fixture.open();
  const session = await gateway.start({ command: "sleep 0.3" });
  assert.equal((await session.wait({ timeoutMs: Number.POSITIVE_INFINITY })).status, "completed");
});
