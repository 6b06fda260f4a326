import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { after, test } from "node:test";
import type { LogQuery } from "../../../src/core/session.ts";
import type { Session } from "../../../src/session/session.ts";
import { compile } from "../../fixtures/compile.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());
const alternate = compile("alternate");
const LINES = 10_000;

async function readAll(session: Session, stream: LogQuery["stream"], limit = 1 << 20): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for (let offset = 0; ; ) {
    const slice = await session.logs({ stream, offset, limit });
    parts.push(...slice.chunks.map(({ bytes }) => bytes));
    if (slice.nextOffset === offset) return Buffer.concat(parts);
    offset = slice.nextOffset;
  }
}

function lines(from: number, step: number): string {
  let text = "";
  for (let i = from; i < LINES; i += step) text += `${i % 2 ? "err" : "out"} ${i}\n`;
  return text;
}

test(`merged capture keeps the exact order of ${LINES} alternating lines`, async () => {
  const result = await gateway.run({ command: alternate, args: [String(LINES)], capture: "merged" });
  assert.equal(result.output, lines(0, 1));
  assert.equal(result.stdout, result.output);
  assert.equal(result.stderr, "");
  const session = gateway.session(result.id);
  assert.equal((await readAll(session, "merged")).toString(), lines(0, 1));
  assert.equal((await session.logs({ tail: 3 })).text, "err 9997\nout 9998\nerr 9999\n");
  assert.deepEqual(Object.keys(session.info().streams), ["output"]);
});

test(`separate capture keeps both streams of ${LINES} alternating lines complete, and merges them consistently`, async () => {
  const result = await gateway.run({ command: alternate, args: [String(LINES)] });
  assert.equal(result.stdout, lines(0, 2));
  assert.equal(result.stderr, lines(1, 2));
  const merged = (await readAll(gateway.session(result.id), "merged")).toString();
  assert.equal(merged.length, result.stdout.length + result.stderr.length);
  // The merged view has the pieces of each stream in order, with nothing lost or duplicated.
  const rest = { out: result.stdout, err: result.stderr };
  for (let at = 0; at < merged.length; ) {
    const stream = merged.startsWith(rest.out.slice(0, 4), at) && rest.out !== "" ? "out" : "err";
    let length = 0;
    while (length < rest[stream].length && merged[at + length] === rest[stream][length]) length++;
    assert.ok(length > 0, `the merged output at ${at} continues neither stream`);
    rest[stream] = rest[stream].slice(length);
    at += length;
  }
  assert.deepEqual(rest, { out: "", err: "" });
});

test("writes a merged log to the requested file", async () => {
  const logFile = fixture.path("plain.log");
  writeFileSync(logFile, "what was there before");
  const merged = await gateway.run({ command: alternate, args: ["100"], capture: "merged", logFile });
  assert.equal(readFileSync(logFile, "utf8"), merged.output);
  const apart = await gateway.run({ command: "echo out; sleep 0.05; echo err >&2", logFile: "plain.log" });
  assert.equal(apart.status, "completed");
  assert.equal(readFileSync(logFile, "utf8"), "out\nerr\n");
  assert.equal(gateway.session(apart.id).info().logFile, logFile);
});

test("returns all 256 byte values and 8 MiB of random data unchanged", async () => {
  const noise = Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, i) => i)), randomBytes(8 << 20)]);
  writeFileSync(fixture.path("noise"), noise);
  for (const capture of ["apart", "merged"] as const) {
    const result = await gateway.run({ command: "cat noise; cat noise >&2", capture });
    const session = gateway.session(result.id);
    const hash = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
    if (capture === "apart") {
      assert.equal(hash(await readAll(session, "stdout")), hash(noise));
      assert.equal(hash(await readAll(session, "stderr", 99_991)), hash(noise));
    } else {
      assert.equal(hash(await readAll(session, "merged", 777_777)), hash(Buffer.concat([noise, noise])));
    }
    assert.ok(result.stdout.length < 3 << 20, "the result is too large");
    assert.ok(result.truncated.stdout > 0);
  }
});

test("does not break a character that is split across two writes or reads", async () => {
  const command = String.raw`printf 'gr\303'; sleep 0.1; printf '\274n \342\202'; sleep 0.1; printf '\254\360\237\230\200'`;
  const result = await gateway.run({ command });
  assert.equal(result.stdout, "grün €😀");
  const session = gateway.session(result.id);
  let text = "";
  for (let offset = 0; ; ) {
    const slice = await session.logs({ stream: "stdout", offset, limit: 3 });
    text += slice.text;
    if (slice.nextOffset === offset) break;
    offset = slice.nextOffset;
  }
  assert.equal(text, "grün €😀");
});

test("following from the start returns every byte of a command that is still writing", async () => {
  const session = await gateway.start({
    command: "for i in $(seq 300); do echo line $i; [ $((i % 50)) -ne 0 ] || sleep 0.05; done",
  });
  let text = "";
  for await (const { bytes } of session.follow({ stream: "stdout" })) text += Buffer.from(bytes).toString();
  assert.equal(text, Array.from({ length: 300 }, (_, i) => `line ${i + 1}\n`).join(""));
});

test("a command that writes nothing has empty streams and no error", async () => {
  const result = await gateway.run({ command: "true" });
  assert.deepEqual(
    [result.stdout, result.stderr, result.output, result.truncated],
    ["", "", "", { stdout: 0, stderr: 0 }],
  );
  const nothing = { bytes: 0, droppedStart: 0, droppedEnd: 0, lost: 0 };
  assert.deepEqual(gateway.session(result.id).info().streams, { stdout: nothing, stderr: nothing });
});

test("a command that closes its output continues", async () => {
  const result = await gateway.run({ command: "echo first; exec >&- 2>&-; sleep 0.2; exit 3" });
  assert.deepEqual([result.stdout, result.exitCode], ["first\n", 3]);
});
