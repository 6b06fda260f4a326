import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Worker } from "node:worker_threads";

test("two workers can open a new state folder at the same time", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-open-"));
  const workers: Worker[] = [];
  try {
    const [files, parties] = [60, 2];
    const arrived = new Int32Array(new SharedArrayBuffer(4 * files));
    const script = new URL("../../fixtures/open-together.ts", import.meta.url);
    const workerData = { folder, files, parties, arrived };
    workers.push(...Array.from({ length: parties }, () => new Worker(script, { workerData })));
    const openers = workers.map((worker) => once(worker, "message"));
    for (const [failures] of await Promise.all(openers)) assert.deepEqual(failures, []);
  } finally {
    for (const worker of workers) await worker.terminate(); // A worker that waits for a failed one would wait forever.
    rmSync(folder, { recursive: true, force: true });
  }
});
