import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { after, test } from "node:test";
import type { RunResult } from "../../../src/core/result.ts";
import { outcome, Sandbox } from "../../fixtures/sallyport.ts";

const box = new Sandbox();
after(() => box.remove());

mkdirSync(join(box.folder, "inner"));
writeFileSync(join(box.folder, "plain-file"), "");

test("passes on stdout, stderr and the exit code", async () => {
  const { stdout, stderr, code } = await box.run(["run", "-c", "echo out; echo err >&2; exit 3"]);
  assert.deepEqual({ stdout, stderr, code }, { stdout: "out\n", stderr: "err\n", code: 3 });
});

test("runs a program directly, with or without `--`, and does not parse its options", async () => {
  for (const args of [
    ["--", "echo", "-n", "a|b", "$HOME", "--json"],
    ["echo", "-n", "a|b", "$HOME", "--json"],
  ]) {
    assert.equal((await box.run(["run", ...args])).stdout, "a|b $HOME --json");
  }
});

const OUTCOMES: [args: string[], code: number, stderr: RegExp][] = [
  [["-c", "kill -TERM $$"], 143, /^$/],
  [["-c", "kill -KILL $$"], 137, /^$/],
  [["-c", "kill -SEGV $$"], 139, /^$/],
  [["-c", "exit 255"], 255, /^$/],
  [["--timeout", "200ms", "-c", "trap 'exit 0' TERM; sleep 30 & wait"], 124, /^sallyport: timed out after 200ms\n/],
  [["--timeout", "200ms", "--", "sleep", "30"], 124, /^sallyport: timed out after 200ms\n$/],
  [
    ["--timeout", "200ms", "--grace", "100ms", "-c", "trap '' TERM; sleep 30"],
    124,
    /^sallyport: timed out after 200ms\n/,
  ],
  [["./plain-file"], 126, /^sallyport: Permission denied: /],
  [["no-such-program"], 127, /^sallyport: Command not found: no-such-program\.\n {2}/],
  [["echo hi"], 127, /\n {2}To run shell text, use `sallyport run -c TEXT`\.\n$/],
  [["--cwd", "/no/such", "true"], 125, /^sallyport: The path "\/no\/such" in `cwd` is outside the workspace\.\n {2}/],
  [["--cwd", "nowhere", "true"], 125, /nowhere" in `cwd` does not exist\.\n {2}/],
  [["--name", "not a name", "true"], 125, /^sallyport: `name` must be /],
  [["-c", "sleep 300 & sleep 300 & echo"], 0, /^sallyport: stopped 2 processes the command left running\n$/],
];

for (const [args, expected, words] of OUTCOMES) {
  test(`run ${args.join(" ")} exits with ${expected}`, async () => {
    const { stderr, code } = await box.run(["run", ...args]);
    assert.equal(code, expected, stderr);
    assert.match(stderr, words);
  });
}

test("streams output while the command runs", async () => {
  const child = box.spawn(["run", "-c", "echo first; read -r -t 20 < /dev/zero; sleep 20"]);
  const first = await new Promise((resolve) =>
    child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString())),
  );
  assert.equal(first, "first\n");
  assert.equal(child.exitCode, null);
  child.kill("SIGTERM");
  await new Promise((resolve) => child.once("close", resolve));
});

test("passes on all bytes of binary output", async () => {
  const file = join(box.folder, "noise");
  const noise = randomBytes(3_000_001);
  writeFileSync(file, noise);
  const { raw, code } = await box.run(["run", "cat", file]);
  assert.equal(code, 0);
  assert.ok(raw.equals(noise));
});

test("-i passes stdin to the command until its end", async () => {
  const noise = randomBytes(2_000_003);
  const { raw, code } = await box.run(["run", "-i", "cat"], { input: noise });
  assert.equal(code, 0);
  assert.ok(raw.equals(noise));
});

test("-i ends a command whose input is blocked", async () => {
  const { stdout, stderr, code } = await box.run(["run", "-i", "bash"], { input: "echo one\nsetenforce 0\n" });
  assert.equal(code, 126);
  assert.match(stderr, /Blocked: .*security-off/);
  assert.doesNotMatch(stdout, /one/);
});

test("-i exits when the command ends, even if stdin is still open", async () => {
  const child = box.spawn(["run", "-i", "head", "-c", "3"]);
  child.stdin?.on("error", () => {});
  child.stdin?.write("abcdef");
  const output = new Promise((resolve) => child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString())));
  assert.equal(await output, "abc");
  assert.equal(await new Promise((resolve) => child.once("exit", resolve)), 0);
});

test("does not read stdin without -i", async () => {
  const { stdout } = await box.run(["run", "-c", "cat; echo end"], { input: "not for you\n" });
  assert.equal(stdout, "end\n");
});

test("applies --env, --cwd, --merge and --log-file", async () => {
  const log = join(box.folder, "log");
  const script = 'echo "$A,$B,$PWD"; echo two >&2; echo three';
  const { stdout, stderr } = await box.run(
    ["run", "-e", "A=1=2", "-e", "B", "--cwd", "inner", "--merge", "--log-file", "log", "-c", script],
    { env: { B: "ours" } },
  );
  assert.equal(stdout, `1=2,ours,${join(box.folder, "inner")}\ntwo\nthree\n`);
  assert.equal(stderr, "");
  assert.equal(readFileSync(log, "utf8"), stdout);
});

