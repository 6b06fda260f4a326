import assert from "node:assert/strict";
import { test } from "node:test";
import { logQuery } from "../../../src/cli/commands/session/logs.ts";

test("log queries: one way to say which part", () => {
  assert.deepEqual(logQuery({ lines: "10:20" }, 0), { fromLine: 10, toLine: 20 });
  assert.deepEqual(logQuery({ lines: "10:" }, 0), { fromLine: 10 });
  assert.deepEqual(logQuery({ lines: ":20" }, 0), { fromLine: 1, toLine: 20 });
  assert.deepEqual(logQuery({ lines: "-20:" }, 0), { fromLine: -20 });
  assert.deepEqual(logQuery({ tail: "5", stream: "stderr", since: "1m" }, 90_000), {
    tail: 5,
    stream: "stderr",
    sinceMs: 30_000,
  });
  assert.deepEqual(logQuery({ since: "2026-11-15T03:00:00Z" }, 0), { sinceMs: Date.UTC(2026, 10, 15, 3) });
  for (const lines of [":", "0:", "5", "1:0", "-5:3", "a:b"])
    assert.throws(() => logQuery({ lines }, 0), /`--lines` must be/);
  assert.throws(() => logQuery({ tail: "5", lines: "1:" }, 0), /three ways/);
  assert.throws(
    () => logQuery({ stream: "stdin" }, 0),
    /`--stream` must be one of stdout, stderr, merged; received `stdin`/,
  );
  assert.throws(() => logQuery({ since: "yesterday" }, 0), /`--since` must be/);
});
