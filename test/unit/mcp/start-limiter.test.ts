import assert from "node:assert/strict";
import { test } from "node:test";
import { Turnstile } from "../../../src/mcp/start-limiter.ts";

const never = new AbortController().signal;
const LONG = 60_000;

test("of many at once some wait, and are let in in their order", async () => {
  const turnstile = new Turnstile();
  const order: number[] = [];
  let inside = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const leave = await turnstile.enter(never, LONG);
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
  const inside = await Promise.all(Array.from({ length: 32 }, () => turnstile.enter(never, LONG)));
  const gone = new AbortController();
  const waiting = turnstile.enter(gone.signal, LONG);
  const next = turnstile.enter(never, LONG);
  gone.abort(new Error("gone"));
  await assert.rejects(waiting, /gone/);
  inside[0]?.();
  (await next)();
});

test("a command that goes on for long lets others in", async () => {
  const turnstile = new Turnstile({ startingMs: 50 });
  await Promise.all(Array.from({ length: 32 }, () => turnstile.enter(never, LONG)));
  (await turnstile.enter(never, LONG))();
});

test("whoever has waited for as long as they can is let in, and takes no place", async () => {
  const turnstile = new Turnstile();
  const inside = await Promise.all(Array.from({ length: 32 }, () => turnstile.enter(never, LONG)));
  (await turnstile.enter(never, 20))();
  const next = turnstile.enter(never, LONG);
  inside[0]?.();
  (await next)();
});

test("leaving twice frees one place", async () => {
  const turnstile = new Turnstile();
  const leave = await turnstile.enter(never, LONG);
  leave();
  leave();
  const inside = await Promise.all(Array.from({ length: 32 }, () => turnstile.enter(never, LONG)));
  let entered = false;
  const one = turnstile.enter(never, LONG).then((out) => {
    entered = true;
    return out;
  });
  await new Promise(setImmediate);
  assert.equal(entered, false);
  for (const out of inside) out();
  (await one)();
});
