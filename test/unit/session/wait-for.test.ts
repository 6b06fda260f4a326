import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import type { Execution } from "../../../src/executor/execution.ts";
import { dataIn } from "./session-data.ts";
import { temporaryFolder } from "./timeline-writer.ts";

/** A command that neither writes nor ends. */
const idle = { exited: new Promise(() => {}), onGrew: () => () => {}, hold: () => () => {} } as unknown as Execution;

test("a wait that nothing ends times out at its moment, and not before", async () => {
  using folder = temporaryFolder();
  for (const ms of [0, 1, 120]) {
    const start = performance.now();
    const { reason } = await dataIn(folder.path, "merged").waitFor(idle, { timeoutMs: ms });
    assert.equal(reason, "timeout");
    assert.ok(performance.now() - start >= ms - 1, `${ms} ms`); // a timer counts whole milliseconds
  }
});

test("an aborted wait ends at once and leaves no listener behind", async () => {
  using folder = temporaryFolder();
  const controller = new AbortController();
  const { signal } = controller;
  const waiting = dataIn(folder.path, "merged").waitFor(idle, { pattern: /never/, signal });
  setImmediate(() => controller.abort(new Error("enough")));
  await assert.rejects(waiting, /enough/);
  assert.equal(getEventListeners(signal, "abort").length, 0);
});
