import assert from "node:assert/strict";
import { test } from "node:test";
import { Turnstile } from "../../../src/surfaces/mcp/turnstile.ts";

const never = new AbortController().signal;

test("of many at once some wait, and are let in in their order", async () => {
  const turnstile = new Turnstile();
  const order: number[] = [];
  let inside = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const leave = await turnstile.enter(never);
      order.push(index);
      most = Math.max(most, ++inside);
      await new Promise(setImmediate);
      inside--;
      leave();
    }),
  );
  assert.deepEqual(
    order,
    Array.from({ length: 200 }, (_, index) => index),
  );
  assert.ok(most < 64, `${most} were inside at once`);
});

test("a caller that gives up while it waits is not let in, and keeps nobody out", async () => {
  const turnstile = new Turnstile();
  const inside = await Promise.all(Array.from({ length: 32 }, () => turnstile.enter(never)));
  const gone = new AbortController();
  const waiting = turnstile.enter(gone.signal);
  const next = turnstile.enter(never);
  gone.abort(new Error("gone"));
  await assert.rejects(waiting, /gone/);
  inside[0]?.();
  (await next)();
});

test("a call that goes on for long lets others in", async () => {
  const turnstile = new Turnstile();
  await Promise.all(Array.from({ length: 32 }, () => turnstile.enter(never)));
  (await turnstile.enter(never))();
});

test("leaving twice frees one place", async () => {
  const turnstile = new Turnstile();
  const leave = await turnstile.enter(never);
  leave();
  leave();
  const inside = await Promise.all(Array.from({ length: 32 }, () => turnstile.enter(never)));
  let entered = false;
  const one = turnstile.enter(never).then((out) => {
    entered = true;
    return out;
  });
  await new Promise(setImmediate);
  assert.equal(entered, false);
  for (const out of inside) out();
  (await one)();
});
