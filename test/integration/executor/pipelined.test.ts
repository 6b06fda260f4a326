import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { encodeCloseStdin, encodeKill, encodeRun, encodeWrite } from "../../../src/executor/native/frames.ts";
import { socketPath } from "../../../src/executor/native/zygote.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { RawKeeper, rawSpec } from "../../fixtures/raw-keeper.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
await gateway.run({ command: "true" });
after(() => fixture.close());

const TERM = encodeKill({ signal: 15, scope: "tree", ends: true, graceMs: 1000 });

test("handles frames that directly follow a request, even if they are split anywhere", async () => {
  const spec = rawSpec(["cat"], { stdin: "open" });
  const all = Buffer.concat([encodeRun(spec), encodeWrite(Buffer.from("fed")), encodeCloseStdin()]);
  const afterRun = encodeRun(spec).length;
  for (const cut of [all.length, afterRun, afterRun + 2, afterRun + 5, afterRun + 6, afterRun + 8, afterRun + 9]) {
    const keeper = await RawKeeper.open(socketPath(fixture.state));
    const fresh = rawSpec(["cat"], { stdin: "open", id: `${cut}`.padStart(8, "0") });
    const bytes = Buffer.concat([encodeRun(fresh), all.subarray(afterRun)]);
    const at = cut - (encodeRun(spec).length - encodeRun(fresh).length);
    keeper.socket.write(bytes.subarray(0, at));
    setTimeout(() => keeper.socket.write(bytes.subarray(at)), 50);
    await keeper.saw("exited");
    assert.equal(readFileSync(join(fixture.sessionFolder(fresh.id), "stdout"), "utf8"), "fed", `cut at ${at}`);
    await keeper.close();
  }
});

test("handles a kill that directly follows a request, even if the client disconnects at once", async () => {
  const spec = rawSpec(["sleep", "300"]);
  const keeper = await RawKeeper.open(socketPath(fixture.state));
  keeper.socket.end(Buffer.concat([encodeRun(spec), TERM]));
  const exit = join(fixture.sessionFolder(spec.id), "exit");
  const read = () => {
    try {
      return JSON.parse(readFileSync(exit, "utf8")) as { reason: string; signal: number };
    } catch {
      return null;
    }
  };
  await until("the killed command is recorded", () => read() !== null);
  assert.equal(read()?.reason, "killed");
  assert.equal(read()?.signal, 15);
});

test("aborting a run while it starts ends the command", async () => {
  for (let round = 0; round < 30; round++) {
    const controller = new AbortController();
    const running = gateway.run({ command: "sleep 300" }, { signal: controller.signal });
    if (round % 3 === 0) await new Promise(setImmediate);
    else for (let turn = 0; turn < round; turn++) await Promise.resolve();
    controller.abort();
    const result = await running.catch((error: Error) => error);
    if (result instanceof Error) assert.equal(result.name, "AbortError");
    else assert.equal(result.status, "killed");
  }
  await until("all processes have exited", () => fixture.alive().length === 0);
});
