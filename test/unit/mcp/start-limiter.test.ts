import assert from "node:assert/strict";
import { test } from "node:test";
import { StartLimiter } from "../../../src/mcp/agent-context.ts";

const never = new AbortController().signal;
const LONG = 60_000;

test("callers beyond the limit wait and proceed in order", async () => {
  const limiter = new StartLimiter();
  const order: number[] = [];
  let inside = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const release = await limiter.acquire(never, LONG);
      order.push(index);
      most = Math.max(most, ++inside);
      await new Promise(setImmediate);
      inside--;
      release();
    }),
  );
  assert.deepEqual(
    order,
    Array.from({ length: 200 }, (_, index) => index),
  );
  assert.ok(most < 64, `${most} held a slot at once`);
});

test("a caller that aborts while waiting takes no slot", async () => {
  const limiter = new StartLimiter();
  const inside = await Promise.all(Array.from({ length: 32 }, () => limiter.acquire(never, LONG)));
  const gone = new AbortController();
  const waiting = limiter.acquire(gone.signal, LONG);
  const next = limiter.acquire(never, LONG);
  gone.abort(new Error("gone"));
  await assert.rejects(waiting, /gone/);
  inside[0]?.();
  (await next)();
});

test("a long-running command releases its slot", async () => {
  const limiter = new StartLimiter({ startingMs: 50 });
  await Promise.all(Array.from({ length: 32 }, () => limiter.acquire(never, LONG)));
  (await limiter.acquire(never, LONG))();
});

test("a caller that waits too long proceeds without a slot", async () => {
  const limiter = new StartLimiter();
  const inside = await Promise.all(Array.from({ length: 32 }, () => limiter.acquire(never, LONG)));
  (await limiter.acquire(never, 20))();
  const next = limiter.acquire(never, LONG);
  inside[0]?.();
  (await next)();
});

test("releasing twice frees one slot", async () => {
  const limiter = new StartLimiter();
  const release = await limiter.acquire(never, LONG);
  release();
  release();
  const inside = await Promise.all(Array.from({ length: 32 }, () => limiter.acquire(never, LONG)));
  let entered = false;
  const one = limiter.acquire(never, LONG).then((out) => {
    entered = true;
    return out;
  });
  await new Promise(setImmediate);
  assert.equal(entered, false);
  for (const out of inside) out();
  (await one)();
});
