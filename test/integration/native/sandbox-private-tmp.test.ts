import assert from "node:assert/strict";
import { chmodSync, chownSync, existsSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { SandboxSpec } from "../../../src/core/launch.ts";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import { Cell, IDENTITIES } from "../../fixtures/sandbox-fixture.ts";

const tier = sandboxCapabilities();
const shared = realpathSync(tmpdir());
const skip =
  tier.mounts === "none" ? "needs a mount namespace" : shared === "/tmp" ? false : "needs the fixture in /tmp";

for (const uid of IDENTITIES) {
  const cell = await Cell.open(uid);
  after(() => cell.close());
  const source = cell.own(join(cell.folder, "private"));
  const put = (path: string, text: string): string => {
    writeFileSync(path, text);
    chownSync(path, cell.uid, cell.uid);
    return path;
  };
  /** The folder of the fixture is in /tmp, which a private directory hides. */
  const sandbox = (rest: Partial<SandboxSpec> = {}) => cell.sandbox({ binds: [{ at: "/tmp", source }], ...rest });

  test(`a command of user ${uid} has a private /tmp that keeps its content`, { skip }, async () => {
    put(join(cell.folder, "of-others"), "");
    const { record, stdout, stderr } = await cell.sh("echo 1 > /tmp/mine; cat /tmp/mine; ls $CELL", sandbox());
    assert.deepEqual([record.code, stdout, record.gaps], [0, "1\ntemporary\nworkspace\n", undefined], stderr);
    assert.equal((await cell.sh("cat /tmp/mine", sandbox())).stdout, "1\n");
    assert.ok(existsSync(join(source, "mine")));
    assert.ok(!existsSync("/tmp/mine"));
  });

  test(`the workspace and $TMPDIR of user ${uid} stay visible below /tmp`, { skip }, async () => {
    const text = "pwd; echo 2 > here; cat $CELL/workspace/here; echo 3 > $CELL/temporary/t; cat $CELL/temporary/t";
    const { stdout, stderr } = await cell.sh(text, sandbox());
    assert.equal(stdout, `${cell.workspace}\n2\n3\n`, stderr);
    assert.ok(existsSync(join(cell.workspace, "here")) && existsSync(join(cell.temporary, "t")));
    const file = put(join(cell.folder, "file"), "");
    assert.equal(
      (await cell.sh("echo 4 > $CELL/file; cat $CELL/file", sandbox({ writable: [cell.workspace, file] }))).stdout,
      "4\n",
    );
  });

  test(`user ${uid} cannot put another folder in place of the workspace or its parents`, { skip }, async () => {
    const name = cell.folder.slice("/tmp/".length);
    for (const text of [
      `mv /tmp/${name} /tmp/moved`,
      `mv /tmp/${name}/workspace /tmp/moved`,
      `mkdir /tmp/other; mv -T --exchange /tmp/other /tmp/${name}`,
      `rm -rf /tmp/${name}`,
    ]) {
      put(join(cell.workspace, "keep"), "");
      const { record } = await cell.sh(text, sandbox());
      assert.notEqual(record.code, 0, text);
      const { stdout } = await cell.sh("pwd -P; ls -d /proc/self/cwd/.", sandbox());
      assert.match(stdout, new RegExp(`^${cell.workspace}\n`), text);
      assert.ok(existsSync(cell.workspace), text);
    }
  });

  test(`protected and denied paths of user ${uid} are enforced in a workspace below /tmp`, { skip }, async () => {
    const [config, secret] = ["config", "secret"].map((name) => put(join(cell.workspace, name), "kept")) as [
      string,
      string,
    ];
    const strict = sandbox({ readOnly: [config], denied: [cell.state, secret] });
    const { stdout } = await cell.sh("echo x > config; cat config; cat secret; mv secret s2; cat s2; true", strict);
    assert.equal(stdout, "kept");
    for (const path of [config, secret]) rmSync(path);
  });

  test(`user ${uid} can read listed folders below /tmp, but not change them`, { skip }, async () => {
    const tools = cell.own(join(cell.folder, "tools"));
    put(join(tools, "key"), "treasure");
    chmodSync(put(join(tools, "run"), "#!/bin/sh\necho ran\n"), 0o755);
    const text =
      "$CELL/tools/run; cat $CELL/tools/key; echo x > $CELL/tools/new; chmod 777 $CELL/tools/run; rm $CELL/tools/run";
    const shown = await cell.sh(text, sandbox({ readable: [tools], denied: [cell.state, join(tools, "key")] }));
    assert.equal(shown.stdout, "ran\n");
    assert.match(shown.stderr, /new: Read-only file system/);
    assert.ok(existsSync(join(tools, "run")) && !existsSync(join(tools, "new")));
    assert.equal(
      (await cell.sh("$CELL/tools/run 2>/dev/null; true", sandbox())).stdout,
      "",
      "it was visible without `readable`",
    );
  });

  test(`files that user ${uid} creates in a private /tmp do not prevent the next command`, { skip }, async () => {
    const later = join(cell.folder, "later");
    for (const what of [
      "echo x > $CELL/later",
      "ln -s /etc $CELL/later",
      "mkdir $CELL/later; echo x > $CELL/later/x",
    ]) {
      assert.equal((await cell.sh(what, sandbox())).record.code, 0, what);
      cell.own(later);
      const { stdout, stderr, record } = await cell.sh(
        "echo 5 > $CELL/later/mine; cat $CELL/later/mine",
        sandbox({ writable: [cell.workspace, later] }),
      );
      assert.equal(stdout, "5\n", `${what}: ${record.step} ${stderr}`);
      assert.ok(existsSync(join(later, "mine")));
      rmSync(later, { recursive: true });
      rmSync(join(source, cell.folder.slice("/tmp/".length), "later"), { recursive: true });
    }
  });

  test(`a private folder of user ${uid} that is replaced is noticed`, { skip }, async () => {
    assert.equal((await cell.sh("echo old > /tmp/mark", sandbox())).record.code, 0);
    rmSync(source, { recursive: true });
    cell.own(source);
    assert.equal((await cell.sh("ls /tmp/mark 2>/dev/null; echo new > /tmp/mark", sandbox())).stdout, "");
    assert.ok(existsSync(join(source, "mark")));
    rmSync(source, { recursive: true });
    symlinkSync(cell.secret, source);
    const { record } = await cell.sh("echo evil > /tmp/mark", sandbox());
    assert.deepEqual([record.reason, existsSync(join(cell.secret, "mark"))], ["failed", false]);
    rmSync(source);
    cell.own(source);
  });

  test(`the private /tmp of user ${uid} can be searched, measured and emptied`, { skip }, async () => {
    mkdirSync(join(source, "deep"), { recursive: true });
    chownSync(join(source, "deep"), cell.uid, cell.uid);
    const { record, stderr } = await cell.sh(
      "find /tmp > /dev/null && du -s /tmp > /dev/null && rm -r /tmp/deep",
      sandbox(),
    );
    assert.deepEqual([record.code, stderr], [0, ""]);
  });
}
