import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { FollowQuery } from "../../../src/core/gateway.ts";
import type { Capture, LogChunk } from "../../../src/core/session.ts";
import type { Execution, OutputDelta } from "../../../src/executor/execution.ts";
import { allChunks, dataIn, followEnded } from "./session-data.ts";
import { blockBytes, type Event, headerBytes, temporaryFolder, writeLog } from "./timeline-writer.ts";

/** An execution that grows and ends when the test requests it, and that counts its holders. */
class FakeExecution {
  holders = 0;
  #listeners = new Set<(fresh?: OutputDelta) => void>();
  #end = Promise.withResolvers<void>();
  ended = this.#end.promise;

  hold(): () => void {
    this.holders++;
    return () => {
      this.holders--;
    };
  }

  onGrew(listener: (fresh?: OutputDelta) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  grow(fresh?: OutputDelta): void {
    for (const listener of this.#listeners) listener(fresh);
  }

  end(): void {
    this.#end.resolve();
  }

  get listeners(): number {
    return this.#listeners.size;
  }
}

/** One step of a followed log: what to write, how many chunks to expect, and the output reported with the event. */
type Step = [write: () => void, chunks: number, fresh?: OutputDelta];

async function followSteps(folder: string, capture: Capture, query: FollowQuery, steps: Step[]): Promise<LogChunk[]> {
  const execution = new FakeExecution();
  const chunks = dataIn(folder, capture).follow(query, execution as unknown as Execution, undefined);
  const all: LogChunk[] = [];
  let pending = chunks.next();
  for (const [write, count, fresh] of steps) {
    write();
    execution.grow(fresh);
    for (let chunk = 0; chunk < count; chunk++) {
      const { value } = await pending;
      if (value) all.push(value);
      pending = chunks.next();
    }
  }
  execution.end();
  for (let last = await pending; !last.done; last = await chunks.next()) all.push(last.value);
  assert.deepEqual([execution.holders, execution.listeners], [0, 0]);
  return all;
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
  const both = () => {
    write({ stream: 1, data: "err\n" });
    write({ stream: 0, data: "two\n" });
  };
  const chunks = await followSteps(folder.path, "apart", {}, [
    [() => {}, 0],
    [() => write({ stream: 0, data: "one\n" }), 1],
    [both, 2],
    [() => appendFileSync(stdout, "not in the timeline yet\n"), 0],
    [() => appendFileSync(stderr, "nor this\n"), 0],
  ]);
  assert.deepEqual(shown(chunks), [
    "stdout 0 one\n",
    "stderr 0 err\n",
    "stdout 4 two\n",
    "stdout 8 not in the timeline yet\n",
    "stderr 4 nor this\n",
  ]);
});

test("joins a character written in two parts, and yields an incomplete one at the end", async () => {
  using folder = temporaryFolder();
  const output = join(folder.path, "output");
  const euro = Buffer.from("€");
  const chunks = await followSteps(folder.path, "merged", {}, [
    [() => appendFileSync(output, Buffer.concat([Buffer.from("a"), euro.subarray(0, 1)])), 1],
    [() => appendFileSync(output, euro.subarray(1, 2)), 0],
    [() => appendFileSync(output, euro.subarray(2)), 1],
    [() => appendFileSync(output, euro.subarray(0, 2)), 0],
  ]);
  assert.deepEqual(
    chunks.map((chunk) => [chunk.offset, Buffer.from(chunk.bytes).toString("hex")]),
    [
      [0, "61"],
      [1, "e282ac"],
      [4, "e282"],
    ],
  );
});

test("starts at the position in the query", async () => {
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
    const { length } = expected;
    const chunks = await followSteps(folder.path, "merged", query, [
      [() => {}, length > 2 ? 1 : 0],
      [() => appendFileSync(join(folder.path, "output"), "4\n"), 0],
    ]);
    assert.equal(Buffer.concat(chunks.map((chunk) => chunk.bytes)).toString(), expected, JSON.stringify(query));
  }
});

