import assert from "node:assert/strict";
import { test } from "node:test";
import { Wakeup } from "../../../src/session/terminal/wait-for.ts";

test("an alarm that nothing rings goes off at its moment, and not before", async () => {
  const alarm = new Wakeup(null, undefined);
  for (const ms of [0, 1, 120]) {
    const atMs = performance.now() + ms;
    await alarm.next(atMs);
    assert.ok(performance.now() >= atMs - 1, `${ms} ms`); // a timer counts whole milliseconds
  }
  alarm.stop();
});

test("an alarm that was called off goes off at once", async () => {
  const controller = new AbortController();
  const alarm = new Wakeup(null, controller.signal);
  setImmediate(() => controller.abort());
  await alarm.next(Number.POSITIVE_INFINITY);
  assert.ok(controller.signal.aborted);
  alarm.stop();
});
