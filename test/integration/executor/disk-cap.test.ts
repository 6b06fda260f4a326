import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { StreamInfo } from "../../../src/core/session.ts";
import type { Session } from "../../../src/session/session.ts";
import { nativeOnly } from "../../fixtures/executor.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { assertWritten, writingRequest } from "../../fixtures/writer.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());

const MIB = 1 << 20;
/** Tolerance in bytes: a few pages, and the size of one read before the next hole. */
const SLACK = 512 << 10;

const CASES = [
  { name: "20 MiB under a cap of 1 MiB", bytes: 20 * MIB, diskCap: MIB },
  { name: "an odd length under an odd cap", bytes: 5 * MIB + 777, diskCap: MIB + 12_345 },
  { name: "1 MiB under the smallest cap", bytes: MIB, diskCap: 65_536 },
  { name: "one byte more than the cap", bytes: MIB + 1, diskCap: MIB },
  { name: "exactly the cap", bytes: MIB, diskCap: MIB },
  { name: "100 MiB under the default cap", bytes: 100 * MIB, diskCap: undefined },
  { name: "80 MiB without a cap", bytes: 80 * MIB, diskCap: 0 },
];

async function readBack(session: Session, stream: "stdout" | "stderr", from: number, to: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for (let offset = from; offset < to; ) {
    const slice = await session.logs({ stream, offset, limit: Math.min(8 * MIB, to - offset) });
    assert.equal(slice.chunks[0]?.offset, offset);
    parts.push(...slice.chunks.map(({ bytes }) => bytes));
    if (slice.nextOffset === offset) break;
    offset = slice.nextOffset;
  }
  return Buffer.concat(parts);
}

/** Asserts the content. The value of each byte depends on its offset, so a wrong offset is detected. */
function assertPlaced(bytes: Buffer, fd: 1 | 2, from: number, seed: number): void {
  for (let i = 0; i < bytes.length; i++) {
    const at = from + i;
    const expected = (seed + at * 7 + (at >> 8) * 13 + fd * 101) & 0xff;
    if (bytes[i] !== expected) assert.fail(`byte ${at} is ${bytes[i]}, not ${expected}`);
  }
}

for (const { name, bytes, diskCap } of CASES) {
  test(`${name}: keeps the head and the tail, reports the dropped bytes and frees disk space`, async () => {
    const writing = {
      name: "",
      seed: 42,
      stdout: bytes,
      stderr: 100,
      pieces: 1,
      pauseMs: 0,
      code: 0,
      note: fixture.path(`note-${bytes}-${diskCap}`),
    };
    const { name: _, ...request } = writingRequest(writing);
    const result = await gateway.run({ ...request, diskCap });
    assert.equal(result.exitCode, 0);
    const session = gateway.session(result.id);
    const info = session.info().streams.stdout as StreamInfo;
    const cap = diskCap ?? 64 * MIB;
    const dropped = info.droppedEnd - info.droppedStart;
    assert.deepEqual([info.bytes, info.lost], [bytes, 0]);
    assert.equal(dropped > 0, cap > 0 && bytes > cap, `${dropped} bytes were dropped`);
    if (cap > 0) {
      const { blocks, size } = statSync(join(fixture.sessionFolder(session.id), "stdout"));
      assert.equal(size, bytes);
      assert.ok(blocks * 512 <= cap + SLACK, `the log uses ${blocks * 512} bytes on disk`);
      assert.ok(bytes - dropped >= Math.min(bytes, cap / 2), `only ${bytes - dropped} bytes were kept`);
    }
    const headEnd = dropped ? info.droppedStart : bytes;
    assertPlaced(await readBack(session, "stdout", 0, headEnd), 1, 0, 42);
    if (dropped) {
      const tail = await readBack(session, "stdout", info.droppedEnd, bytes);
      assert.equal(tail.length, bytes - info.droppedEnd);
      assertPlaced(tail, 1, info.droppedEnd, 42);
      const across = await session.logs({ stream: "stdout", offset: info.droppedStart - 10, limit: 20 });
      assert.equal(across.droppedBytes, dropped);
      assert.equal(across.totalBytes, bytes);
      assert.equal(result.truncated.stdout > dropped - 1, true);
    }
    assertWritten(await readBack(session, "stderr", 0, 100), 2, 100, writing);
  });
}

const rewrites = nativeOnly("without hole punching the tail is rewritten, and a reader may see an incomplete tail");

test("the logs of a running session are correct while the middle is being dropped", rewrites, async () => {
  const session = await gateway.start({ command: "for i in $(seq 1 150000); do echo line $i; done", diskCap: 65_536 });
  for (let round = 0; session.info().status === "running"; round++) {
    const { text, droppedBytes } = await session.logs({ stream: "stdout", tail: 5 });
    // The writer was faster than every attempt to read, which the result reports.
    if (droppedBytes > 0) continue;
    // The last line may be incomplete.
    const numbers = text
      .split("\n")
      .slice(0, -1)
      .map((line) => Number(/^line (\d+)$/.exec(line)?.[1] ?? Number.NaN));
    for (const [i, n] of numbers.entries()) if (i > 0) assert.equal(n, (numbers[i - 1] as number) + 1, text);
    if (round > 5000) break;
  }
  await session.wait();
  assert.match((await session.logs({ stream: "stdout", tail: 1 })).text, /^line 150000\n$/);
  assert.match((await session.logs({ stream: "stdout", offset: 0, limit: 14 })).text, /^line 1\nline 2\n$/);
});

const FLOODS = ["yes 1234567 | head -c 5000000", "head -c 5000000 /dev/zero | tr '\\0' x"];
for (const command of FLOODS) {
  test(`the cap applies to the log file, in which a line replaces the middle: ${command}`, async () => {
    const logFile = fixture.path("plain.log");
    await gateway.run({ command, diskCap: MIB, logFile });
    const text = readFileSync(logFile, "latin1");
    assert.ok(text.length <= MIB && !text.includes("\0"));
    const mark = /(?<=\n)\[\.\.\. ([\d,]+) bytes were dropped: over the 1 MiB limit of this file \.\.\.\]\n/g;
    const [found, second] = [...text.matchAll(mark)];
    assert.ok(found?.[1] && !second);
    const [head = "", tail = ""] = [text.slice(0, found.index), text.slice(found.index + found[0].length)];
    // A line feed is added before the mark if the head does not end with one.
    const kept = (command.startsWith("yes") ? head.length : head.length - 1) + tail.length;
    assert.equal(kept + Number(found[1].replaceAll(",", "")), 5_000_000);
    assert.match(head + tail, command.startsWith("yes") ? /^(1234567\n)+$/ : /^x+\nx+$/);
  });
}
