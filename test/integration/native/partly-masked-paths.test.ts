import assert from "node:assert/strict";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import { type Limits, limitedKeeper } from "../../fixtures/limited-keeper.ts";
import { Cell } from "../../fixtures/sandbox-fixture.ts";
import { until } from "../../fixtures/until.ts";

const tier = sandboxCapabilities();

/** Calls back with a keeper that lacks some features of the machine. */
async function withLimits(limits: Limits, use: (cell: Cell) => Promise<void>): Promise<void> {
  process.env.SALLYPORT_KEEPER = limitedKeeper(limits);
  const cell = await Cell.open();
  try {
    await use(cell);
  } finally {
    await cell.close();
    delete process.env.SALLYPORT_KEEPER;
  }
}

test("without a mount namespace, a path that must be absent ends a command", async () => {
  await withLimits({ namespaces: false }, async (cell) => {
    const commondir = join(cell.own(join(cell.workspace, ".git")), "commondir");
    const { record } = await cell.sh("echo .. > .git/commondir; sleep 600", cell.sandbox({ absent: [commondir] }));
    assert.deepEqual([record.reason, record.masks?.paths], ["mask", [commondir]]);
  });
});

test("without a mount namespace, changed and created protected paths are reported", async () => {
  await withLimits({ namespaces: false }, async (cell) => {
    const [config, editor, other] = ["config", "editor", "other"].map((name) => join(cell.workspace, name));
    const readOnly = [config ?? "", editor ?? "", other ?? ""];
    writeFileSync(config ?? "", "[a]\n");
    writeFileSync(other ?? "", "");
    const sandbox = cell.sandbox({ readOnly });
    const changed = await cell.sh("echo '[b]' > new; mv new config; touch -d 2001-01-01 config; mkdir editor", sandbox);
    assert.deepEqual(changed.record.created, { count: 2, paths: [config, editor] });
    assert.equal((await cell.sh("cat config other; ls editor", sandbox)).record.created, undefined);
    const inPlace = await cell.sh("echo '[c]' > config; touch -d 2001-01-01 config", sandbox);
    assert.deepEqual(inPlace.record.created?.paths, [config]);
  });
});

/** Replaces a denied file outside the workspace by rename while a command runs. Resolves with the exit record. */
async function replaceDenied(cell: Cell) {
  const path = join(cell.own(join(cell.folder, "home")), "history");
  writeFileSync(path, "first");
  const sandbox = cell.sandbox({ denied: [cell.state, path], writable: [cell.workspace] });
  const execution = await cell.start(["sh", "-c", "echo up; while sleep 0.01; do cat ../home/history; done"], sandbox);
  await until("the command runs", () => cell.output(execution.id, "stdout").includes("up"));
  writeFileSync(`${path}.new`, "second");
  renameSync(`${path}.new`, path);
  await execution.setDeadline(60_000); // the keeper has handled the event when it replies
  await execution.kill({ signal: 15, scope: "tree", ends: true, graceMs: 5000 });
  const { record, stdout } = await cell.finish(execution);
  return { masks: record.masks, stdout };
}

const skip = tier.mounts === "none" && "needs a mount namespace";
test("a mask outside the workspace counts as broken only if nothing else protects the path", { skip }, async () => {
  await withLimits({ landlock: 0 }, async (cell) => {
    const { masks } = await replaceDenied(cell);
    assert.deepEqual([masks?.reaction, masks?.paths], ["kill", [join(cell.folder, "home/history")]]);
  });
  if (tier.landlock > 0) {
    await withLimits({}, async (cell) => {
      assert.deepEqual(await replaceDenied(cell), { masks: undefined, stdout: "up\n" });
    });
  }
});
