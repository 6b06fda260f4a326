import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDuration, parseDuration } from "../../../src/text/format.ts";

test("parses durations", () => {
  const read = {
    "90": 90_000,
    "0": 0,
    "0.5": 500,
    "90s": 90_000,
    "250ms": 250,
    "5m": 300_000,
    "1h30m": 5_400_000,
    "1m0.5s": 60_500,
    "2d": 172_800_000,
  };
  for (const [text, ms] of Object.entries(read)) assert.equal(parseDuration(text), ms, text);
});

test("rejects invalid durations", () => {
  for (const text of ["", "s", "5 m", "-1", "1y", "5m3", "1e3", "m5", "١"])
    assert.equal(parseDuration(text), null, text);
});

test("formats durations with at most two units", () => {
  const shown: [number, string][] = [
    [0, "0ms"],
    [999, "999ms"],
    [1000, "1s"],
    [4_234, "4.2s"],
    [9_960, "10s"],
    [59_700, "1m00s"],
    [192_000, "3m12s"],
    [3_599_600, "1h00m"],
    [7_500_000, "2h05m"],
    [86_400_000, "1d0h"],
    [273_600_000, "3d4h"],
  ];
  for (const [ms, text] of shown) assert.equal(formatDuration(ms), text);
});
