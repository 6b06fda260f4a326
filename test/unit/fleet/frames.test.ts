import assert from "node:assert/strict";
import { test } from "node:test";
import { chunkFrame, endFrame, FrameReader, valueFrames } from "../../../src/fleet/response-stream.ts";

const chunk = (n: number) => chunkFrame({ stream: "stdout" }, Buffer.from(`chunk ${n}`), n);
const kinds = (...frames: Uint8Array[]) => {
  const reader = new FrameReader();
  return frames.map((frame) => reader.read(frame)?.kind ?? "part");
};

test("decodes chunks with their head, and joins a value that was sent in parts", () => {
  const read = new FrameReader().read(chunk(0));
  assert.ok(read?.kind === "chunk");
  assert.deepEqual([read.head, Buffer.from(read.bytes).toString()], [{ stream: "stdout" }, "chunk 0"]);
  const reader = new FrameReader();
  const value = "x".repeat(600_000);
  const frames = [...valueFrames(value)].map((frame) => reader.read(frame));
  assert.deepEqual(frames, [null, null, { kind: "value", value }]);
});

test("detects a lost chunk, including the last one", () => {
  assert.deepEqual(kinds(chunk(0), chunk(1), endFrame(2)), ["chunk", "chunk", "end"]);
  assert.deepEqual(kinds(chunk(0), chunk(2)), ["chunk", "gap"]);
  assert.deepEqual(kinds(chunk(1)), ["gap"]);
  assert.deepEqual(kinds(chunk(0), endFrame(2)), ["chunk", "gap"]);
  assert.deepEqual(kinds(endFrame(0)), ["end"]);
});
