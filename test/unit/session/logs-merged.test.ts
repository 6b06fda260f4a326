import assert from "node:assert/strict";
import { appendFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readLog } from "./session-data.ts";
import {
  blockBytes,
  type Event,
  headerBytes,
  mergedBytes,
  START_MS,
  streamBytes,
  temporaryFolder,
  writeLog,
} from "./timeline-writer.ts";

const ENDED = { live: false };

function alternating(count: number): Event[] {
  return Array.from({ length: count }, (_, index) => ({
    stream: index % 2 === 0 ? 0 : 1,
    data: `${index % 2 === 0 ? "out" : "err"} ${index}\n`,
    atMs: index,
  }));
}

test("returns 10,000 alternating writes in order, at once and in pages", async () => {
  using folder = temporaryFolder();
  const events = alternating(10_000);
  writeLog(folder.path, "apart", events);
  const expected = mergedBytes(events).toString();
  for (const live of [true, false]) {
    const whole = await readLog(folder.path, "apart", {}, { live });
    assert.equal(whole.text, expected);
    assert.deepEqual(
      whole.chunks.map((chunk) => chunk.timeMs),
      events.map((event) => START_MS + (event.atMs ?? 0)),
    );
  }
  let offset = 0;
  let read = "";
  while (offset < expected.length) {
    const slice = await readLog(folder.path, "apart", { offset, limit: 999 }, ENDED);
    read += slice.text;
    offset = slice.nextOffset;
  }
  assert.equal(read, expected);
  const range = await readLog(folder.path, "apart", { fromLine: 7001, toLine: 7003 }, ENDED);
  assert.deepEqual([range.text, range.totalLines], ["out 7000\nerr 7001\nout 7002\n", 10_000]);
});

test("returns each stream alone as it was written", async () => {
  using folder = temporaryFolder();
  const events = alternating(3000);
  writeLog(folder.path, "apart", events);
  for (const [stream, index] of [["stdout", 0] as const, ["stderr", 1] as const]) {
    const slice = await readLog(folder.path, "apart", { stream }, ENDED);
    assert.equal(slice.text, streamBytes(events, index).toString());
    const offset = 10_000;
    const part = await readLog(folder.path, "apart", { stream, offset, limit: 100 }, ENDED);
    assert.equal(part.text, streamBytes(events, index).toString("utf8", offset, offset + 100));
    assert.equal(part.chunks[0]?.offset, offset);
    assert.ok((part.chunks[0]?.timeMs ?? 0) >= START_MS + 1000);
  }
});

test("finds the next output of a stream after a long stretch of the other", async () => {
  using folder = temporaryFolder();
  const quiet = (count: number): Event[] => Array.from({ length: count }, () => ({ stream: 0, data: "noise\n" }));
  const events: Event[] = [
    { stream: 1, data: "first\n", atMs: 0 },
    ...quiet(5000),
    { stream: 1, data: "middle\n", atMs: 0 },
    ...quiet(5000),
    { stream: 1, data: "last\n", atMs: 0 },
  ];
  writeLog(folder.path, "apart", events);
  const slice = await readLog(folder.path, "apart", { stream: "stderr" }, ENDED);
  assert.equal(slice.text, "first\nmiddle\nlast\n");
  assert.equal((await readLog(folder.path, "apart", { stream: "stderr", tail: 2 }, ENDED)).text, "middle\nlast\n");
});

test("joins a character that is split by the other stream's bytes", async () => {
  using folder = temporaryFolder();
  const smile = Buffer.from("😀");
  writeLog(folder.path, "apart", [
    { stream: 0, data: smile.subarray(0, 1) },
    { stream: 1, data: "é!" },
    { stream: 0, data: smile.subarray(1, 2) },
    { stream: 1, data: "?" },
    { stream: 0, data: Buffer.concat([smile.subarray(2), Buffer.from(".")]) },
  ]);
  const slice = await readLog(folder.path, "apart", {}, ENDED);
  assert.equal(slice.text, "é!?😀.");
  assert.deepEqual([slice.nextOffset, slice.totalBytes], [9, 9]);
});

test("holds back bytes that the timeline does not cover until the session has ended", async () => {
  using folder = temporaryFolder();
  writeLog(folder.path, "apart", [
    { stream: 1, data: "err\n" },
    { stream: 0, data: "out\n" },
  ]);
  appendFileSync(join(folder.path, "stderr"), "more err\n");
  appendFileSync(join(folder.path, "stdout"), "more out\n");
  const live = await readLog(folder.path, "apart", {}, { live: true });
  assert.deepEqual([live.text, live.nextOffset, live.totalBytes], ["err\nout\n", 8, 26]);
  const rest = await readLog(folder.path, "apart", { offset: live.nextOffset }, ENDED);
  assert.equal(rest.text, "more out\nmore err\n");
  assert.equal(rest.chunks[0]?.timeMs, null);
  // A single stream is ordered even without a timeline.
  const alone = await readLog(folder.path, "apart", { stream: "stderr" }, { live: true });
  assert.equal(alone.text, "err\nmore err\n");
});

test("a truncated timeline can change the order of the output but loses no bytes", async () => {
  using folder = temporaryFolder();
  const events = alternating(1200);
  writeLog(folder.path, "apart", events);
  const timeline = Buffer.concat([headerBytes(), blockBytes(events)]);
  const total = mergedBytes(events).length;
  for (const length of [0, 3, 127, 128, 140, 160, 167, 168, 171, 4223, 4224, 4230, 4256, 4264, 8320, 9000]) {
    writeFileSync(join(folder.path, "timeline"), timeline);
    truncateSync(join(folder.path, "timeline"), length);
    const slice = await readLog(folder.path, "apart", {}, ENDED);
    assert.deepEqual([slice.nextOffset, slice.totalBytes, slice.droppedBytes], [total, total, 0], `${length}`);
    for (const [name, index] of [["stdout", 0] as const, ["stderr", 1] as const]) {
      const bytes = Buffer.concat(slice.chunks.filter((chunk) => chunk.stream === name).map((chunk) => chunk.bytes));
      assert.ok(bytes.equals(streamBytes(events, index)), `${name} at ${length}`);
    }
  }
});
