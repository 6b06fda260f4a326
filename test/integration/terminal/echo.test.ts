import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { LogChunk } from "../../../src/core/session.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());

/** A command that echoes each key immediately. */
const ECHO = "stty raw -echo; printf ready; exec cat";

async function echoing(command = ECHO) {
  const session = await gateway.start({ command, pty: true });
  await until("the program is ready", async () => (await session.logs()).text.includes("ready"));
  return session;
}

/** Collects the chunks that a follower receives. `all` resolves at the end of the log. */
function followed(chunks: AsyncIterable<LogChunk>) {
  const got: LogChunk[] = [];
  const all = (async () => {
    for await (const chunk of chunks) got.push(chunk);
    return got;
  })();
  return { got, all, text: () => Buffer.concat(got.map(({ bytes }) => bytes)).toString() };
}

/** Asserts that a follower got each byte of the log once and in order, from events or from the file. */
function assertWhole(got: LogChunk[], log: Buffer): void {
  let offset = 0;
  for (const chunk of got) {
    assert.equal(chunk.offset, offset);
    assert.equal(chunk.dropped, 0);
    offset += chunk.bytes.length;
  }
  assert.deepEqual(Buffer.concat(got.map(({ bytes }) => bytes)), log);
}

test("followers get the output of keys, each byte once and each character complete", async () => {
  const session = await echoing();
  const [one, two] = [followed(session.follow()), followed(session.follow({ stream: "stdout" }))];
  const keys = ["a", "é", "漢", "😀", "x".repeat(63), "\x1b[A", "y".repeat(5000), "é".repeat(700), "z"];
  let typed = "ready";
  for (let round = 0; round < 10; round++) {
    for (const key of keys) {
      // A follower gets a character in one piece even if it was written in two.
      const bytes = Buffer.from(key);
      await session.write(bytes.subarray(0, 1));
      if (bytes.length > 1) await session.write(bytes.subarray(1));
      typed += key;
      if (round % 2 === 0) await until("the key is echoed", () => one.text() === typed);
    }
  }
  await until("both followers have received all echoed characters", () => one.text() === typed && two.text() === typed);
  await session.kill({ signal: "SIGKILL" });
  const log = readFileSync(join(fixture.sessionFolder(session.id), "output"));
  assertWhole(await one.all, log);
  assertWhole(await two.all, log);
  for (const { bytes } of one.got) assert.ok(!Buffer.from(bytes).toString().includes("\ufffd"));
});

test("no output is lost when keys are sent during a flood of output", async () => {
  const flood = "seq 1 60000 &";
  const session = await echoing(`stty raw -echo; printf ready; ${flood} exec cat`);
  const follower = followed(session.follow());
  for (let i = 0; i < 200; i++) await session.write("k");
  await until("the follower has received the flood and all keys", () => {
    const text = follower.text();
    return text.includes("60000") && text.split("k").length === 201;
  });
  await session.kill({ signal: "SIGKILL" });
  assertWhole(await follower.all, readFileSync(join(fixture.sessionFolder(session.id), "output")));
});

test("output reported with a key has the same time as in the log", async () => {
  const session = await echoing();
  const follower = followed(session.follow());
  await until("the follower has read the log", () => follower.text() === "ready");
  const before = Date.now();
  await session.write("k");
  await until("the echo arrives", () => follower.text() === "readyk");
  const timeMs = follower.got.at(-1)?.timeMs ?? 0;
  assert.ok(timeMs >= before - 2 && timeMs <= Date.now() + 2, `${timeMs} is not between ${before} and now`);
  await session.kill({ signal: "SIGKILL" });
  const [last] = (await session.logs({ offset: 5 })).chunks.slice(-1);
  assert.ok(Math.abs((last?.timeMs ?? 0) - timeMs) <= 10);
});

test("a key without output is acknowledged, and acknowledgements keep their order", async () => {
  const session = await echoing("stty raw -echo; printf ready; exec sleep 600");
  const follower = followed(session.follow());
  await session.write("a");
  const [, state, size] = await Promise.all([
    session.write("b"),
    session.waitFor({ quietMs: 1, timeoutMs: 20_000 }),
    session.resize({ columns: 50, rows: 9 }),
    session.write("c"),
  ]);
  assert.equal(state.reason, "quiet");
  assert.equal(size, undefined);
  assert.deepEqual(session.info().pty, { columns: 50, rows: 9 });
  await until("the follower has read the log", () => follower.text() === "ready");
  await session.kill({ signal: "SIGKILL" });
  await follower.all;
});

test("searches for a pattern in the output since the last key, even before the key is acknowledged", async () => {
  const session = await echoing();
  const follower = followed(session.follow());
  for (const key of ["a", "b", "c", "d"]) {
    await session.write(key);
    const found = await session.waitFor({ pattern: new RegExp(key), timeoutMs: 20_000 });
    assert.equal(found.reason, "pattern");
  }
  const [, found] = await Promise.all([session.write("e"), session.waitFor({ pattern: /e/, timeoutMs: 20_000 })]);
  assert.equal(found.reason, "pattern");
  assert.equal(found.match?.[0], "e");
  // Output before the last key is not searched: the letters below occur only there.
  assert.equal((await session.waitFor({ pattern: /[abd]/, timeoutMs: 50 })).reason, "timeout");
  await session.kill({ signal: "SIGKILL" });
  await follower.all;
});

test("every key is in the audit log when its write resolves", async () => {
  const session = await echoing();
  const follower = followed(session.follow());
  for (const key of ["p", "q", "r"]) {
    await session.write(key);
    assert.equal(gateway.audit.tail(1, { session: session.id })[0]?.summary, key);
  }
  await session.kill({ signal: "SIGKILL" });
  await follower.all;
});
