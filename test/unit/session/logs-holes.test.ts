import assert from "node:assert/strict";
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { allChunks, dataIn, readLog, streamLog } from "./session-data.ts";
import { type Event, headerBytes, mergedBytes, type Punched, temporaryFolder, writeLog } from "./timeline-writer.ts";

const ENDED = { live: false };

function numbered(count: number, streams: 1 | 2 = 1): Event[] {
  return Array.from({ length: count }, (_, index) => ({
    stream: (index % streams) as 0 | 1,
    data: `${String(index).padStart(7, "0")}\n`,
    atMs: index,
  }));
}

test("skips a hole and counts its bytes", async () => {
  using folder = temporaryFolder();
  const events = numbered(1000);
  const text = mergedBytes(events).toString();
  writeLog(folder.path, "merged", events, {
    holes: [
      [800, 7200],
      [0, 0],
    ],
    lost: [5, 0],
  });
  assert.deepEqual(dataIn(folder.path, "merged").streams(), {
    output: { bytes: 8000, droppedStart: 800, droppedEnd: 7200, lost: 5 },
  });

  const whole = await readLog(folder.path, "merged", {}, ENDED);
  assert.equal(whole.text, text.slice(0, 800) + text.slice(7200));
  assert.deepEqual([whole.nextOffset, whole.totalBytes, whole.droppedBytes], [8000, 8000, 6400]);
  assert.deepEqual(
    whole.chunks.map(({ offset, dropped }) => [offset, dropped]),
    [
      [0, 0],
      [7200, 6400],
    ],
  );

  const cases: [number, number, string, number, number][] = [
    [792, 8, text.slice(792, 800), 800, 0],
    [800, 8, text.slice(7200, 7208), 7208, 6400],
    [7000, 8, text.slice(7200, 7208), 7208, 200],
    [7200, 8, text.slice(7200, 7208), 7208, 0],
    [796, 8, text.slice(796, 800) + text.slice(7200, 7204), 7204, 6400],
  ];
  for (const [offset, limit, expected, next, dropped] of cases) {
    const slice = await readLog(folder.path, "merged", { offset, limit }, ENDED);
    assert.deepEqual([slice.text, slice.nextOffset, slice.droppedBytes], [expected, next, dropped], `at ${offset}`);
  }
  assert.equal(
    (await readLog(folder.path, "merged", { tail: 101 }, ENDED)).text,
    text.slice(792, 800) + text.slice(7200),
  );
});

test("reports a hole at the end with an empty last chunk", async () => {
  using folder = temporaryFolder();
  writeLog(folder.path, "merged", numbered(10), {
    holes: [
      [40, 80],
      [0, 0],
    ],
  });
  const slice = await readLog(folder.path, "merged", {}, ENDED);
  assert.deepEqual([slice.text.length, slice.nextOffset, slice.droppedBytes], [40, 80, 40]);
  assert.deepEqual(slice.chunks.at(-1), {
    stream: "output",
    offset: 80,
    bytes: Buffer.alloc(0),
    dropped: 40,
    timeMs: null,
  });
});

test("returns or counts each byte of two interleaved streams with holes once", async () => {
  using folder = temporaryFolder();
  const events = numbered(3000, 2);
  const punched: Punched = {
    holes: [
      [4000, 8000],
      [800, 11_200],
    ],
  };
  writeLog(folder.path, "apart", events, punched);
  const seen = [0, 0];
  const expected = events
    .filter(({ stream }) => {
      const offset = seen[stream] as number;
      seen[stream] = offset + 8;
      const [start, end] = (punched.holes ?? assert.fail())[stream];
      return offset < start || offset >= end;
    })
    .map((event) => event.data)
    .join("");
  const whole = await readLog(folder.path, "apart", {}, ENDED);
  assert.equal(whole.text, expected);
  assert.deepEqual([whole.nextOffset, whole.droppedBytes], [24_000, 14_400]);

  let offset = 0;
  let read = "";
  let dropped = 0;
  while (offset < whole.totalBytes) {
    const slice = await readLog(folder.path, "apart", { offset, limit: 100 }, ENDED);
    read += slice.text;
    dropped += slice.droppedBytes;
    offset = slice.nextOffset;
  }
  assert.deepEqual([read, dropped], [expected, 14_400]);
});

