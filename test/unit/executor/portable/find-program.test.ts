import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { findProgram } from "../../../../src/executor/portable/launch-paths.ts";

const folder = mkdtempSync(join(tmpdir(), "sallyport-program-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const { ENOENT, EACCES } = constants.errno;

test("finds a program in the folders of PATH, and ignores empty entries", () => {
  const [first, second] = [join(folder, "first"), join(folder, "second")];
  for (const path of [first, second]) mkdirSync(path);
  writeFileSync(join(first, "tool"), "");
  writeFileSync(join(second, "tool"), "#!/bin/sh\n", { mode: 0o755 });
  mkdirSync(join(first, "folder"));
  assert.equal(findProgram("tool", `${first}:${second}`), join(second, "tool"));
  assert.throws(() => findProgram("folder", first), { step: "execve", errno: EACCES });
  assert.throws(() => findProgram("none", `${first}:${second}`), { step: "execve", errno: ENOENT });
  chmodSync(join(second, "tool"), 0o644);
  assert.throws(() => findProgram("tool", second), { step: "execve", errno: EACCES });
  const before = process.cwd();
  process.chdir(second);
  try {
    chmodSync(join(second, "tool"), 0o755);
    assert.throws(() => findProgram("tool", "::"), { step: "execve", errno: ENOENT });
  } finally {
    process.chdir(before);
  }
  assert.equal(findProgram("./tool", ""), "./tool");
});
