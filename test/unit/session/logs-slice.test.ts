import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { LogQuery } from "../../../src/core/session.ts";
import { dataIn, readLog, streamLog } from "./session-data.ts";
import { type Event, START_MS, temporaryFolder, writeLog } from "./timeline-writer.ts";

const ENDED = { live: false };
const LIVE = { live: true };

test("a session that wrote nothing has an empty log", async () => {
  using folder = temporaryFolder();
  const empty = { chunks: [], text: "", nextOffset: 0, totalBytes: 0, droppedBytes: 0, diskCap: null };
  for (const capture of ["apart", "merged"] as const) {
    for (const query of [
      {},
      { tail: 5 },
      { offset: 0, limit: 0 },
      { sinceMs: START_MS },
      { stream: "stderr" } as const,
    ]) {
      assert.deepEqual(await readLog(folder.path, capture, query, ENDED), empty);
    }
    assert.deepEqual(await readLog(folder.path, capture, { fromLine: 1 }, ENDED), { ...empty, totalLines: 0 });
  }
  const nothing = { bytes: 0, droppedStart: 0, droppedEnd: 0, lost: 0 };
  assert.deepEqual(dataIn(folder.path, "apart").streams(), { stdout: nothing, stderr: nothing });
  assert.deepEqual(dataIn(folder.path, "merged").streams(), { output: nothing });
});

test("returns arbitrary bytes unchanged for any page size", async () => {
  using folder = temporaryFolder();
  const bytes = Buffer.alloc(20_000);
  let seed = 42;
  for (let index = 0; index < bytes.length; index++) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    bytes[index] = seed >>> 24;
  }
  writeLog(folder.path, "merged", [{ stream: 0, data: bytes }]);
  for (const limit of [1, 2, 3, 7, 1000, 65_536]) {
    const pages: Uint8Array[] = [];
    const end = limit < 100 ? 2000 : bytes.length;
    let offset = 0;
    while (offset < end) {
      const slice = await readLog(folder.path, "merged", { offset, limit }, ENDED);
      assert.ok(
        slice.nextOffset > offset && slice.nextOffset <= offset + Math.max(4, limit),
        `at ${offset} by ${limit}`,
      );
      pages.push(...slice.chunks.map((chunk) => chunk.bytes));
      offset = slice.nextOffset;
    }
    assert.ok(Buffer.concat(pages).equals(bytes.subarray(0, offset)), `with limit ${limit}`);
  }
});

test("pages never split a character", async () => {
  using folder = temporaryFolder();
  const text = "aé€😀\r\n".repeat(50);
  writeLog(folder.path, "merged", [{ stream: 0, data: text }]);
  for (let limit = 1; limit <= 13; limit++) {
    let offset = 0;
    let read = "";
    while (offset < Buffer.byteLength(text)) {
      const slice = await readLog(folder.path, "merged", { offset, limit }, ENDED);
      assert.equal(Buffer.byteLength(slice.text), slice.nextOffset - offset);
      assert.ok(slice.nextOffset > offset, `no progress at offset ${offset} with limit ${limit}`);
      read += slice.text;
      offset = slice.nextOffset;
    }
    assert.equal(read, text, `with limit ${limit}`);
  }
});

test("returns a whole character even if it exceeds the limit", async () => {
  using folder = temporaryFolder();
  writeLog(folder.path, "merged", [{ stream: 0, data: "😀é!" }]);
  const text = async (query: LogQuery) => (await readLog(folder.path, "merged", query, ENDED)).text;
  assert.equal(await text({ limit: 1 }), "😀");
  assert.equal(await text({ limit: 3 }), "😀");
  assert.equal(await text({ offset: 4, limit: 1 }), "é");
  assert.equal(await text({ limit: 0 }), "");
});

test("holds back an incomplete character until the next read or the end of the session", async () => {
  using folder = temporaryFolder();
  const bytes = Buffer.concat([Buffer.from("ok "), Buffer.from("😀").subarray(0, 3)]);
  writeLog(folder.path, "merged", [{ stream: 0, data: bytes }]);
  const live = await readLog(folder.path, "merged", {}, LIVE);
  assert.deepEqual([live.text, live.nextOffset, live.totalBytes], ["ok ", 3, 6]);
  const none = await readLog(folder.path, "merged", { offset: 3 }, LIVE);
  assert.deepEqual([none.text, none.nextOffset, none.chunks.length], ["", 3, 0]);
  const ended = await readLog(folder.path, "merged", {}, ENDED);
  assert.deepEqual([ended.text, ended.nextOffset], ["ok \ufffd", 6]);
});

