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

test("a client that reads only after the command has ended still gets the exit event", async () => {
  const keeper = await RawKeeper.open(socketPath(fixture.state));
  keeper.socket.pause();
  const spec = rawSpec(["sleep", "300"]);
  keeper.socket.write(encodeRun(spec));
  // The replies (22 bytes each) exceed the socket buffer and Node's 64 KiB buffer, and the rest fits into the keeper's
  // 64 KiB buffer. They are requested in batches that fit into that buffer, in case this process is too busy to read.
  for (let asked = 1500; asked <= ANSWERS; asked += 1500) {
    keeper.socket.write(Buffer.concat(Array(1500).fill(encodeCloseStdin())));
    const first = Math.min(asked, ANSWERS - 1500) * 20;
    await until("the first replies have arrived", () => keeper.socket.readableLength >= first);
  }
  // The last request ends the command, so all requests have been answered by then.
  keeper.socket.write(encodeKill({ signal: 9, scope: "tree", ends: true, graceMs: 0 }));
  await until("the command has ended", () => existsSync(join(fixture.sessionFolder(spec.id), "exit")));
  await pause(200); // Makes the client slow, regardless of the machine.
  keeper.socket.resume();
  const exited = (await keeper.saw("exited")) as unknown as ExitRecord;
  assert.equal(exited.signal, 9);
  assert.equal(keeper.events.filter(({ ev }) => ev === "re").length, ANSWERS + 1);
  await keeper.close();
});