test("uses output reported by the execution instead of the files, if it continues the log", async () => {
  using folder = temporaryFolder();
  const fresh = (offset: number, text: string): OutputDelta => ({ offset, bytes: Buffer.from(text), timeMs: 0 });
  const output = join(folder.path, "output");
  const chunks = await followSteps(folder.path, "merged", {}, [
    [() => {}, 1, fresh(0, "not on disk\n")],
    [() => writeFileSync(output, "not on disk\nfrom disk\n"), 1, fresh(999, "elsewhere")],
  ]);
  assert.deepEqual(shown(chunks), ["output 0 not on disk\n", "output 12 from disk\n"]);
});

test("follows a fast writer without loss, in pieces of bounded size", async () => {
  using folder = temporaryFolder();
  const output = join(folder.path, "output");
  const block = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));
  const execution = new FakeExecution();
  let offset = 0;
  let written = 0;
  for await (const chunk of writing(execution)) {
    assert.equal(chunk.offset, offset);
    assert.ok(chunk.bytes.length <= 256 * 1024);
    for (let index = 0; index < chunk.bytes.length; index += 97) {
      if (chunk.bytes[index] !== ((offset + index) % 100_000) % 251) assert.fail(`wrong byte at ${offset + index}`);
    }
    offset += chunk.bytes.length;
  }
  assert.equal(offset, 25_000_000);

  function writing(followed: FakeExecution): AsyncGenerator<LogChunk, void, undefined> {
    const write = () => {
      for (let copy = 0; copy < 5; copy++) appendFileSync(output, block);
      followed.grow();
      if (++written === 50) followed.end();
      else setImmediate(write);
    };
    setImmediate(write);
    return dataIn(folder.path, "merged").follow({}, followed as unknown as Execution, undefined);
  }
});

test("ends when aborted, and leaves no listener behind", async () => {
  using folder = temporaryFolder();
  writeLog(folder.path, "merged", [{ stream: 0, data: "x\n" }]);
  const execution = new FakeExecution();
  const abort = new AbortController();
  const follow = () => dataIn(folder.path, "merged").follow({}, execution as unknown as Execution, abort.signal);
  const chunks: LogChunk[] = [];
  for await (const chunk of follow()) {
    chunks.push(chunk);
    setImmediate(() => abort.abort());
  }
  assert.equal(chunks.length, 1);
  assert.deepEqual(await allChunks(follow()), []);
  assert.deepEqual([execution.holders, execution.listeners], [0, 0]);
  assert.equal(getEventListeners(abort.signal, "abort").length, 0);
});

test("a returning reader gets only new output, for any offsets of the two streams", async () => {
  using folder = temporaryFolder();
  // Characters of one stream are split by the other, over several blocks of the timeline.
  const euro = Buffer.from("€");
  const events: Event[] = Array.from({ length: 700 }, (_, n): Event[] => [
    { stream: 0, data: Buffer.concat([Buffer.from(`out ${n} `), euro.subarray(0, 1)]) },
    { stream: 1, data: `err ${n}\n` },
    { stream: 0, data: euro.subarray(1) },
  ]).flat();
  writeLog(folder.path, "apart", events);
  const whole = await allChunks(followEnded(folder.path, "apart", {}));
  const texts = (chunks: LogChunk[], stream: string) =>
    Buffer.concat(chunks.filter((each) => each.stream === stream).map(({ bytes }) => bytes)).toString();
  for (const cut of [0, 1, 2, 3, 500, 1001, whole.length - 1, whole.length]) {
    const had = whole.slice(0, cut);
    const after = { stdout: 0, stderr: 0 };
    for (const { stream, offset, bytes } of had) Object.assign(after, { [stream]: offset + bytes.length });
    const rest = await allChunks(followEnded(folder.path, "apart", { after }));
    for (const stream of ["stdout", "stderr"]) {
      assert.equal(texts(had, stream) + texts(rest, stream), texts(whole, stream), `${stream} cut at ${cut}`);
    }
  }
  const one = await allChunks(followEnded(folder.path, "apart", { stream: "stderr", after: { stderr: 6 } }));
  assert.equal(texts(one, "stderr"), texts(whole, "stderr").slice(6));
});