test("--json prints the result at the end and passes on the exit code", async () => {
  const { stdout, stderr, code } = await box.run([
    "run",
    "--json",
    "--name",
    "told",
    "-c",
    "echo out; echo err >&2; exit 4",
  ]);
  assert.deepEqual({ stderr, code }, { stderr: "", code: 4 });
  const result = JSON.parse(stdout) as RunResult;
  assert.equal(result.name, "told");
  assert.deepEqual([result.status, result.exitCode, result.stdout, result.stderr], ["completed", 4, "out\n", "err\n"]);
});

test("--json with -i passes all of stdin to the command", async () => {
  const { stdout } = await box.run(["run", "--json", "-i", "tr", "a-z", "A-Z"], { input: "grüße\n" });
  assert.equal((JSON.parse(stdout) as RunResult).stdout, "GRüßE\n");
});

test("-d prints only the session ID, and reports a command that cannot start", async () => {
  const { stdout, stderr, code } = await box.run(["run", "-d", "--", "true"]);
  assert.match(stdout, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n$/);
  assert.deepEqual({ stderr, code }, { stderr: "", code: 0 });
  const missing = await box.run(["run", "-d", "no-such-program"]);
  assert.equal(missing.code, 127);
  assert.match(missing.stderr, /Command not found/);
});

test("a background session continues after the command line has exited", async () => {
  await box.run(["run", "-d", "--name", "later", "-c", "sleep 0.5; echo later"]);
  assert.equal((await box.run(["wait", "later"])).code, 0);
  assert.equal((await box.run(["logs", "later"])).stdout, "later\n");
});

test("stops the command and its child processes when the reader closes the pipe", async () => {
  const { stdout, stderr, code } = await box.run(["run", "--name", "unread", "--grace", "300ms", "-c", "yes | cat"], {
    shell: "| head -n 1",
  });
  assert.deepEqual({ stdout, stderr, code }, { stdout: "y\n", stderr: "", code: 141 });
  const { status } = JSON.parse((await box.run(["inspect", "--json", "unread"])).stdout) as { status: string };
  assert.equal(status, "killed");
});

test("a slow reader receives all output", async () => {
  const { stdout, code } = await box.run(["run", "-c", "seq 200000"], { shell: "| { sleep 1; md5sum; }" });
  const expected = await box.run(["run", "-c", "seq 200000 | md5sum"]);
  assert.deepEqual({ stdout, code }, { stdout: expected.stdout, code: 0 });
});

test("reports dropped output and exits with 125 when the reader is too slow for the disk cap", async () => {
  const { stdout, stderr, code } = await box.run(["run", "--disk-cap", "64K", "-c", "seq 300000; touch all-written"], {
    shell: "| { until test -e all-written; do sleep 0.05; done; wc -c; }",
  });
  const missing = Number(/^sallyport: (\d+) bytes of output were dropped/.exec(stderr)?.[1]);
  assert.equal(Number(stdout) + missing, 1_988_895);
  assert.equal(code, 125);
});

test("denies a command with the reason and exit code 126", async () => {
  for (const options of [[], ["-d"]]) {
    const { stderr, code } = await box.run(["run", ...options, "-c", "sudo true"]);
    assert.equal(code, 126);
    assert.match(stderr, /^sallyport: Denied: .*\(privilege\)\.\n {2}/);
  }
});

/** Starts a command without a sandbox, which requires approval, and returns when it is waiting. */
async function startAsking(word: string) {
  const child = box.spawn(["run", "--sandbox", "off", "--", "echo", word]);
  const ended = outcome(child);
  const [note] = (await Promise.race([once(child.stderr as Readable, "data"), ended.then(() => [""])])) as [Buffer];
  return { child, ended, note: note.toString() };
}

test("waits for approval and prints where a person can decide, but nothing with which a model could", async () => {
  const { ended, note } = await startAsking("approved");
  assert.match(
    note,
    /^sallyport: this command requires a person's approval\. .*\n {2}It waits for the decision until /,
  );
  assert.match(note, /`sallyport approvals`, or in the console/);
  const id = (await box.run(["approvals"])).stdout.split("\t")[0] ?? "";
  assert.ok(id.length === 36 && !note.includes(id), note);
  const answer = await box.run(["approve", id]);
  assert.equal(answer.code, 0, answer.stderr);
  const { stdout, code } = await ended;
  assert.deepEqual({ stdout, code }, { stdout: "approved\n", code: 0 });
});

test("waiting for approval can be interrupted", async () => {
  const { child, ended } = await startAsking("interrupted");
  child.kill("SIGINT");
  assert.equal((await ended).code, 130);
});

test("-d and --no-wait do not wait for approval", async () => {
  for (const option of ["-d", "--no-wait"]) {
    const { stderr, code } = await box.run(["run", option, "--sandbox", "off", "--", "true"]);
    assert.equal(code, 126);
    assert.match(stderr, /^sallyport: Approval required\. .* The request is pending until .* Nothing has run yet\.\n/);
    assert.match(stderr, /A person can decide on a terminal with `sallyport approvals`/);
    assert.doesNotMatch(stderr, /[0-9a-f]{8}-[0-9a-f]{4}|sallyport approve /);
  }
  const json = await box.run(["run", "--no-wait", "--json", "--sandbox", "off", "--", "true"]);
  assert.equal(json.code, 126);
  assert.equal(JSON.parse(json.stdout).status, "pending");
});
