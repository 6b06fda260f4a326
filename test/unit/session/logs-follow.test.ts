import assert from "node:assert/strict";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { LogChunk } from "../../../src/core/session.ts";
import { followLog, type OutputNotifier } from "../../../src/session/logs/follow.ts";
import { allChunks } from "./all-chunks.ts";
import { blockBytes, type Event, headerBytes, temporaryFolder, writeLog } from "./timeline-writer.ts";

/** Does one step each time the follower has caught up; ends after the last. */
function scripted(steps: (() => void)[]): OutputNotifier {
  return {
    async next() {
      const step = steps.shift();
      if (step === undefined) return "ended";
      step();
      return "grew";
    },
  };
}

function shown(chunks: LogChunk[]): string[] {
  return chunks.map((chunk) => `${chunk.stream} ${chunk.offset} ${Buffer.from(chunk.bytes)}`);
}

test("follows both streams in order, from before the first byte to after the last", async () => {
  using folder = temporaryFolder();
  const stdout = join(folder.path, "stdout");
  const stderr = join(folder.path, "stderr");
  const events: Event[] = [];
  const write = (event: Event) => {
    appendFileSync(event.stream === 0 ? stdout : stderr, event.data ?? "");
    events.push(event);
    writeFileSync(join(folder.path, "timeline"), Buffer.concat([headerBytes(), blockBytes(events)]));
  };
  const wake = scripted([
    () => {},
    () => write({ stream: 0, data: "one\n" }),
    () => {
      write({ stream: 1, data: "err\n" });
      write({ stream: 0, data: "two\n" });
    },
    () => appendFileSync(stdout, "not in the timeline yet\n"),
    () => appendFileSync(stderr, "nor this\n"),
  ]);
  const chunks = await allChunks(followLog(folder.path, "apart", {}, wake));
  assert.deepEqual(shown(chunks), [
    "stdout 0 one\n",
    "stderr 0 err\n",
    "stdout 4 two\n",
    "stdout 8 not in the timeline yet\n",
    "stderr 4 nor this\n",
  ]);
});

test("a character written in two parts arrives whole; one never finished arrives as it is", async () => {
  using folder = temporaryFolder();
  const output = join(folder.path, "output");
  const euro = Buffer.from("€");
  const wake = scripted([
    () => appendFileSync(output, Buffer.concat([Buffer.from("a"), euro.subarray(0, 1)])),
    () => appendFileSync(output, euro.subarray(1, 2)),
    () => appendFileSync(output, euro.subarray(2)),
    () => appendFileSync(output, euro.subarray(0, 2)),
  ]);
  const chunks = await allChunks(followLog(folder.path, "merged", {}, wake));
  assert.deepEqual(
    chunks.map((chunk) => [chunk.offset, Buffer.from(chunk.bytes).toString("hex")]),
    [
      [0, "61"],
      [1, "e282ac"],
      [4, "e282"],
    ],
  );
});

test("begins where the query says", async () => {
  using folder = temporaryFolder();
  writeLog(folder.path, "merged", [{ stream: 0, data: "1\n2\n3\n" }]);
  const cases: [object, string][] = [
    [{ tail: 1 }, "3\n4\n"],
    [{ tail: 0 }, "4\n"],
    [{ offset: 2 }, "2\n3\n4\n"],
    [{ fromLine: 3 }, "3\n4\n"],
    [{ fromLine: -2 }, "2\n3\n4\n"],
  ];
  for (const [query, expected] of cases) {
    writeFileSync(join(folder.path, "output"), "1\n2\n3\n");
    const wake = scripted([() => appendFileSync(join(folder.path, "output"), "4\n")]);
    const chunks = await allChunks(followLog(folder.path, "merged", query, wake));
    assert.equal(Buffer.concat(chunks.map((chunk) => chunk.bytes)).toString(), expected, JSON.stringify(query));
  }
});

test("a writer at full speed is followed without loss, in pieces of bounded size", async () => {
  using folder = temporaryFolder();
  const output = join(folder.path, "output");
  const block = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));
  const wake = scripted(
    Array.from({ length: 50 }, () => () => {
      for (let copy = 0; copy < 5; copy++) appendFileSync(output, block);
    }),
  );
  let offset = 0;
  for await (const chunk of followLog(folder.path, "merged", {}, wake)) {
    assert.equal(chunk.offset, offset);
    assert.ok(chunk.bytes.length <= 256 * 1024);
    for (let index = 0; index < chunk.bytes.length; index += 97) {
      if (chunk.bytes[index] !== ((offset + index) % 100_000) % 251) assert.fail(`wrong byte at ${offset + index}`);
    }
    offset += chunk.bytes.length;
  }
  assert.equal(offset, 25_000_000);
});

test("ends when aborted, whether the wake minds the signal or not", async () => {
  using folder = temporaryFolder();
  writeLog(folder.path, "merged", [{ stream: 0, data: "x\n" }]);
  const never = new Promise<"grew">(() => {});
  const deaf: OutputNotifier = { next: () => never };
  const minding: OutputNotifier = {
    next: (signal) => new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
  };
  for (const wake of [deaf, minding]) {
    const abort = new AbortController();
    const chunks: LogChunk[] = [];
    for await (const chunk of followLog(folder.path, "merged", {}, wake, abort.signal)) {
      chunks.push(chunk);
      setImmediate(() => abort.abort());
    }
    assert.equal(chunks.length, 1);
    assert.deepEqual(await allChunks(followLog(folder.path, "merged", {}, wake, abort.signal)), []);
  }
});

test("an error of the wake reaches the follower", async () => {
  using folder = temporaryFolder();
  const broken: OutputNotifier = { next: () => Promise.reject(new Error("keeper gone")) };
  await assert.rejects(allChunks(followLog(folder.path, "merged", {}, broken)), /keeper gone/);
});

test("who comes back gets what they have not had, wherever each stream was left", async () => {
  using folder = temporaryFolder();
  // Characters of one stream cut apart by the other, over several blocks of the timeline.
  const euro = Buffer.from("€");
  const events: Event[] = Array.from({ length: 700 }, (_, n): Event[] => [
    { stream: 0, data: Buffer.concat([Buffer.from(`out ${n} `), euro.subarray(0, 1)]) },
    { stream: 1, data: `err ${n}\n` },
    { stream: 0, data: euro.subarray(1) },
  ]).flat();
  writeLog(folder.path, "apart", events);
  const ended = { next: async () => "ended" as const };
  const whole = await allChunks(followLog(folder.path, "apart", {}, ended));
  const texts = (chunks: LogChunk[], stream: string) =>
    Buffer.concat(chunks.filter((each) => each.stream === stream).map(({ bytes }) => bytes)).toString();
  for (const cut of [0, 1, 2, 3, 500, 1001, whole.length - 1, whole.length]) {
    const had = whole.slice(0, cut);
    const after = { stdout: 0, stderr: 0 };
    for (const { stream, offset, bytes } of had) Object.assign(after, { [stream]: offset + bytes.length });
    const rest = await allChunks(followLog(folder.path, "apart", { after }, ended));
    for (const stream of ["stdout", "stderr"]) {
      assert.equal(texts(had, stream) + texts(rest, stream), texts(whole, stream), `${stream} cut at ${cut}`);
    }
  }
  const one = await allChunks(followLog(folder.path, "apart", { stream: "stderr", after: { stderr: 6 } }, ended));
  assert.equal(texts(one, "stderr"), texts(whole, "stderr").slice(6));
});
