import assert from "node:assert/strict";
import { after, test } from "node:test";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { allProcesses, send } from "../../fixtures/processes.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new GatewayFixture();
after(() => fixture.close());

const two = { limits: { sessions: 2 } };

test("sessions with leftover processes count as running", async () => {
  const gateway = await fixture.open({ agent: "leaver", policy: two });
  const left = [
    await gateway.start({ command: "sleep 600 & exit" }),
    await gateway.start({ command: "sleep 600 & exit" }),
  ];
  for (const session of left) assert.equal((await session.wait()).lingering, true);
  const refused = await gateway.run({ command: "true" });
  assert.equal(refused.error?.type, "ResourceLimitExceeded");
  for (const session of left) await session.kill();
  assert.equal((await gateway.run({ command: "true" })).status, "completed");
});

test("sessions that were lost while no gateway was running do not count", async () => {
  const first = await fixture.open({ agent: "loser", policy: two });
  const names = [await first.start({ command: "sleep 600" }), await first.start({ command: "sleep 600" })].map(
    ({ id }) => `keeper: ${id}`,
  );
  await first.close();
  const keepers = () => allProcesses().filter(({ title }) => names.some((name) => title.startsWith(name)));
  for (const { pid } of keepers()) send(pid, "SIGKILL");
  await until("the keepers have exited", () => keepers().length === 0);
  const second = await fixture.open({ agent: "loser", policy: two, attach: false });
  assert.equal((await second.run({ command: "true" })).status, "completed");
});

test("refused commands do not count as starts", async () => {
  const gateway = await fixture.open({ agent: "eager", policy: { limits: { startsPerMinute: 3 } } });
  for (let i = 0; i < 5; i++) assert.equal((await gateway.run({ command: "rm -rf /" })).status, "blocked");
  for (let i = 0; i < 3; i++) assert.equal((await gateway.run({ command: "true" })).status, "completed");
  assert.equal((await gateway.run({ command: "true" })).error?.type, "ResourceLimitExceeded");
});
