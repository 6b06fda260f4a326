import assert from "node:assert/strict";
import { mkdirSync, statSync } from "node:fs";
import { after, test } from "node:test";
import { GatewayFixture } from "../../fixtures/gateway.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());

test("a command starts with default signal handlers and no blocked signals", async () => {
  const { stdout } = await gateway.run({ command: "grep", args: ["-E", "^Sig(Blk|Ign)", "/proc/self/status"] });
  const none = "0000000000000000";
  assert.equal(stdout, `SigBlk:\t${none}\nSigIgn:\t${none}\n`);
  assert.equal((await gateway.run({ command: "yes | head -1" })).stdout, "y\n");
});

test("a command leads its own session and process group, without a terminal", async () => {
  const { stdout } = await gateway.run({ command: "cat", args: ["/proc/self/stat"] });
  const fields = stdout.slice(stdout.lastIndexOf(")") + 2).split(" ");
  const pid = stdout.split(" ")[0];
  assert.deepEqual([fields[2], fields[3], fields[4]], [pid, pid, "0"]);
});

test("a command starts in its workspace or in the requested folder", async () => {
  mkdirSync(fixture.path("sub folder"));
  assert.equal((await gateway.run({ command: "pwd" })).stdout, `${fixture.workspace}\n`);
  assert.equal((await gateway.run({ command: "pwd", cwd: "sub folder" })).stdout, `${fixture.path("sub folder")}\n`);
  const absolute = await gateway.run({ command: "pwd", args: [], cwd: fixture.path("sub folder") });
  assert.equal(absolute.stdout, `${fixture.path("sub folder")}\n`);
});

test("files that a command creates have the caller's umask", async () => {
  const before = process.umask(0o027);
  try {
    await gateway.run({ command: "touch masked" });
  } finally {
    process.umask(before);
  }
  assert.equal(statSync(fixture.path("masked")).mode & 0o777, 0o640);
});

for (const args of [
  [""],
  ["", "", "x"],
  ["two words", "'quoted'", '"double"', "back\\slash", "$HOME", "`id`", "*", "new\nline", "tab\t", "ü€😀", "-n", "--"],
]) {
  test(`passes the arguments ${JSON.stringify(args)} unchanged`, async () => {
    const { stdout } = await gateway.run({ command: "printf", args: ["[%s]", ...args] });
    assert.equal(stdout, args.map((arg) => `[${arg}]`).join(""));
  });
}

test("a shell text that starts with a dash is not parsed as options", async () => {
  const result = await gateway.run({ command: "-x" });
  assert.deepEqual([result.status, result.exitCode], ["completed", 127]);
});

test("passes unusual variables unchanged", async () => {
  const env = { PLAIN: "1", EMPTY: "", ODD: "a=b\nc ü", lower_case: "x" };
  const { stdout } = await gateway.run({ command: "env", args: ["-0"], env });
  const seen = Object.fromEntries(
    stdout.split("\0").map((pair) => [pair.split("=", 1)[0], pair.slice(pair.indexOf("=") + 1)]),
  );
  for (const [name, value] of Object.entries(env)) assert.equal(seen[name], value);
  const { id } = await gateway.run({ command: "true", env: { SECRET_ENOUGH: "hidden" } });
  const info = gateway.session(id).info();
  assert.deepEqual(info.envNames, ["SECRET_ENOUGH"]);
  assert.ok(!JSON.stringify(info).includes("hidden"), "the value of a variable was stored");
});

test("a command does not affect the next one on the same keeper", async () => {
  await gateway.run({ command: "cd /; umask 077; export LEAK=1; ulimit -n 20; trap '' TERM; exec 9>/dev/null" });
  const { stdout } = await gateway.run({ command: "echo [$LEAK] $(umask) $(ls /proc/self/fd | wc -l); pwd" });
  const [first, second] = stdout.split("\n");
  assert.equal(first?.split(" ")[0], "[]");
  assert.notEqual(first?.split(" ")[1], "0077");
  assert.equal(second, fixture.workspace);
});

test("hundreds of sequential and concurrent commands all get their own result", async () => {
  const answers = await Promise.all(
    Array.from({ length: 300 }, (_, i) => gateway.run({ command: "echo", args: [String(i)] })),
  );
  assert.deepEqual(
    answers.map(({ stdout }) => stdout),
    Array.from({ length: 300 }, (_, i) => `${i}\n`),
  );
  assert.equal(new Set(answers.map(({ id }) => id)).size, 300);
  assert.equal(new Set(answers.map(({ name }) => name)).size, 300);
});
