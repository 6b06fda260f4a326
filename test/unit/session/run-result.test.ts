import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { ExitRecord } from "../../../src/executor/execution.ts";
import { runResult } from "../../../src/session/result.ts";

const folder = mkdtempSync(join(tmpdir(), "sallyport-result-"));
after(() => rmSync(folder, { recursive: true }));

const stream = (bytes: number) => ({ bytes, droppedStart: 0, droppedEnd: 0, lost: 0 });

function record(code: number, stdout: number, stderr: number): ExitRecord {
  return {
    reason: "exited",
    pid: 7,
    code,
    signal: 0,
    core: false,
    startedUs: 1_700_000_000_000_000,
    endedUs: 1_700_000_000_001_500,
    durationUs: 1500,
    userUs: 0,
    systemUs: 0,
    maxRssKib: 1,
    readBytes: 0,
    writeBytes: 0,
    leftover: 0,
    final: true,
    streams: [stream(stdout), stream(stderr)],
  };
}

const session: Parameters<typeof runResult>[1] = {
  id: "01980000-0000-7000-8000-000000000000",
  agent: "default",
  command: "x",
  args: null,
  cwd: folder,
  env_names: "[]",
  background: 0,
  capture: "apart",
  intent: null,
  log_file: null,
  timeout_ms: 0,
  keeper_pid: 1,
  created_ms: 0,
  sandbox: null,
  warnings: "[]",
  limits: null,
};

test("a command that wrote nothing is answered without touching the disk", () => {
  const { status, exitCode, output, warnings, error } = runResult(
    "n",
    session,
    record(0, 0, 0),
    "/proc/self/fd/9999/no",
  );
  const expected = { status: "completed", exitCode: 0, output: "", warnings: [], error: null };
  assert.deepEqual({ status, exitCode, output, warnings, error }, expected);
});

test("output stays as it was written: cleaning is for those who show it", () => {
  const raw = "10%\r100%\r\n\u001b[31mred\u001b[0m\n";
  writeFileSync(join(folder, "stdout"), raw);
  assert.equal(runResult("n", session, record(0, Buffer.byteLength(raw), 0), folder).stdout, raw);
});

test("what a shell could not run is explained, its exit code kept", () => {
  const said = "bash: line 1: no-such-thing-at-all: command not found\n";
  writeFileSync(join(folder, "stderr"), said);
  const { status, exitCode, error } = runResult("n", session, record(127, 0, said.length), folder, "/no/such");
  assert.deepEqual([status, exitCode, error?.type], ["completed", 127, "CommandNotFound"]);
  assert.equal(error?.message, "Command not found: no-such-thing-at-all");
  assert.deepEqual(
    error?.recovery.map(({ action }) => action),
    ["check_path", "use_full_path"],
  );
  assert.equal(runResult("n", session, record(1, 0, said.length), folder).error, null);
  // A program that was run directly and chose to exit so is not a shell.
  assert.equal(runResult("n", { ...session, args: "[]" }, record(127, 0, said.length), folder).error, null);
});
