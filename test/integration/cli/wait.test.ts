import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { Sandbox } from "../../fixtures/sallyport.ts";

const box = new Sandbox();
after(async () => {
  await box.run(["kill", "-s", "KILL", "asks", "talks"]);
  box.remove();
});

/** A timeout that no test reaches. */
const LONG = ["--timeout", "60s"];

async function waited(...args: string[]): Promise<string> {
  const { stdout, stderr, code } = await box.run(["wait", ...args]);
  return `${stdout.trim()} ${code}${stderr}`;
}

test("wait prints which condition was met first", async () => {
  await box.run([
    "run",
    "-d",
    "-t",
    "--name",
    "asks",
    "-c",
    "printf 'name? '; read name; echo \"hello $name\"; exit 3",
  ]);
  assert.equal(await waited("--input", ...LONG, "asks"), "input 0");
  assert.equal(await waited("--pattern", "name\\?", "--offset", "0", ...LONG, "asks"), "pattern 0");
  assert.equal(await waited("--quiet", "10ms", ...LONG, "asks"), "quiet 0");
  assert.equal(await waited("--timeout", "20ms", "asks"), "timeout 124");
  assert.equal((await box.run(["send-keys", "asks", "m", "e", "Enter"])).code, 0);
  assert.equal(await waited("--pattern", "never", ...LONG, "asks"), "exit 3");
});

test("wait --json prints the match of a pattern in piped output", async () => {
  await box.run(["run", "-d", "--name", "talks", "-c", "echo listening on 8080; exec sleep 300"]);
  const { stdout, code } = await box.run(["wait", "--json", "--pattern", "on \\d+", "--offset", "0", ...LONG, "talks"]);
  assert.equal(code, 0);
  const { reason, match, info } = JSON.parse(stdout) as { reason: string; match: string; info: { name: string } };
  assert.deepEqual([reason, match, info.name], ["pattern", "on 8080", "talks"]);
});

test("wait says why a session has no exit code", async () => {
  const { stdout } = await box.run(["run", "-d", "--name", "gone", "--", "sleep", "300"]);
  const id = stdout.trim();
  const { pid } = JSON.parse((await box.run(["inspect", "--json", id])).stdout) as { pid: number };
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  process.kill(Number(/^PPid:\t(\d+)/m.exec(status)?.[1]), "SIGKILL");
  assert.match(await waited(id), /^ 125sallyport: The command ended because its keeper was killed/);
});

test("rejects invalid conditions", async () => {
  assert.match(await waited("--offset", "0", "talks"), /^ 125sallyport: `--offset` requires `--pattern`/);
  assert.match(
    await waited("--pattern", "(", "talks"),
    /^ 125sallyport: `--pattern` is not a valid regular expression \(unterminated group\); received "\("/,
  );
  assert.match(await waited("--input", "talks"), /^ 125sallyport: .*terminal/);
});
