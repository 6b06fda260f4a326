import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import type { RunRequest } from "../../../src/core/request.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { allProcesses, zygotesOf } from "../../fixtures/processes.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());

async function titleOf(request: RunRequest): Promise<string> {
  const session = await gateway.start(request);
  const keeper = allProcesses().find(({ pid }) => pid === session.usage().processes[0]?.ppid);
  assert.ok(keeper);
  const raw = readFileSync(`/proc/${keeper.pid}/cmdline`, "latin1").replace(/\0+$/, "");
  assert.equal(execFileSync("ps", ["-o", "comm=", "-p", String(keeper.pid)], { encoding: "utf8" }).trim(), "keeper");
  await session.kill({ graceMs: 0 });
  return raw;
}

test("the title of a keeper names its session and command", async () => {
  assert.equal(await titleOf({ command: "sleep 60", name: "my-build" }), "keeper: my-build sleep 60");
  assert.equal(await titleOf({ command: "sleep", args: ["60"], name: "direct" }), "keeper: direct sleep 60");
});

test("control characters of a command are replaced in the title", async () => {
  const title = await titleOf({ command: "sleep 60 # \x1b[31mred\x1b[0m\n\ttwo\x7f lines\r", name: "escapes" });
  assert.equal(title, "keeper: escapes sleep 60 # ?[31mred?[0m??two? lines?");
});

test("truncates a long command, and a session with a long name is still found", async () => {
  const long = await titleOf({ command: `sleep 60 # ${"x".repeat(5000)}`, name: "long" });
  assert.ok(long.startsWith("keeper: long sleep 60 # xxx") && long.length < 600);
  const wide = await titleOf({ command: `sleep 60 # ${"€😀".repeat(500)}`, name: "wide" });
  assert.ok(wide.startsWith("keeper: wide sleep 60"));
  const name = `n${"a".repeat(62)}`;
  const session = await gateway.start({ command: `sleep 60 # ${"y".repeat(500)}`, name });
  const other = await fixture.open({ attach: false });
  assert.equal(other.session(name).info().status, "running");
  await session.kill({ graceMs: 0 });
});

test("the titles of idle keepers and the zygote identify them", async () => {
  await gateway.run({ command: "true" });
  const [zygote = 0] = zygotesOf(fixture.state);
  await until("all keepers are idle", () =>
    allProcesses()
      .filter(({ ppid }) => ppid === zygote)
      .every(({ title }) => title === "keeper: idle"),
  );
  assert.equal(
    readFileSync(`/proc/${zygote}/environ`, "utf8"),
    "",
    "the zygote has variables of the gateway's environment",
  );
});
