import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Outcome, Sandbox } from "../../fixtures/sallyport.ts";

const box = new Sandbox();
after(() => box.remove());

/** Runs each step after the output of the one before it has been read, which makes the order of the streams certain. */
async function inTurns(name: string, steps: [command: string, seen: string][]): Promise<void> {
  const go = (step: number) => `go-${name}-${step}`;
  const wait = (step: number) => `until test -e ${go(step)}; do sleep 0.02; done; `;
  const text = steps.map(([command], step) => `${step > 0 ? wait(step) : ""}${command}`).join("; ");
  await box.run(["run", "-d", "--name", name, "-c", text]);
  for (const [step, [, seen]] of steps.entries()) {
    await box.until(["logs", "--stream", "merged", name], seen);
    writeFileSync(join(box.folder, go(step + 1)), "");
  }
  await box.run(["wait", name]);
}

before(async () => {
  await inTurns("both", [
    ["echo one", "one"],
    ["echo two >&2", "two"],
    ["echo three", "three"],
  ]);
  await box.run(["run", "--name", "big", "-c", "seq 300000"]);
  await box.run(["run", "--name", "bytes", "-c", String.raw`printf 'a\377\000b'`]);
});

function logs(...args: string[]): Promise<Outcome> {
  return box.run(["logs", ...args]);
}

test("prints stdout to stdout and stderr to stderr, or one stream to stdout with --stream", async () => {
  const apart = await logs("both");
  assert.deepEqual([apart.stdout, apart.stderr, apart.code], ["one\nthree\n", "two\n", 0]);
  const named = { stdout: "one\nthree\n", stderr: "two\n", merged: "one\ntwo\nthree\n" };
  for (const [stream, expected] of Object.entries(named)) {
    const { stdout, stderr } = await logs("--stream", stream, "both");
    assert.deepEqual([stdout, stderr], [expected, ""]);
  }
});

test("--times prints the time and the stream before each line", async () => {
  const { stdout, stderr } = await logs("--times", "both");
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split(" "));
  assert.deepEqual(
    lines.map(([, stream, text]) => [stream, text]),
    [
      ["out", "one"],
      ["err", "two"],
      ["out", "three"],
    ],
  );
  const times = lines.map(([time = ""]) => time);
  assert.deepEqual(times, times.map((time) => new Date(time).toISOString()).sort());
  assert.equal(stderr, "");
  assert.match((await logs("--times", "--json", "both")).stderr, /`--times` cannot be used with `--json`/);
});

test("--times ends an incomplete line before it prints another stream", async () => {
  await inTurns("parts", [
    ["printf half", "half"],
    ["echo whole >&2", "whole"],
    ["printf end", "end"],
  ]);
  const { stdout } = await logs("-t", "parts");
  const text = stdout.replace(/\S+Z /g, "");
  assert.equal(text, "out half\nerr whole\nout end");
});

test("prints stderr in red and local times on a terminal", async () => {
  const { stdout } = await box.terminal(["logs", "both"]);
  assert.equal(stdout, "one\n\x1b[31mtwo\n\x1b[39mthree\n");
  const plain = await box.terminal(["logs", "-t", "both"], { env: { NO_COLOR: "1" } });
  assert.match(plain.stdout, /^\d\d:\d\d:\d\d\.\d{3} out one\n\S+ err two\n\S+ out three\n$/);
});

test("prints the last lines, a range of lines, or a range of bytes", async () => {
  assert.equal((await logs("--tail", "2", "big")).stdout, "299999\n300000\n");
  assert.equal((await logs("-n", "0", "big")).stdout, "");
  assert.equal((await logs("--lines", "250000:250002", "big")).stdout, "250000\n250001\n250002\n");
  assert.equal((await logs("--lines", "-1:", "big")).stdout, "300000\n");
  assert.equal((await logs("--lines", "299999:", "big")).stdout, "299999\n300000\n");
  assert.equal((await logs("--stream", "stdout", "--offset", "2", "--limit", "4", "big")).stdout, "2\n3\n");
  assert.equal((await logs("--since", "2030-01-01T00:00:00Z", "big")).stdout, "");
});

test("prints logs that are larger than one page", async () => {
  const numbers = (from: number) =>
    Array.from({ length: 300_000 - from + 1 }, (_, index) => `${from + index}\n`).join("");
  assert.ok((await logs("big")).stdout === numbers(1));
  assert.ok((await logs("--tail", "290000", "big")).stdout === numbers(10_001));
  assert.ok((await logs("--lines", "3:290000", "big")).stdout === numbers(3).slice(0, -70_000));
  assert.equal((await logs("--limit", "1500000", "big")).stdout.length, 1_500_000);
});

test("prints bytes unchanged, and as base64 in JSON", async () => {
  assert.deepEqual((await logs("bytes")).raw, Buffer.from([0x61, 0xff, 0x00, 0x62]));
  const { stream, offset, base64, dropped, time } = JSON.parse((await logs("--json", "bytes")).stdout);
  assert.deepEqual(
    { stream, offset, base64, dropped },
    { stream: "stdout", offset: 0, base64: "Yf8AYg==", dropped: 0 },
  );
  assert.ok(Date.parse(time) > 0);
  const lines = (await logs("--json", "both")).stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ stream, text }) => [stream, text]),
    [
      ["stdout", "one\n"],
      ["stderr", "two\n"],
      ["stdout", "three\n"],
    ],
  );
});

test("-f follows the output until the session ends", async () => {
  await box.run(["run", "-d", "--name", "slow", "-c", "for n in 1 2 3 4; do echo $n; sleep 0.2; done"]);
  assert.equal((await logs("-f", "slow")).stdout, "1\n2\n3\n4\n");
  assert.equal((await logs("-f", "--tail", "1", "slow")).stdout, "4\n");
  assert.match(
    (await logs("-f", "--limit", "3", "slow")).stderr,
    /^sallyport: `--follow` cannot be used with `--limit`/,
  );
});

test("prints the output so far of a running session", async () => {
  await box.run(["run", "-d", "--name", "goes-on", "-c", "echo so far; sleep 300"]);
  await box.until(["logs", "goes-on"], "so far\n");
  await box.run(["kill", "goes-on"]);
});

test("reports the size of a gap left by the disk cap", async () => {
  await box.run(["run", "--name", "capped", "--disk-cap", "64K", "-c", "seq 100000"]);
  const { stdout, stderr } = await logs("capped");
  const missing = Number(/^sallyport: (\d+) bytes of stdout were dropped here/.exec(stderr)?.[1]);
  assert.ok(missing > 400_000);
  assert.equal(Buffer.byteLength(stdout) + missing, 588_895);
  assert.ok(stdout.startsWith("1\n2\n") && stdout.endsWith("99999\n100000\n"));
});

test("exits without a message when the reader closes the pipe", async () => {
  const { stdout, stderr, code } = await box.run(["logs", "big"], { shell: "| head -n 1" });
  assert.deepEqual({ stdout, stderr, code }, { stdout: "1\n", stderr: "", code: 141 });
});

test("--follow ends when the reader of its output goes away, although nothing more is written", async () => {
  await box.run(["run", "-d", "--name", "quiet", "-c", "echo first; sleep 600"]);
  await box.until(["logs", "quiet"], "first");
  for (const args of [
    ["logs", "-f", "quiet"],
    ["logs", "--json", "-f", "quiet"],
    ["audit", "tail", "--follow"],
  ]) {
    const { stdout, code } = await box.run(args, { shell: "| head -1" });
    assert.deepEqual([stdout.split("\n").length, code], [2, 141], args.join(" "));
  }
  await box.run(["kill", "quiet"]);
});
