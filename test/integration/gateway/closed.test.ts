import assert from "node:assert/strict";
import { after, test } from "node:test";
import { GatewayFixture } from "../../fixtures/gateway.ts";

const fixture = new GatewayFixture();
after(() => fixture.close());

test("a closed gateway rejects calls and can be closed again", async () => {
  const gateway = await fixture.open();
  await gateway.close();
  await gateway.close();
  const closed = { name: "SallyportError", type: "GatewayClosed" };
  await assert.rejects(gateway.run({ command: "true" }), closed);
  await assert.rejects(gateway.start({ command: "true" }), closed);
  assert.throws(() => gateway.list(), closed);
  assert.throws(() => gateway.check("ls"), closed);
  assert.throws(() => gateway.audit, closed);
});
