import assert from "node:assert/strict";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { after, test } from "node:test";
import type { SessionInfo } from "../../../src/core/session.ts";
import { type Outcome, outcome, Sandbox } from "../../fixtures/sallyport.ts";
import { until } from "../../fixtures/until.ts";

const box = new Sandbox();
after(() => box.remove());

/** Starts a foreground command, sends a signal after its first output, and waits for its end. */
async function interrupted(script: string, signal: NodeJS.Signals, options: string[] = []): Promise<Outcome> {
  const child = box.spawn(["run", ...options, "-c", script]);
  const ended = outcome(child);
  await Promise.race([once(child.stdout as Readable, "data"), ended]);
  child.kill(signal);
  return ended;
}

async function lastSession(): Promise<SessionInfo> {
  const { stdout } = await box.run(["ps", "-a", "--limit", "1", "--json"]);
  return (JSON.parse(stdout) as SessionInfo[])[0] as SessionInfo;
}

test("Ctrl-C interrupts the process tree", async () => {
  const { code } = await interrupted("echo ready; sleep 300; :", "SIGINT");
  assert.equal(code, 130);
  assert.equal((await lastSession()).status, "killed");
});

test("forwards SIGTERM and SIGHUP unchanged", async () => {
  assert.equal((await interrupted("echo ready; sleep 300", "SIGTERM")).code, 143);
  assert.equal((await interrupted("echo ready; sleep 300", "SIGHUP")).code, 129);
});

test("a command that handles the signal determines the exit code and the last output", async () => {
  const { stdout, code } = await interrupted(
    "trap 'echo bye; exit 7' INT; echo ready; while :; do sleep 0.1; done",
    "SIGINT",
  );
  assert.deepEqual({ stdout, code }, { stdout: "ready\nbye\n", code: 7 });
});

test("a second Ctrl-C kills a command that ignores the first", async () => {
  // The grace period is longer than this test.
  const child = box.spawn([
    "run",
    "--grace",
    "1h",
    "-c",
    "trap 'echo heard' INT; echo ready; while :; do sleep 0.1; done",
  ]);
  const ended = outcome(child);
  let shown = "";
  child.stdout?.on("data", (data) => {
    shown += data;
  });
  for (const word of ["ready", "heard"]) {
    await until(`the command prints ${word}`, () => shown.includes(word) || child.exitCode !== null);
    child.kill("SIGINT");
  }
  assert.equal((await ended).code, 137);
});

test("exits after a signal even if the reader of stdout has stopped reading", async () => {
  const child = box.spawn(["run", "--", "yes"]);
  child.stdout?.pause();
  await once(child.stdout as Readable, "readable");
  child.kill("SIGTERM");
  const [code] = await once(child, "exit");
  child.stdout?.destroy();
  assert.equal(code, 143);
});

test("sends SIGKILL after the time given with --grace", async () => {
  const { code } = await interrupted("trap '' INT; echo ready; while :; do sleep 1; done", "SIGINT", [
    "--grace",
    "300ms",
  ]);
  assert.equal(code, 137);
});

test("run --json prints the result after an interrupt", async () => {
  const child = box.spawn(["run", "--json", "--name", "quiet", "--", "sleep", "300"]);
  const ended = outcome(child);
  await box.until(["ps"], "quiet");
  child.kill("SIGINT");
  const { stdout, code } = await ended;
  assert.equal((JSON.parse(stdout) as { status: string }).status, "killed");
  assert.equal(code, 143);
});