test("does not hold back bytes that cannot become a character", async () => {
  using folder = temporaryFolder();
  for (const bytes of [[0xc1], [0xff], [0xe0, 0x80], [0xed, 0xa0], [0xf4, 0x90], [0xf0, 0x80], [0x80, 0x80]]) {
    writeLog(folder.path, "merged", [{ stream: 0, data: Uint8Array.from(bytes) }]);
    assert.equal((await readLog(folder.path, "merged", {}, LIVE)).nextOffset, bytes.length, `${bytes}`);
  }
});

test("clamps invalid queries instead of failing", async () => {
  using folder = temporaryFolder();
  writeLog(folder.path, "merged", [{ stream: 0, data: "one\ntwo\n" }]);
  const cases: [LogQuery, string][] = [
    [{ offset: -5 }, "one\ntwo\n"],
    [{ offset: Number.NaN }, "one\ntwo\n"],
    [{ offset: 1e18 }, ""],
    [{ limit: -1 }, ""],
    [{ limit: Number.NaN }, "one\ntwo\n"],
    [{ limit: Number.POSITIVE_INFINITY }, "one\ntwo\n"],
    [{ tail: -1 }, ""],
    [{ tail: Number.POSITIVE_INFINITY }, "one\ntwo\n"],
    [{ fromLine: 3 }, ""],
    [{ fromLine: 2, toLine: 1 }, ""],
    [{ sinceMs: -1e18 }, "one\ntwo\n"],
    [{ sinceMs: 1e18 }, ""],
  ];
  for (const [query, text] of cases) {
    assert.equal((await readLog(folder.path, "merged", query, ENDED)).text, text, JSON.stringify(query));
  }
});

test("a slice is 1 MiB by default and at most 16 MiB; a stream is unlimited", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "output"), Buffer.alloc(20 * 1024 * 1024, "x"));
  const sizes: [LogQuery, number][] = [
    [{}, 1024 * 1024],
    [{ limit: 1e12 }, 16 * 1024 * 1024],
  ];
  for (const [query, size] of sizes) {
    const slice = await readLog(folder.path, "merged", query, ENDED);
    assert.deepEqual([slice.text.length, slice.nextOffset], [size, size]);
    assert.ok(slice.chunks.every((chunk) => chunk.bytes.length <= 256 * 1024));
  }
  let streamed = 0;
  for await (const chunk of streamLog(folder.path, "merged", {}, ENDED)) {
    assert.ok(chunk.bytes.length <= 256 * 1024);
    streamed += chunk.bytes.length;
  }
  assert.equal(streamed, 20 * 1024 * 1024);
});

test("a merged capture returns its only stream for any stream name", async () => {
  using folder = temporaryFolder();
  writeLog(folder.path, "merged", [{ stream: 0, data: "both\n" }]);
  for (const stream of ["stdout", "stderr", "merged", undefined] as const) {
    const { chunks } = await readLog(folder.path, "merged", { stream }, ENDED);
    assert.deepEqual(chunks, [
      { stream: "output", offset: 0, bytes: Buffer.from("both\n"), dropped: 0, timeMs: START_MS },
    ]);
  }
});

test("selects output since a time, for one stream and for both", async () => {
  using folder = temporaryFolder();
  const events: Event[] = Array.from({ length: 2000 }, (_, index) => ({
    stream: index % 3 === 0 ? 1 : 0,
    data: `${index}\n`,
    atMs: index * 10,
  }));
  writeLog(folder.path, "apart", events);
  for (const index of [0, 1, 507, 508, 509, 1015, 1016, 1017, 1999]) {
    for (const stream of ["stdout", "stderr", "merged"] as const) {
      const expected = events
        .filter((event) => (event.atMs ?? 0) > index * 10 - 5)
        .filter((event) => stream === "merged" || (stream === "stderr") === (event.stream === 1))
        .map((event) => event.data)
        .join("");
      const query = { stream, sinceMs: START_MS + index * 10 - 5 };
      assert.equal((await readLog(folder.path, "apart", query, ENDED)).text, expected, `${stream} from ${index}`);
    }
  }
  const both = { sinceMs: START_MS + 19_900, tail: 3 };
  assert.equal((await readLog(folder.path, "apart", both, ENDED)).text, "1997\n1998\n1999\n");
  const fewer = { sinceMs: START_MS + 19_990, tail: 3 };
  assert.equal((await readLog(folder.path, "apart", fewer, ENDED)).text, "1999\n");
});
