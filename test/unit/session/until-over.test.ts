import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { untilOver } from "../../../src/session/until-over.ts";

/** Counts who holds on to it. */
function held() {
  const execution = {
    holders: 0,
    hold: () => {
      execution.holders++;
      return () => {
        execution.holders--;
      };
    },
  };
  return execution;
}

test("whoever waits lets go, however it ends", async () => {
  const execution = held();
  const { signal } = new AbortController();
  const options = { timeoutMs: 600_000, signal };
  await untilOver(execution, Promise.resolve(), options);
  await assert.rejects(untilOver(execution, Promise.reject(new Error("silent")), options), /silent/);
  assert.equal(execution.holders, 0);
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("a signal ends the wait, also one that was given before; a time does too", async () => {
  const execution = held();
  const never = new Promise(() => {});
  const controller = new AbortController();
  const waiting = untilOver(execution, never, { signal: controller.signal });
  controller.abort(new Error("enough"));
  await assert.rejects(waiting, /enough/);
  await assert.rejects(untilOver(execution, never, { signal: controller.signal }), /enough/);
  await untilOver(execution, never, { timeoutMs: 1 });
  assert.equal(execution.holders, 0);
});
