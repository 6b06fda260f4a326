import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { ExitRecord } from "../../../src/executor/execution.ts";
import { encodeCloseStdin, encodeKill, encodeRun } from "../../../src/executor/native/frames.ts";
import { socketPath } from "../../../src/executor/native/zygote.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { RawKeeper, rawSpec } from "../../fixtures/raw-keeper.ts";
import { pause, until } from "../../fixtures/until.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
await gateway.run({ command: "true" });
after(() => fixture.close());

const ANSWERS = 4500;

test("a caller that reads only after the command has ended is still told of its end", async () => {
  const keeper = await RawKeeper.open(socketPath(fixture.state));
  keeper.socket.pause();
  const spec = rawSpec(["sleep", "300"]);
  keeper.socket.write(encodeRun(spec));
  // Answers of 22 bytes: more than node's buffer of 64 KiB and the socket hold, less than the keeper's 64 KiB on top.
  // Never more at once than the keeper's, in case this process gets no chance to read meanwhile.
  for (let asked = 1500; asked <= ANSWERS; asked += 1500) {
    keeper.socket.write(Buffer.concat(Array(1500).fill(encodeCloseStdin())));
    const first = Math.min(asked, ANSWERS - 1500) * 20;
    await until("the first of them are here", () => keeper.socket.readableLength >= first);
  }
  // The last of the requests ends the command, so it has answered all of them by then.
  keeper.socket.write(encodeKill({ signal: 9, scope: "tree", ends: true, graceMs: 0 }));
  await until("the command has ended", () => existsSync(join(fixture.sessionFolder(spec.id), "exit")));
  await pause(200); // the caller is slow, whatever the machine is
  keeper.socket.resume();
  const exited = (await keeper.saw("exited")) as unknown as ExitRecord;
  assert.equal(exited.signal, 9);
  assert.equal(keeper.events.filter(({ ev }) => ev === "re").length, ANSWERS + 1);
  await keeper.close();
});
