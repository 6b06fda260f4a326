import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { Session } from "../../../src/session/session.ts";

/** Returns a session whose main process exits when `exited` resolves, and which counts holders of its execution. */
function running(exited: Promise<unknown>) {
  const execution = {
    holders: 0,
    exited,
    hold: () => {
      execution.holders++;
      return () => {
        execution.holders--;
      };
    },
  };
  const records = { info: () => ({ status: "running" }), execution: async () => execution };
  return { execution, session: new Session(records as never, { id: "1", name: "one" }, {} as never) };
}

test("wait releases the execution and its listeners in every case", async () => {
  const { signal } = new AbortController();
  const options = { timeoutMs: 600_000, signal };
  const exits = running(Promise.resolve());
  await exits.session.wait(options);
  const fails = running(Promise.reject(new Error("silent")));
  await assert.rejects(fails.session.wait(options), /silent/);
  assert.deepEqual([exits.execution.holders, fails.execution.holders], [0, 0]);
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("wait ends on an abort signal, even if it was aborted before the call, and on its timeout", async () => {
  const { session, execution } = running(new Promise(() => {}));
  const controller = new AbortController();
  const waiting = session.wait({ signal: controller.signal });
  setImmediate(() => controller.abort(new Error("enough")));
  await assert.rejects(waiting, /enough/);
  await assert.rejects(session.wait({ signal: controller.signal }), /enough/);
  await session.wait({ timeoutMs: 1 });
  assert.equal(execution.holders, 0);
});