test("a hole in the timeline can change the order of the output but loses no bytes", async () => {
  using folder = temporaryFolder();
  const events = numbered(508 * 10, 2);
  writeLog(folder.path, "apart", events, { blockHole: [3, 8] });
  const merged = mergedBytes(events);
  const blocks = (count: number) => count * 508 * 8;
  const whole = Buffer.from((await readLog(folder.path, "apart", {}, ENDED)).text);
  assert.ok(whole.subarray(0, blocks(3)).equals(merged.subarray(0, blocks(3))));
  assert.ok(whole.subarray(blocks(8)).equals(merged.subarray(blocks(8))));
  const sorted = (bytes: Buffer) => bytes.toString().split("\n").sort().join("\n");
  assert.equal(sorted(whole), sorted(merged));
  for (const offset of [0, 100, blocks(3) - 8, blocks(3), blocks(5), blocks(8) - 4, blocks(8), blocks(9) + 12]) {
    const slice = await readLog(folder.path, "apart", { offset, limit: 1000 }, ENDED);
    assert.equal(slice.text, whole.toString("utf8", offset, offset + 1000), `at ${offset}`);
    for (const stream of ["stdout", "stderr"] as const) {
      const half = Math.floor(offset / 16) * 8;
      const alone = await readLog(folder.path, "apart", { stream, offset: half, limit: 16 }, ENDED);
      const first = (half / 8) * 2 + (stream === "stdout" ? 0 : 1);
      assert.equal(
        alone.text,
        events
          .slice(first, first + 3)
          .filter((_, index) => index !== 1)
          .map((e) => e.data)
          .join(""),
      );
    }
  }
  assert.equal((await readLog(folder.path, "apart", { tail: 2 }, ENDED)).text, "0005078\n0005079\n");
});

test("counts bytes lost to a full disk where they were lost", async () => {
  using folder = temporaryFolder();
  const events: Event[] = [
    { stream: 0, data: "one\n" },
    { stream: 0, lost: 100 },
    { stream: 1, data: "err\n" },
    { stream: 0, data: "two\n" },
    { stream: 0, lost: 7 },
    { stream: 0, lost: 8 },
  ];
  writeLog(folder.path, "apart", events, { lost: [115, 0] });
  const dropped = async (query: object, live: boolean) =>
    (await readLog(folder.path, "apart", query, { live })).chunks.map((chunk) => [
      Buffer.from(chunk.bytes).toString(),
      chunk.dropped,
    ]);
  assert.deepEqual(await dropped({ stream: "stdout" }, false), [
    ["one\n", 0],
    ["two\n", 100],
    ["", 15],
  ]);
  assert.deepEqual(await dropped({ stream: "stdout", offset: 4 }, true), [["two\n", 100]]);
  assert.deepEqual(await dropped({}, false), [
    ["one\n", 0],
    ["err\n", 0],
    ["two\n", 100],
    ["", 15],
  ]);
  assert.equal(await dataIn(folder.path, "apart").tail(1024), "one\nerr\ntwo\n");
});

test("treats NULs in a hole announced during the read as dropped bytes", async () => {
  using folder = temporaryFolder();
  const bytes = Buffer.alloc(1_000_000, "x");
  writeLog(folder.path, "merged", [{ stream: 0, data: bytes }]);
  let given = 0;
  let dropped = 0;
  let chunks = 0;
  for await (const chunk of streamLog(folder.path, "merged", {}, ENDED)) {
    assert.ok(!chunk.bytes.includes(0), `NULs at ${chunk.offset}`);
    given += chunk.bytes.length;
    dropped += chunk.dropped;
    if (++chunks === 1) punch(folder.path, 300_000, 900_000);
  }
  assert.deepEqual([given, dropped], [400_000, 600_000]);
});

function punch(folder: string, start: number, end: number): void {
  const timeline = openSync(join(folder, "timeline"), "r+");
  writeSync(
    timeline,
    headerBytes({
      holes: [
        [start, end],
        [0, 0],
      ],
    }),
    0,
    128,
    0,
  );
  closeSync(timeline);
  const output = openSync(join(folder, "output"), "r+");
  writeSync(output, Buffer.alloc(end - start), 0, end - start, start);
  closeSync(output);
}

test("treats NULs written by the command as data", async () => {
  using folder = temporaryFolder();
  const data = Buffer.from("a\0b\0\0c");
  writeLog(folder.path, "merged", [{ stream: 0, data }]);
  assert.equal((await readLog(folder.path, "merged", {}, ENDED)).text, "a\0b\0\0c");
  assert.equal(dataIn(folder.path, "merged").errorTail(1024), "a\0b\0\0c");
});

test("streaming a log with a hole returns the same output as reading slices", async () => {
  using folder = temporaryFolder();
  writeLog(folder.path, "merged", numbered(1000), {
    holes: [
      [800, 7200],
      [0, 0],
    ],
  });
  writeFileSync(join(folder.path, "exit"), "{}");
  const { chunks } = await readLog(folder.path, "merged", { fromLine: 50, toLine: 120 }, ENDED);
  assert.deepEqual(await allChunks(streamLog(folder.path, "merged", { fromLine: 50, toLine: 120 }, ENDED)), chunks);
  const limited = await allChunks(streamLog(folder.path, "merged", { offset: 4, limit: 10 }, ENDED));
  assert.deepEqual(
    limited.map((chunk) => [chunk.offset, chunk.bytes.length]),
    [[4, 10]],
  );
});
