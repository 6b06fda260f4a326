import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, test } from "node:test";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { isRunning, send } from "../../fixtures/processes.ts";
import { pause, until } from "../../fixtures/until.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());

test("more gateways than the connection limit can wait for one session and kill it", async () => {
  const session = await gateway.start({ command: "sleep 600", name: "popular" });
  const others: Gateway[] = [];
  for (let i = 0; i < 70; i++) others.push(await fixture.open());
  const waits = others.map((other) => other.session("popular").wait());
  await pause(200);
  assert.ok(others.every((other) => other.session("popular").info().status === "running"));
  await others[0]?.session("popular").kill();
  for (const wait of waits) assert.equal((await wait).status, "killed");
  assert.equal((await session.wait()).status, "killed");
  for (const other of others) await other.close();
});

test("the last of many callers can kill the session, or gets KeeperUnavailable", async () => {
  await gateway.start({ command: "sleep 600", name: "crowded" });
  const others: Gateway[] = [];
  for (let i = 0; i < 70; i++) others.push(await fixture.open());
  const outcome = await others
    .at(-1)
    ?.session("crowded")
    .kill()
    .then(
      ({ status }) => status,
      (error: { type: string }) => error.type,
    );
  assert.ok(outcome === "killed" || outcome === "KeeperUnavailable", outcome);
  for (const other of others) await other.close();
  if (outcome !== "killed") await gateway.session("crowded").kill();
});

test("input in transit when a command ends never reaches the next command", async () => {
  await gateway.run({ command: "true" });
  const first = await gateway.start({ command: "head -c 1 >/dev/null; sleep 0.3", stdin: "open" });
  const flood = first.write("x".repeat(4 << 20)).then(
    () => "taken",
    (error: { type: string }) => error.type,
  );
  await first.wait();
  const next = await gateway.start({ command: "timeout 0.5 cat | wc -c", stdin: "open" });
  assert.equal(await flood, "StdinClosed");
  await next.closeStdin();
  await next.wait();
  assert.equal((await next.logs()).text.trim(), "0");
});

test("another gateway can wait for a session that has just started", async () => {
  const other = await fixture.open({ attach: false });
  for (let round = 0; round < 20; round++) {
    const name = `moment-${round}`;
    const running = gateway.run({ command: "sleep 0.05; exit 3", name });
    await until("the session is listed", () => other.list({ limit: 1 })[0]?.name === name);
    const info = await other.session(name).wait();
    assert.deepEqual([info.status, info.exitCode], ["completed", 3]);
    assert.equal((await running).exitCode, 3);
  }
});

test("a keeper that is stopped and continued loses no caller", async () => {
  const go = fixture.path("go");
  const waits = `until [ -e ${go} ]; do sleep 0.02; done`;
  const session = await gateway.start({ command: `for i in $(seq 200); do echo $i; done; ${waits}; echo end` });
  const main = session.info().pid ?? 0;
  const keeper = session.usage().processes.find(({ pid }) => pid === main)?.ppid ?? 0;
  send(keeper, "SIGSTOP");
  writeFileSync(go, "");
  await until("the command has ended", () => !isRunning(main));
  assert.equal(session.info().status, "running");
  send(keeper, "SIGCONT");
  assert.equal((await session.wait()).status, "completed");
  assert.equal((await session.logs({ tail: 1 })).text, "end\n");
});
