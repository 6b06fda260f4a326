import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { newId } from "../../../src/core/id.ts";
import { cleanExecLogs, EXEC_LOG_FOLDER } from "../../../src/session/retention.ts";

const HOUR = 3600 * 1000;
const nobody = () => false;
let workspace: string;
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), "sallyport-logs-"));
});
afterEach(() => rmSync(workspace, { recursive: true, force: true }));

function log(folder: string, name: string, ageMs: number): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, "x");
  const at = new Date(Date.now() - ageMs);
  utimesSync(file, at, at);
  return file;
}

test("logs of ended sessions go when they are old; all others stay", () => {
  const folder = join(workspace, EXEC_LOG_FOLDER);
  const [old, young, live] = [newId(), newId(), newId()];
  const oldFile = log(folder, `${old}.log`, 2 * HOUR);
  const stay = [
    log(folder, `${young}.log`, 0),
    log(folder, `${live}.log`, 2 * HOUR),
    log(folder, "mine.log", 2 * HOUR),
    log(folder, `${old}.txt`, 2 * HOUR),
  ];
  assert.equal(
    cleanExecLogs(workspace, HOUR, (id) => id === live),
    1,
  );
  assert.deepEqual([oldFile, ...stay].map(existsSync), [false, true, true, true, true]);
});

test("a workspace without logs is fine", () => assert.equal(cleanExecLogs(workspace, 0, nobody), 0));

test("a link in the folder's place leads nowhere", () => {
  const elsewhere = mkdtempSync(join(tmpdir(), "sallyport-elsewhere-"));
  try {
    const file = log(join(elsewhere, "exec"), `${newId()}.log`, 2 * HOUR);
    symlinkSync(elsewhere, join(workspace, ".tmp"));
    assert.equal(cleanExecLogs(workspace, HOUR, nobody), 0);
    rmSync(join(workspace, ".tmp"));
    mkdirSync(join(workspace, ".tmp"));
    symlinkSync(join(elsewhere, "exec"), join(workspace, EXEC_LOG_FOLDER));
    assert.equal(cleanExecLogs(workspace, HOUR, nobody), 0);
    assert.ok(existsSync(file));
  } finally {
    rmSync(elsewhere, { recursive: true });
  }
});
