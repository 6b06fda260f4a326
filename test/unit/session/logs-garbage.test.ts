import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { LogQuery } from "../../../src/core/session.ts";
import { corpus, FUZZ_SECONDS, FUZZ_SEED } from "../../fixtures/fuzz.ts";
import { seeded } from "../../fixtures/seeded.ts";
import { dataIn, followEnded, readLog } from "./session-data.ts";
import { blockBytes, type Event, headerBytes, temporaryFolder } from "./timeline-writer.ts";

const ROUNDS = 120;
const saved = corpus(new URL("corpus/timelines.txt", import.meta.url));
const streams = { stdout: Buffer.alloc(6000, "out line\n"), stderr: Buffer.alloc(3000, "an err line\n") };

function damaged(timeline: Buffer, random: (below: number) => number): Buffer {
  const bytes = Buffer.from(timeline);
  const places = 1 + random(20);
  for (let place = 0; place < places; place++) {
    // Half of the damage is in the headers, which matter most.
    const at = random(2) === 0 ? random(128) : random(bytes.length - 8);
    if (random(2) === 0) bytes[at] = random(256);
    else bytes.fill(random(3) === 0 ? 0xff : random(256), at, Math.min(bytes.length, at + random(64)));
  }
  if (random(4) !== 0) bytes.write("SPTL\u0001\0\0\0", 0, "latin1");
  return bytes.subarray(0, random(4) === 0 ? random(bytes.length) : bytes.length);
}

/** Asserts that each byte is returned at its offset in the stream's file, and only once, for any timeline. */
async function assertHarmless(folder: string, what: string, random: (below: number) => number): Promise<void> {
  for (const stream of ["stdout", "stderr"] as const) {
    const { droppedStart, droppedEnd } = dataIn(folder, "apart").streams()[stream] ?? assert.fail();
    const kept = [...streams[stream].subarray(0, droppedStart), ...streams[stream].subarray(droppedEnd)];
    const expected = droppedStart < droppedEnd ? Buffer.from(kept) : streams[stream];
    const { chunks } = await readLog(folder, "apart", { stream }, { live: false });
    assert.ok(Buffer.concat(chunks.map((chunk) => chunk.bytes)).equals(expected), `${stream}, ${what}`);
  }

  const whole = await readLog(folder, "apart", {}, { live: false });
  assert.equal(whole.nextOffset, 9000, what);
  assert.ok(lengthOf(whole.chunks) <= 9000, what);
  for (const { timeMs } of whole.chunks) if (timeMs !== null) new Date(timeMs).toISOString();

  const queries: LogQuery[] = [
    { tail: 1 + random(50) },
    { fromLine: 1 + random(500), toLine: 1 + random(900) },
    { offset: random(10_000), limit: 1 + random(3000) },
    { sinceMs: random(2) === 0 ? 1_700_000_000_000 + random(2000) : random(2 ** 31) },
  ];
  for (const query of queries) {
    for (const live of [true, false]) {
      const slice = await readLog(folder, "apart", query, { live });
      assert.ok(lengthOf(slice.chunks) <= 9000, what);
    }
  }
  assert.ok(dataIn(folder, "apart").errorTail(500).length <= 500, what);
  assert.ok((await dataIn(folder, "apart").tail(500)).length <= 500, what);
  for await (const chunk of followEnded(folder, "apart", {})) assert.ok(chunk.bytes.length <= 9000, what);
}

function lengthOf(chunks: readonly { bytes: Uint8Array }[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.bytes.length, 0);
}

function streamFolder() {
  const folder = temporaryFolder();
  for (const [name, bytes] of Object.entries(streams)) writeFileSync(join(folder.path, name), bytes);
  return folder;
}

test(`reads each byte at most once with ${saved.length} saved timelines`, async () => {
  using folder = streamFolder();
  for (const { about, line } of saved) {
    writeFileSync(join(folder.path, "timeline"), Buffer.from(line, "hex"));
    await assertHarmless(folder.path, about, seeded(FUZZ_SEED));
  }
});

test(`reads each byte at most once with ${ROUNDS} damaged timelines`, async () => {
  using folder = streamFolder();
  const events: Event[] = Array.from({ length: 1500 }, (_, index) => ({
    stream: index % 3 === 2 ? 1 : 0,
    data: "123456",
    atMs: index,
  }));
  const timeline = Buffer.concat([headerBytes(), blockBytes(events)]);
  const end = FUZZ_SECONDS === null ? null : Date.now() + FUZZ_SECONDS * 1000;
  for (let seed = FUZZ_SEED; end === null ? seed < FUZZ_SEED + ROUNDS : Date.now() < end; seed++) {
    const random = seeded(seed);
    const garbage = random(10) === 0 ? Buffer.from(Array.from({ length: random(9000) }, () => random(256))) : timeline;
    writeFileSync(join(folder.path, "timeline"), damaged(garbage.length < 200 ? timeline : garbage, random));
    await assertHarmless(folder.path, `FUZZ_SEED=${seed}`, random);
  }
});

test("a header that claims exabytes takes no time or memory", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "stdout"), "text\n");
  const header = headerBytes();
  header.fill(0xff, 8, 128);
  writeFileSync(join(folder.path, "timeline"), Buffer.concat([header, Buffer.alloc(4096, 0xff)]));
  const before = process.memoryUsage().arrayBuffers;
  assert.equal((await readLog(folder.path, "apart", {}, { live: false })).text, "text\n");
  assert.equal(await dataIn(folder.path, "apart").tail(1024), "text\n");
  assert.ok(process.memoryUsage().arrayBuffers - before < 2 ** 20);
});

test("ignores a timeline of a newer version", async () => {
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

test("reports a read error instead of an empty log", async () => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, "output"));
  writeFileSync(join(folder.path, "timeline"), headerBytes());
  await assert.rejects(readLog(folder.path, "merged", {}, { live: false }), { code: "EISDIR" });
});
