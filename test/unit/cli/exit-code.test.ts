import assert from "node:assert/strict";
import { test } from "node:test";
import { exitCodeOf } from "../../../src/cli/exit-code.ts";
import type { Status } from "../../../src/core/result.ts";

function codeOf(status: Status, rest: Partial<Parameters<typeof exitCodeOf>[0]> = {}): number {
  return exitCodeOf({ status, exitCode: null, signal: null, error: null, ...rest });
}

function failed(type: string): number {
  return codeOf("failed", { error: { type, message: "", recovery: [] } });
}

test("the command's own code, or 128 and the signal", () => {
  assert.equal(codeOf("completed", { exitCode: 0 }), 0);
  assert.equal(codeOf("completed", { exitCode: 255 }), 255);
  assert.equal(codeOf("completed", { signal: "SIGSEGV" }), 139);
  assert.equal(codeOf("killed", { signal: "SIGKILL" }), 137);
  assert.equal(codeOf("killed", { exitCode: 3 }), 3);
});

test("what Sallyport has to say goes from 124 to 127", () => {
  assert.equal(codeOf("timed_out", { signal: "SIGTERM" }), 124);
  assert.equal(codeOf("timed_out", { exitCode: 0 }), 124);
  assert.equal(codeOf("lost"), 125);
  assert.equal(failed("SpawnFailed"), 125);
  assert.equal(failed("WorkdirNotFound"), 125);
  for (const status of ["blocked", "denied", "pending"] as const) assert.equal(codeOf(status), 126);
  for (const type of ["PermissionDenied", "CommandBlocked", "CommandDenied", "ApprovalPending"]) {
    assert.equal(failed(type), 126);
  }
  assert.equal(failed("CommandNotFound"), 127);
});
