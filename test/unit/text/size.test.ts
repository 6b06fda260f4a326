import assert from "node:assert/strict";
import { test } from "node:test";
import { formatSize, parseSize } from "../../../src/text/format.ts";

test("parses sizes with powers of 1024", () => {
  const read = {
    "4096": 4096,
    "0": 0,
    "64K": 65_536,
    "64k": 65_536,
    "64M": 67_108_864,
    "1.5G": 1_610_612_736,
    "1MiB": 1_048_576,
    "2KB": 2048,
    "7B": 7,
  };
  for (const [text, bytes] of Object.entries(read)) assert.equal(parseSize(text), bytes, text);
});

test("rejects invalid sizes", () => {
  for (const text of ["", "K", "-1", "1 M", "1Mi", "5X", "1e3"]) assert.equal(parseSize(text), null, text);
});

test("formats sizes", () => {
  const shown: [number, string][] = [
    [0, "0B"],
    [1023, "1023B"],
    [1024, "1K"],
    [1536, "1.5K"],
    [10_240, "10K"],
    [1_048_575, "1M"],
    [67_108_864, "64M"],
    [5_000_000_000_000, "4.5T"],
  ];
  for (const [bytes, text] of shown) assert.equal(formatSize(bytes), text);
});
