import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import type { CallContext } from "../../../src/toolsets/tool.ts";
import { tools } from "../../../src/toolsets/tools.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";

let fixture: GatewayFixture;
let gateway: Gateway;
before(async () => {
  fixture = new GatewayFixture();
  const permissions = { run: "autonomous", read: "autonomous" } as const;
  gateway = await fixture.open({ policy: { toolsets: { exec: true }, permissions } });
});
after(() => fixture.close());

async function call(name: string, args: object, context?: CallContext): Promise<Record<string, unknown>> {
  const tool = tools(gateway, ["bash", "exec", "process"]).find((one) => one.name === name);
  assert.ok(tool);
  const { structured, isError, text } = await tool.call(args, context);
  assert.equal(isError, false, text);
  return structured;
}

let started = 0;

/** Starts a command that prints `before`, and exits with 3 after `release` was called. */
async function held(before = ""): Promise<{ id: string; release(): void }> {
  const name = `go-${++started}`;
  const command = `printf '${before}'; until [ -e ${name} ]; do sleep 0.05; done; echo finished; exit 3`;
  const session = await gateway.start({ command, capture: "merged" });
  return { id: session.id, release: () => writeFileSync(join(fixture.workspace, name), "") };
}

for (const [tool, key] of [
  ["BashOutput", "shell_id"],
  ["process_poll", "session_id"],
  ["process.monitor", "process_id"],
] as const) {
  test(`${tool} waits for the exit`, async () => {
    const { id, release } = await held();
    const waiting = call(tool, { [key]: id, wait: 600 });
    release();
    assert.equal((await waiting).exit_code, 3);
  });

  test(`${tool} answers in time when the command does not exit`, async () => {
    const { id, release } = await held();
    for (const [wait, answerWithinMs] of [
      [0, 60_000],
      [0.05, 60_000],
      [600, 50],
    ] as const) {
      assert.equal((await call(tool, { [key]: id, wait }, { answerWithinMs })).exit_code, null);
    }
    release();
    await gateway.session(id).wait();
  });
}

test("BashOutput with a filter waits for a matching line", async () => {
  const { id, release } = await held("starting\\nready on port 1\\n");
  const { output, status } = await call("BashOutput", { shell_id: id, filter: "^ready", wait: 600 });
  assert.deepEqual([output, status], ["ready on port 1\n", "running"]);
  release();
  await gateway.session(id).wait();
});

test("BashOutput with a filter does not take an incomplete line for a match", async () => {
  const { id, release } = await held("ready");
  const first = await call("BashOutput", { shell_id: id, filter: "ready", wait: 0.2 });
  assert.deepEqual([first.output, first.status], ["", "running"]);
  const waiting = call("BashOutput", { shell_id: id, filter: "ready", wait: 600 });
  release();
  const { output } = await waiting;
  assert.equal(output, "readyfinished\n");
});
