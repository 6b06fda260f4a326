import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import { Cell, IDENTITIES } from "../../fixtures/sandbox-fixture.ts";

const tier = sandboxCapabilities();
const skip = tier.mounts === "none" ? "needs mount namespaces" : false;

for (const uid of IDENTITIES) {
  const cell = await Cell.open(uid);
  after(() => cell.close());
  for (const isolated of tier.isolation ? [false, true] : [false]) {
    test(`${isolated ? "an isolated command" : "a command"} of user ${uid} can open only its own terminal by name`, {
      skip,
    }, async () => {
      const execution = await cell.start(
        ["bash", "-c", "tty; ls /dev/pts | tr '\\n' ' '; echo typed > /dev/tty; read word; echo got $word"],
        cell.sandbox({ isolated }),
        { pty: { columns: 80, rows: 24 }, stdin: "open", capture: "merged" },
      );
      const release = execution.hold();
      await execution.started;
      await execution.write(Buffer.from("something\n"));
      const record = await execution.ended;
      release();
      assert.ok(typeof record !== "string" && record.code === 0);
      const output = readFileSync(join(cell.executor.folder(execution.id), "output"), "utf8").replaceAll("\r", "");
      assert.match(output, /^\/dev\/pts\/0$/m);
      assert.match(output, /^0 ptmx /m);
      assert.match(output, /typed\n/);
      assert.match(output, /^got something$/m);
    });
  }
}
