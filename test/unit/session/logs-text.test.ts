import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { dataIn } from "./session-data.ts";
import { type Event, mergedBytes, type Punched, temporaryFolder, writeLog } from "./timeline-writer.ts";

/** Fails unless `shown` is a prefix of `whole` followed by a suffix of it. */
function assertHeadAndTail(shown: string, whole: string, what: string): void {
  let head = 0;
  while (head < shown.length && shown[head] === whole[head]) head++;
  assert.ok(whole.endsWith(shown.slice(head)), what);
}

test("returns a small output completely", async () => {
  using folder = temporaryFolder();
  writeLog(folder.path, "apart", [
    { stream: 0, data: "hé" },
    { stream: 1, data: "err\n" },
    { stream: 0, data: "llo\n" },
  ]);
  assert.equal(await dataIn(folder.path, "apart").tail(1024), "héerr\nllo\n");
  assert.equal(dataIn(folder.path, "apart").errorTail(1024), "err\n");
  assert.equal(dataIn(folder.path, "merged").errorTail(1024), "");
});

test("keeps the head and tail of a long output, cut between characters", () => {
  using folder = temporaryFolder();
  for (const length of [10, 100, 70_000, 300_000]) {
    const text = "é€😀a".repeat(Math.ceil(length / 10)).slice(0, length);
    const bytes = Buffer.byteLength(text);
    writeLog(folder.path, "merged", [{ stream: 0, data: text }]);
    for (const maxBytes of [0, 1, 2, 3, 7, 8, 9, 64, 1000, 65_535, 65_536, 65_537, bytes - 1, bytes]) {
      const read = dataIn(folder.path, "merged").errorTail(maxBytes);
      assertHeadAndTail(read, text, `${length} in ${maxBytes}`);
      assert.ok(!read.includes("\ufffd"));
      assert.ok(Buffer.byteLength(read) <= maxBytes || read === text);
      assert.ok(Buffer.byteLength(read) >= Math.min(bytes, maxBytes - 6));
    }
  }
});

const HOLES: [number, number, number][] = [
  [100, 900, 1000],
  [100, 900, 200],
  [100, 900, 100],
  [10, 900, 60],
  [490, 990, 60],
  [0, 900, 60],
  [100, 1000, 60],
  [0, 1000, 60],
];
for (const [start, end, maxBytes] of HOLES) {
  test(`omits a hole from ${start} to ${end} of 1000 bytes with a limit of ${maxBytes} bytes`, async () => {
    using folder = temporaryFolder();
    const data = Buffer.from(Array.from({ length: 1000 }, (_, index) => 97 + (index % 26)));
    const punched: Punched = {
      holes: [
        [start, end],
        [0, 0],
      ],
    };
    const text = data.toString();
    for (const capture of ["merged", "apart"] as const) {
      writeLog(folder.path, capture, [{ stream: 0, data }], punched);
      const read = await dataIn(folder.path, capture).tail(maxBytes);
      assert.ok(!read.includes("\0"));
      assertHeadAndTail(read, text, capture);
      if (capture === "merged") assert.equal(read.length, Math.min(maxBytes, 1000 - (end - start)));
    }
  });
}

test("keeps the head and tail of both streams in order within the limit", async () => {
  using folder = temporaryFolder();
  const events: Event[] = Array.from({ length: 20_000 }, (_, index) => ({
    stream: index % 2 === 0 ? 0 : 1,
    data: `${index}é\n`,
  }));
  writeLog(folder.path, "apart", events);
  const text = mergedBytes(events).toString();
  assert.equal(await dataIn(folder.path, "apart").tail(1 << 20), text);
  for (const maxBytes of [0, 1, 10, 101, 1000, 65_537]) {
    const read = await dataIn(folder.path, "apart").tail(maxBytes);
    assertHeadAndTail(read, text, `${maxBytes}`);
    assert.ok(Buffer.byteLength(read) <= maxBytes);
    assert.ok(Buffer.byteLength(read) >= maxBytes - 4);
  }
});

test("leaves no descriptor open", async () => {
  using folder = temporaryFolder();
  writeLog(folder.path, "apart", [
    { stream: 0, data: "a\0" },
    { stream: 1, data: "b" },
  ]);
  const open = () => readdirSync("/proc/self/fd").length;
  const before = open();
  for (let round = 0; round < 20; round++) {
    dataIn(folder.path, "apart").errorTail(1);
    dataIn(folder.path, "merged").errorTail(1024);
    await dataIn(folder.path, "apart").tail(1024);
    dataIn(folder.path, "apart").streams();
  }
  assert.equal(open(), before);
});
