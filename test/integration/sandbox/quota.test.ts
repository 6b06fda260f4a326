import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { SallyportError } from "../../../src/core/error.ts";
import { Quota, type SessionCounts } from "../../../src/sandbox/quota.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";

const LIMITS = { sessions: 3, startsPerMinute: 5 };
const counts = (running: number, started = 0): SessionCounts => ({
  running: () => running,
  startedAround: () => started,
});

function refusal(work: () => void): SallyportError {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof SallyportError);
    assert.equal(error.type, "ResourceLimitExceeded");
    return error;
  }
  assert.fail("the session was not rejected");
}

test("rejects a session above the limit and names the limit", () => {
  new Quota(counts(2)).admit("a", LIMITS);
  const error = refusal(() => new Quota(counts(3)).admit("a", LIMITS));
  assert.equal(error.message, "This agent has reached its limit of 3 running sessions.");
  assert.deepEqual([error.details.limit, error.details.value], ["sessions", 3]);
  assert.deepEqual(
    error.recovery.map(({ action }) => action),
    ["check_status", "retry", "increase_limits"],
  );
});

test("counts the starts of the last minute in the database and in this gateway", () => {
  const error = refusal(() => new Quota(counts(0, 5)).admit("a", LIMITS));
  assert.deepEqual([error.details.limit, error.details.value], ["startsPerMinute", 5]);
  // Sessions that were started and removed are no longer in the database.
  const quota = new Quota(counts(0, 0));
  for (let i = 0; i < 5; i++) quota.admit("a", LIMITS, 1000 + i * 1000);
  assert.match(refusal(() => quota.admit("a", LIMITS, 11_000)).recovery[0]?.hint ?? "", /in 50 s/);
  quota.admit("b", LIMITS, 11_000);
  quota.admit("a", LIMITS, 61_001);
  refusal(() => quota.admit("a", LIMITS, 61_002));
});

test("gateways together do not exceed the limit, and rarely query the database when they are far below it", () => {
  const starts: number[] = [];
  let asked = 0;
  const shared: SessionCounts = {
    running: () => 0,
    startedAround: (_, now, within) => {
      asked++;
      return starts.filter((time) => Math.abs(time - now) <= within).length;
    },
  };
  const gateways = Array.from({ length: 5 }, () => new Quota(shared));
  const limits = { sessions: 1, startsPerMinute: 600 };
  let refused = 0;
  for (let i = 0; i < 2000; i++) {
    try {
      gateways[i % 5]?.admit("a", limits, i * 20);
      starts.push(i * 20);
    } catch {
      refused++;
    }
    if (i === 300) assert.ok(asked < 120, `${asked} of 300`);
  }
  assert.deepEqual([starts.length, refused], [600, 1400]);
});

test("starts before the clock was set back do not count as starts of the last minute", () => {
  const starts: number[] = [];
  const quota = new Quota({
    running: () => 0,
    startedAround: (_, now, within) => starts.filter((time) => Math.abs(time - now) <= within).length,
  });
  const admit = (now: number) => {
    quota.admit("a", LIMITS, now);
    starts.push(now);
  };
  const hour = 3_600_000;
  for (let i = 0; i < 5; i++) admit(hour + i);
  refusal(() => admit(hour + 5));
  for (let i = 0; i < 5; i++) admit(i);
  refusal(() => admit(5));
});

test("rejected starts do not count", () => {
  let running = 3;
  const quota = new Quota({ running: () => running, startedAround: () => 0 });
  for (let i = 0; i < 20; i++) refusal(() => quota.admit("a", LIMITS, i));
  running = 0;
  for (let i = 0; i < 5; i++) quota.admit("a", LIMITS, 100);
});

test("the memory for the starts of a busy agent is bounded", () => {
  const quota = new Quota(counts(0));
  for (let i = 0; i < 50_000; i++) quota.admit("a", { sessions: 1, startsPerMinute: 1000 }, i * 61);
});

const fixture = new GatewayFixture();
after(() => fixture.close());

test("gateways on one state folder share an agent's quota, and other agents have their own", async () => {
  const { writeFileSync } = await import("node:fs");
  writeFileSync(join(fixture.workspace, "sallyport.json"), JSON.stringify({ limits: { sessions: 4 } }));
  const one = await fixture.open();
  const two = await fixture.open();
  const other = await fixture.open({ agent: "other" });
  const started = await Promise.all([one, two, one, two].map((gateway) => gateway.start({ command: "sleep 60" })));
  for (const gateway of [one, two]) {
    const { status, error } = await gateway.run({ command: "true" });
    assert.deepEqual([status, error?.type], ["failed", "ResourceLimitExceeded"]);
  }
  assert.equal((await other.run({ command: "true" })).status, "completed");
  await started[0]?.kill({ signal: "SIGKILL" });
  assert.equal((await two.run({ command: "true" })).status, "completed");
  for (const session of started) await session.kill({ signal: "SIGKILL" }).catch(() => {});
});
