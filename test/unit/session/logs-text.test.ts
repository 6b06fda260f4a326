import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { readMergedText, readStreamText } from "../../../src/session/logs/text.ts";
import { type Event, mergedBytes, type Punched, temporaryFolder, writeLog } from "./timeline-writer.ts";

test("a small output is given whole", () => {
  using folder = temporaryFolder();
  writeLog(folder.path, "apart", [
    { stream: 0, data: "hé" },
    { stream: 1, data: "err\n" },
    { stream: 0, data: "llo\n" },
  ]);
  const whole = (text: string) => ({ text, omittedBytes: 0, omittedAt: null });
  assert.deepEqual(readStreamText(folder.path, "stdout"), whole("héllo\n"));
  assert.deepEqual(readStreamText(folder.path, "stderr"), whole("err\n"));
  assert.deepEqual(readMergedText(folder.path, "apart"), whole("héerr\nllo\n"));
  assert.deepEqual(readMergedText(folder.path, "apart", 1024, { stdout: 7, stderr: 0 }), whole("héllo\n"));
  assert.deepEqual(readStreamText(folder.path, "output"), whole(""));
});

test("told that nothing was written, the disk is not touched", () => {
  const nowhere = "/proc/self/fd/9999/nowhere";
  assert.equal(readStreamText(nowhere, "stdout", 1024, 0).text, "");
  assert.equal(readMergedText(nowhere, "apart", 1024, { stdout: 0, stderr: 0 }).text, "");
  assert.equal(readMergedText(nowhere, "merged", 1024, { output: 0 }).text, "");
});

test("a long output keeps its head and its tail, cut between characters", () => {
  using folder = temporaryFolder();
  for (const length of [10, 100, 70_000, 300_000]) {
    const text = "é€😀a".repeat(Math.ceil(length / 10)).slice(0, length);
    const bytes = Buffer.byteLength(text);
    writeLog(folder.path, "merged", [{ stream: 0, data: text }]);
    for (const maxBytes of [0, 1, 2, 3, 7, 8, 9, 64, 1000, 65_535, 65_536, 65_537, bytes - 1, bytes]) {
      const read = readStreamText(folder.path, "output", maxBytes);
      const at = read.omittedAt ?? read.text.length;
      const [head, tail] = [read.text.slice(0, at), read.text.slice(at)];
      assert.ok(text.startsWith(head) && text.endsWith(tail), `${length} in ${maxBytes}`);
      assert.ok(!read.text.includes("\ufffd"));
      assert.equal(Buffer.byteLength(read.text) + read.omittedBytes, bytes);
      assert.ok(Buffer.byteLength(read.text) <= maxBytes || read.omittedBytes === 0);
      assert.ok(Buffer.byteLength(read.text) >= Math.min(bytes, maxBytes - 6));
      assert.equal(read.omittedAt === null, read.omittedBytes === 0);
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
  test(`a hole from ${start} to ${end} of 1000 bytes lies within what ${maxBytes} bytes leave out`, () => {
    using folder = temporaryFolder();
    const data = Buffer.from(Array.from({ length: 1000 }, (_, index) => 97 + (index % 26)));
    const punched: Punched = {
      holes: [
        [start, end],
        [0, 0],
      ],
    };
    writeLog(folder.path, "apart", [{ stream: 0, data }], punched);
    const expected = Math.min(maxBytes, 1000 - (end - start));
    const text = data.toString();
    for (const read of [
      readStreamText(folder.path, "stdout", maxBytes),
      readMergedText(folder.path, "apart", maxBytes),
    ]) {
      assert.ok(!read.text.includes("\0"));
      assert.equal(read.text.length + read.omittedBytes, 1000);
      const at = read.omittedAt ?? assert.fail();
      assert.ok(text.startsWith(read.text.slice(0, at)) && text.endsWith(read.text.slice(at)));
    }
    assert.equal(readStreamText(folder.path, "stdout", maxBytes).text.length, expected);
  });
}

test("both streams in order keep head and tail within the limit", () => {
  using folder = temporaryFolder();
  const events: Event[] = Array.from({ length: 20_000 }, (_, index) => ({
    stream: index % 2 === 0 ? 0 : 1,
    data: `${index}é\n`,
  }));
  writeLog(folder.path, "apart", events);
  const text = mergedBytes(events).toString();
  assert.equal(readMergedText(folder.path, "apart").text, text);
  for (const maxBytes of [0, 1, 10, 101, 1000, 65_537]) {
    const read = readMergedText(folder.path, "apart", maxBytes);
    const at = read.omittedAt ?? assert.fail();
    assert.ok(text.startsWith(read.text.slice(0, at)) && text.endsWith(read.text.slice(at)), `${maxBytes}`);
    assert.ok(Buffer.byteLength(read.text) <= maxBytes);
    assert.equal(Buffer.byteLength(read.text) + read.omittedBytes, Buffer.byteLength(text));
  }
});

test("no descriptor is left open", () => {
  using folder = temporaryFolder();
  writeLog(folder.path, "apart", [
    { stream: 0, data: "a\0" },
    { stream: 1, data: "b" },
  ]);
  const open = () => readdirSync("/proc/self/fd").length;
  const before = open();
  for (let round = 0; round < 20; round++) {
    readStreamText(folder.path, "stdout", 1);
    readStreamText(folder.path, "output");
    readMergedText(folder.path, "apart");
  }
  assert.equal(open(), before);
});
