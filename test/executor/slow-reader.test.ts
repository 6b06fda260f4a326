import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ExitRecord } from "../../src/executor/executor.ts";
import { encodeCloseStdin, encodeRun } from "../../src/executor/native/frames.ts";
import { socketPath } from "../../src/executor/native/zygote.ts";
import { TestHouse } from "../fixtures/gateway.ts";
import { RawKeeper, rawSpec } from "../fixtures/raw-keeper.ts";
import { pause } from "../fixtures/until.ts";

const house = new TestHouse();
const gateway = await house.open();
await gateway.run({ command: "true" });
after(() => house.close());

const ANSWERS = 4500;

test("a caller that reads only after the command has ended is still told of its end", async () => {
  const keeper = await RawKeeper.open(socketPath(house.state));
  keeper.socket.pause();
  keeper.socket.write(encodeRun(rawSpec(["sleep", "0.6"])));
  // Answers of 22 bytes: more than node's buffer of 64 KiB and the socket hold, less than the keeper's 64 KiB on top.
  for (let asked = 0; asked < ANSWERS; asked += 1500) {
    keeper.socket.write(Buffer.concat(Array(1500).fill(encodeCloseStdin())));
    await pause(100);
  }
  await pause(800);
  keeper.socket.resume();
  const exited = (await keeper.saw("exited")) as unknown as ExitRecord;
  assert.equal(exited.code, 0);
  assert.equal(keeper.events.filter(({ ev }) => ev === "re").length, ANSWERS);
  await keeper.close();
});
