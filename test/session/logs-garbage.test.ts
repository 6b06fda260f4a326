import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { LogQuery } from "../../src/contract/session.ts";
import { followLog, readLog, readMergedSync, readTextSync, streamInfo } from "../../src/session/logs/index.ts";
import { blockBytes, type Event, headerBytes, temporaryFolder } from "./timeline-writer.ts";

const ROUNDS = 120;
const ended = { next: async () => "ended" as const };

/** xorshift32: a failure names its seed, which gives the same timeline again. */
function randomFrom(seed: number): (below: number) => number {
  let state = (seed + 1) * 2_654_435_761;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

function damaged(timeline: Buffer, random: (below: number) => number): Buffer {
  const bytes = Buffer.from(timeline);
  const places = 1 + random(20);
  for (let place = 0; place < places; place++) {
    // Headers matter most: half of the damage goes there.
    const at = random(2) === 0 ? random(128) : random(bytes.length - 8);
    if (random(2) === 0) bytes[at] = random(256);
    else bytes.fill(random(3) === 0 ? 0xff : random(256), at, Math.min(bytes.length, at + random(64)));
  }
  if (random(4) !== 0) bytes.write("SPTL\u0001\0\0\0", 0, "latin1");
  return bytes.subarray(0, random(4) === 0 ? random(bytes.length) : bytes.length);
}

test(`${ROUNDS} damaged timelines: nothing throws, hangs or invents, and no byte comes twice`, async () => {
  using folder = temporaryFolder();
  const streams = { stdout: Buffer.alloc(6000, "out line\n"), stderr: Buffer.alloc(3000, "an err line\n") };
  for (const [name, bytes] of Object.entries(streams)) writeFileSync(join(folder.path, name), bytes);
  const events: Event[] = Array.from({ length: 1500 }, (_, index) => ({
    stream: index % 3 === 2 ? 1 : 0,
    data: "123456",
    atMs: index,
  }));
  const timeline = Buffer.concat([headerBytes(), blockBytes(events)]);

  for (let seed = 0; seed < ROUNDS; seed++) {
    const random = randomFrom(seed);
    const garbage = random(10) === 0 ? Buffer.from(Array.from({ length: random(9000) }, () => random(256))) : timeline;
    writeFileSync(join(folder.path, "timeline"), damaged(garbage.length < 200 ? timeline : garbage, random));

    for (const stream of ["stdout", "stderr"] as const) {
      const { droppedStart, droppedEnd } = streamInfo(folder.path, "apart")[stream] ?? assert.fail();
      const kept = [...streams[stream].subarray(0, droppedStart), ...streams[stream].subarray(droppedEnd)];
      const expected = droppedStart < droppedEnd ? Buffer.from(kept) : streams[stream];
      const { chunks } = await readLog(folder.path, "apart", { stream }, { live: false });
      assert.ok(Buffer.concat(chunks.map((chunk) => chunk.bytes)).equals(expected), `${stream}, seed ${seed}`);
      assert.ok(readTextSync(folder.path, stream, 500).text.length <= 500, `seed ${seed}`);
    }

    const whole = await readLog(folder.path, "apart", {}, { live: false });
    assert.equal(whole.nextOffset, 9000, `seed ${seed}`);
    const given = whole.chunks.reduce((sum, chunk) => sum + chunk.bytes.length, 0);
    assert.ok(given <= 9000, `seed ${seed}`);
    for (const { timeMs } of whole.chunks) if (timeMs !== null) new Date(timeMs).toISOString();

    const queries: LogQuery[] = [
      { tail: 1 + random(50) },
      { fromLine: 1 + random(500), toLine: 1 + random(900) },
      { offset: random(10_000), limit: 1 + random(3000) },
      { sinceMs: random(2) === 0 ? 1_700_000_000_000 + random(2000) : random(2 ** 31) },
    ];
    for (const query of queries) {
      for (const live of [true, false]) {
        const slice = await readLog(folder.path, "apart", query, { live });
        assert.ok(slice.chunks.reduce((sum, chunk) => sum + chunk.bytes.length, 0) <= 9000, `seed ${seed}`);
      }
    }
    assert.ok(readMergedSync(folder.path, "apart", 500).text.length <= 500, `seed ${seed}`);
    for await (const chunk of followLog(folder.path, "apart", {}, ended)) assert.ok(chunk.bytes.length <= 9000);
  }
});

test("a header that claims exabytes costs nothing", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "stdout"), "text\n");
  const header = headerBytes();
  header.fill(0xff, 8, 128);
  writeFileSync(join(folder.path, "timeline"), Buffer.concat([header, Buffer.alloc(4096, 0xff)]));
  const before = process.memoryUsage().arrayBuffers;
  assert.equal((await readLog(folder.path, "apart", {}, { live: false })).text, "text\n");
  assert.equal(readTextSync(folder.path, "stdout").text, "text\n");
  assert.ok(process.memoryUsage().arrayBuffers - before < 2 ** 20);
});

test("a timeline of a newer version is not guessed at", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "stdout"), "out\n");
  writeFileSync(join(folder.path, "stderr"), "err\n");
  const header = headerBytes({
    holes: [
      [0, 4],
      [0, 4],
    ],
  });
  header.writeUInt32LE(2, 4);
  writeFileSync(join(folder.path, "timeline"), header);
  assert.equal((await readLog(folder.path, "apart", {}, { live: false })).text, "out\nerr\n");
});

test("a failure to read is an error, not an empty log", async () => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, "output"));
  writeFileSync(join(folder.path, "timeline"), headerBytes());
  await assert.rejects(readLog(folder.path, "merged", {}, { live: false }), { code: "EISDIR" });
});
