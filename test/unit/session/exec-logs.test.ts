import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { newId } from "../../../src/core/id.ts";
import { cleanExecLogs, EXEC_LOG_FOLDER } from "../../../src/session/retention.ts";

const HOUR = 3600 * 1000;
const noneLive = () => false;
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

test("removes only old logs of ended sessions", () => {
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

test("accepts a workspace without logs", () => assert.equal(cleanExecLogs(workspace, 0, noneLive), 0));

test("does not follow a symbolic link in place of the log folder", () => {
  const elsewhere = mkdtempSync(join(tmpdir(), "sallyport-elsewhere-"));
  try {
    const file = log(join(elsewhere, "exec"), `${newId()}.log`, 2 * HOUR);
    symlinkSync(elsewhere, join(workspace, ".tmp"));
    assert.equal(cleanExecLogs(workspace, HOUR, noneLive), 0);
    rmSync(join(workspace, ".tmp"));
    mkdirSync(join(workspace, ".tmp"));
    symlinkSync(join(elsewhere, "exec"), join(workspace, EXEC_LOG_FOLDER));
    assert.equal(cleanExecLogs(workspace, HOUR, noneLive), 0);
    assert.ok(existsSync(file));
  } finally {
    rmSync(elsewhere, { recursive: true });
  }
});
