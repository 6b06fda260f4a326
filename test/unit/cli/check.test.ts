import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import type { Invocation, Io } from "../../../src/cli/command.ts";
import { check } from "../../../src/cli/commands/approval/check.ts";

async function run(
  values: Invocation["values"],
  rest: string[] | null,
  input = "",
): Promise<{ code: number; out: string }> {
  let out = "";
  const io: Io = {
    out: (text) => {
      out += text;
    },
    err: () => {},
    drained: async () => {},
    stdin: Readable.from([input]),
    isTTY: { stdin: false, stdout: false, stderr: false },
    columns: 80,
    color: false,
  };
  return { code: await check.run({ values: { cwd: "/tmp", ...values }, positionals: [], rest, io }), out };
}

test("the exit code tells the verdict", async () => {
  assert.equal((await run({}, ["ls"])).code, 0);
  assert.equal((await run({}, ["sudo", "id"])).code, 126);
  assert.equal((await run({}, ["rm", "-rf", "/"])).code, 126);
  assert.equal((await run({ security: "allowlist" }, ["ls"])).code, 3);
  assert.equal((await run({ security: "deny" }, ["ls"])).code, 126);
});

test("several words are an argv, one word with signs in it is shell text", async () => {
  assert.equal((await run({}, ["echo", ";", "sudo", "id"])).code, 0);
  assert.equal((await run({}, ["echo; sudo id"])).code, 126);
  assert.equal((await run({ command: "echo; sudo id" }, null)).code, 126);
});

test("--json is the verdict with its facts", async () => {
  const { out } = await run({ json: true }, ["rm -rf /"]);
  const verdict = JSON.parse(out);
  assert.deepEqual(Object.keys(verdict), ["command", "verdict", "analyzable", "reasons", "commands"]);
  assert.deepEqual(verdict.reasons[0], {
    rule: "delete-vital",
    message: "Deletes the root, a home or a system folder.",
    span: { start: 7, end: 8 },
    suggestion: "Delete a path inside the workspace or /tmp, named in full.",
  });
});

test("--ndjson answers line for line, bad lines included", async () => {
  const lines = [
    '"ls"',
    '{"command": "sudo id"}',
    '{"command": "a | sudo id", "shell": false}',
    "",
    "{",
    "3",
    '{"command": 1}',
    '{"command": ["rm", "-rf", "/"]}',
  ];
  const { code, out } = await run({ ndjson: true }, null, `${lines.join("\n")}\n`);
  const answers = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.equal(code, 0);
  assert.deepEqual(
    answers.map((answer) => answer.verdict ?? answer.error.type),
    ["allow", "deny", "allow", "InvalidRequest", "InvalidRequest", "InvalidRequest", "blocked"],
  );
  assert.ok(answers[3].error.message && answers[3].error.recovery[0].hint);
});

test("nothing to check is a mistake of the caller", async () => {
  await assert.rejects(run({}, null), /what to check\?/);
  await assert.rejects(run({ command: "ls" }, ["x"]), /`-c` takes the whole command/);
  await assert.rejects(run({ security: "none" }, ["ls"]), /`--security` must be one of deny, allowlist, full/);
});
