import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import type { Execution } from "../../../src/executor/execution.ts";
import { dataIn } from "./session-data.ts";
import { temporaryFolder } from "./timeline-writer.ts";

/** An execution that neither writes nor ends. */
const idle = { exited: new Promise(() => {}), onGrew: () => () => {}, hold: () => () => {} } as unknown as Execution;

test("a wait times out at its timeout and not before", async () => {
  using folder = temporaryFolder();
  for (const ms of [0, 1, 120]) {
    const start = performance.now();
    const { reason } = await dataIn(folder.path, "merged").waitFor(idle, { timeoutMs: ms });
    assert.equal(reason, "timeout");
    assert.ok(performance.now() - start >= ms - 1, `${ms} ms`); // Timers have millisecond resolution.
  }
});

test("an aborted wait ends immediately and removes its listeners", async () => {
  using folder = temporaryFolder();
  const controller = new AbortController();
  const { signal } = controller;
  const waiting = dataIn(folder.path, "merged").waitFor(idle, { pattern: /never/, signal });
  setImmediate(() => controller.abort(new Error("enough")));
  await assert.rejects(waiting, /enough/);
  assert.equal(getEventListeners(signal, "abort").length, 0);
});
