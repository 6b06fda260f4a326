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

async function keeperOf(request: RunRequest): Promise<{ id: string; title: string }> {
  const session = await gateway.start(request);
  const keeper = allProcesses().find(({ pid }) => pid === session.usage().processes[0]?.ppid);
  assert.ok(keeper);
  const title = readFileSync(`/proc/${keeper.pid}/cmdline`, "latin1").replace(/\0+$/, "");
  assert.equal(execFileSync("ps", ["-o", "comm=", "-p", String(keeper.pid)], { encoding: "utf8" }).trim(), "keeper");
  await session.kill({ graceMs: 0 });
  return { id: session.id, title };
}

test("the title of a keeper is the session's ID, so that pgrep -f with a part of the command does not find it", async () => {
  for (const request of [
    { command: "sleep 60", name: "my-build" },
    { command: "sleep", args: ["60"], name: "direct" },
    { command: `sleep 60 # ${"x".repeat(5000)} \x1b[31mred\x1b[0m` },
  ]) {
    const { id, title } = await keeperOf(request);
    assert.equal(title, `keeper: ${id}`);
  }
});

test("another gateway finds a running session by its keeper's title", async () => {
  const session = await gateway.start({ command: "sleep 60" });
  const other = await fixture.open({ attach: false });
  assert.equal(other.session(session.id).info().status, "running");
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
