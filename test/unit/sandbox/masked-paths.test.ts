import assert from "node:assert/strict";
import { test } from "node:test";
import { maskedPaths } from "../../../src/sandbox/masked-paths.ts";

test("sockets that would run or sign what a command tells them are put out of sight", () => {
  const hidden = maskedPaths({ SSH_AUTH_SOCK: "/no/such/agent.sock", XDG_RUNTIME_DIR: "/no/runtime" }, 4711);
  for (const place of ["/no/such/agent.sock", "/no/runtime", "/run/user/4711", "/tmp/tmux-4711", "/run/docker.sock"]) {
    assert.ok(hidden.includes(place), place);
  }
});

test("a variable that names no place, or a whole tree, hides nothing", () => {
  const plain = maskedPaths({}, 4711);
  for (const value of ["", "agent.sock", "/", "/tmp"]) {
    assert.deepEqual(maskedPaths({ SSH_AUTH_SOCK: value, XDG_RUNTIME_DIR: value, TMUX: value }, 4711), plain, value);
  }
});
