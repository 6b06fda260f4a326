import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { type Options, Sandbox } from "../../fixtures/sallyport.ts";

const box = new Sandbox();
after(() => box.remove());

function check(args: string[], options: Options = {}) {
  return box.run(["check", ...args], options);
}

const CODES: [args: string[], code: number][] = [
  [["ls"], 0],
  [["sudo", "id"], 126],
  [["rm", "-rf", "/"], 126],
  [["--security", "allowlist", "ls"], 3],
  [["--security", "deny", "ls"], 126],
  // Several arguments are an argv. One argument that contains shell operators is shell text.
  [["echo", ";", "sudo", "id"], 0],
  [["echo; sudo id"], 126],
  [["-c", "echo; sudo id"], 126],
];

for (const [args, expected] of CODES) {
  test(`check ${args.join(" ")} exits with ${expected}`, async () => {
    const { code, stdout } = await check(args);
    assert.equal(code, expected, stdout);
  });
}

test("--json prints the verdict with the complete analysis", async () => {
  const verdict = JSON.parse((await check(["--json", "rm -rf /"])).stdout);
  assert.deepEqual(Object.keys(verdict), ["command", "verdict", "analyzable", "reasons", "commands", "sandbox"]);
  assert.deepEqual(verdict.reasons[0], {
    rule: "delete-vital",
    message: "This command deletes the root directory, a home directory or a system folder.",
    span: { start: 7, end: 8 },
    suggestion: "Delete only paths inside the workspace, and name each of them.",
  });
});

test("--ndjson answers every line, including invalid ones", async () => {
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
  const { code, stdout } = await check(["--ndjson"], { input: `${lines.join("\n")}\n` });
  const answers = stdout
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

test("underlines the part a rule matches, and prints the rule and the suggestion", async () => {
  assert.equal(
    (await check(["-c", "ls && rm -rf /"])).stdout,
    `blocked

  ls && rm -rf /
               ^

  delete-vital: This command deletes the root directory, a home directory or a
  system folder.
  Instead: Delete only paths inside the workspace, and name each of them.
`,
  );
});

test("escapes and underlines invisible characters", async () => {
  const { stdout } = await check(["--sandbox", "off", "-c", "echo a\u202eb\u001b[2K"]);
  assert.match(stdout, /^ {2}echo a\\u\{202e\}b\\e\[2K\n {8}\^{8} \^{2}\n/m);
  assert.ok(!stdout.includes("\u202e") && !stdout.includes("\u001b"));
});

test("escapes control characters in the message of a configured rule", async () => {
  const cwd = join(box.folder, "hostile");
  mkdirSync(cwd);
  const rules = [{ prefix: ["ls"], decision: "deny", message: "\u001b[31mred \u202eback" }];
  writeFileSync(join(cwd, "sallyport.json"), JSON.stringify({ rules }));
  const { stdout } = await check(["ls"], { cwd });
  assert.match(stdout, /: \\e\[31mred \\u\{202e\}back\n/);
});

test("wraps a long command without cutting it", async () => {
  const { stdout } = await check(["-c", `ls${" ".repeat(300)}; rm -rf /`], { env: { COLUMNS: "60" } });
  assert.match(stdout, /; rm -rf \//);
  assert.ok(stdout.split("\n").every((line) => line.length <= 60));
});

test("underlines the right columns in multi-line commands and after wide characters", async () => {
  assert.match((await check(["-c", "ls\nsudo id"])).stdout, / {2}ls\n {2}sudo id\n {2}\^{4}\n/);
  assert.match((await check(["-c", "echo 你好; sudo id"])).stdout, / {2}echo 你好; sudo id\n {13}\^{4}\n/);
});

test("says that no rule applies", async () => {
  const { stdout } = await check(["ls"]);
  assert.equal(stdout, "allowed\n\n  ls\n\n  No rule applies to this command.\n");
});
