import assert from "node:assert/strict";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { after, before, beforeEach, test } from "node:test";
import type { RunRequest } from "../../../src/core/request.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";

/** A blocked command. It changes nothing on a machine without SELinux. */
const BLOCKED = "touch ran; setenforce 0\n";

let fixture: GatewayFixture;
let gateway: Gateway;
before(async () => {
  fixture = new GatewayFixture();
  gateway = await fixture.open();
});
beforeEach(() => rmSync(fixture.path("ran"), { force: true }));
after(() => fixture.close());

const READERS: readonly RunRequest[] = [
  { command: "sh", args: ["-s"] },
  { command: "bash", args: [] },
  { command: "bash" },
  { command: "env bash" },
  { command: "nohup", args: ["sh"] },
  { command: "bash", args: ["/dev/stdin"] },
  { command: "bash -c '. /dev/stdin'" },
  { command: "cat | sh" },
  { command: "tee copy | sh" },
  { command: "bash <(cat)" },
  { command: 'eval "$(cat)"' },
  { command: 'bash -c "$(cat)"' },
  { command: "xargs -I{} sh -c {}" },
  { command: 'while read -r line; do eval "$line"; done' },
  { command: "cd . && exec bash" },
];

for (const reader of READERS) {
  const shown = [reader.command, ...(reader.args ?? [])].join(" ");
  test(`blocks standard input that \`${shown}\` would run`, async () => {
    const result = await gateway.run({ ...reader, stdin: { text: BLOCKED } });
    assert.equal(result.status, "blocked", JSON.stringify(result.error));
    assert.ok(!existsSync(fixture.path("ran")));
  });
}

test("blocks shell escapes on the standard input of interpreters", async () => {
  for (const [command, text] of [
    ["sqlite3", ".shell setenforce 0\n"],
    ["gdb", "shell setenforce 0\n"],
    ["python3", 'import os\nos.system("setenforce 0")\n'],
  ] as const) {
    const result = await gateway.run({ command, args: [], stdin: { text } });
    assert.equal(result.status, "blocked", command);
  }
});

test("denies standard input that raises privileges", async () => {
  const result = await gateway.run({ command: "bash", args: [], stdin: { text: "sudo id\n" } });
  assert.equal(result.status, "denied");
});

test("blocks a script in the workspace that is redirected or piped into a shell", async () => {
  writeFileSync(fixture.path("deploy.sh"), BLOCKED);
  for (const command of ["bash < deploy.sh", "cat deploy.sh | sh", ". ./deploy.sh", 'eval "$(< deploy.sh)"']) {
    const result = await gateway.run({ command });
    assert.equal(result.status, "blocked", command);
  }
  assert.ok(!existsSync(fixture.path("ran")));
});

test("treats a file that is too large to analyze like a file that is not read", async () => {
  const confined = await fixture.open({
    policy: { sandbox: "workspace-write" },
    approve: async () => ({ decision: "deny", who: "tester" }),
  });
  writeFileSync(fixture.path("large.sh"), "x=1\n".repeat(5000));
  assert.equal((await confined.run({ command: ". ./large.sh; echo $x" })).stdout, "1\n");
  writeFileSync(fixture.path("large.sh"), `${BLOCKED}${"x=1\n".repeat(5000)}`);
  assert.equal((await confined.run({ command: "bash < large.sh" })).status, "blocked");
});

test("requires approval for standard input that is too large to analyze, unless it is a comment", async () => {
  const padded = { text: `# ${"x".repeat(40_000)}\n${BLOCKED}` };
  assert.equal((await gateway.run({ command: "bash", args: [], stdin: padded })).status, "blocked");
  const asked: string[] = [];
  const careful = await fixture.open({
    policy: { sandbox: "workspace-write" },
    approve: async ({ id }) => {
      asked.push(id);
      return { decision: "deny", who: "tester" };
    },
  });
  const result = await careful.run({
    command: "bash",
    args: [],
    stdin: { text: "true\n".repeat(500) },
  });
  assert.equal(result.status, "denied");
  assert.equal(asked.length, 1);
});

test("runs standard input that policy allows, and treats the input of other programs as data", async () => {
  const script = await gateway.run({ command: "sh", args: ["-s"], stdin: { text: "echo $((6 * 7))\n" } });
  assert.equal(script.stdout, "42\n");
  const data = await gateway.run({ command: "grep", args: ["-c", "rm"], stdin: { text: "rm -rf /\n" } });
  assert.equal(data.stdout, "1\n");
});
