import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { ConfigFile } from "../../../src/config/schema.ts";
import type { Approval } from "../../../src/core/approval.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";

let fixture: GatewayFixture;
before(() => {
  fixture = new GatewayFixture();
  mkdirSync(fixture.path(".git/hooks"), { recursive: true });
  writeFileSync(fixture.path(".git/config"), "[core]\n");
  mkdirSync(fixture.path("secret"));
});
after(() => fixture.close());

const FREE = { limits: { sessions: 10_000, startsPerMinute: 1_000_000 } };

/** Opens a gateway with the default settings and an approver who records and denies each request. */
async function open(policy: ConfigFile = {}) {
  const asked: Approval[] = [];
  const gateway = await fixture.open({
    policy: { ...FREE, ...policy },
    approve: async (approval) => {
      asked.push(approval);
      return { decision: "deny", who: "tester" };
    },
  });
  return { gateway, asked };
}

test("a log file in a protected path requires approval, and the request names it", async () => {
  const { gateway, asked } = await open();
  mkdirSync(fixture.path("new/.git/modules"), { recursive: true });
  const inGit = [".git/config", ".git/hooks/pre-commit", ".git/commondir", ".git/x", "new/.git/config", "new/.git/x"];
  for (const logFile of [...inGit, ".vscode", "sallyport.json"]) {
    const result = await gateway.run({ command: "echo '	fsmonitor = evil'", logFile });
    assert.equal(result.status, "denied", logFile);
    const { request } = asked.at(-1) as Approval;
    assert.match(
      request.reasons.map(({ rule, message }) => `${rule} ${message}`).join(),
      /sandbox-write .*write access to /,
    );
    assert.ok(request.confinement.endsWith(fixture.path(logFile)), request.confinement);
    assert.equal(request.always.ok, false);
  }
  assert.equal(readFileSync(fixture.path(".git/config"), "utf8"), "[core]\n");
  assert.equal(existsSync(fixture.path("sallyport.json")), false);
  const usual = await gateway.run({ command: "echo fine", logFile: "build.log" });
  assert.equal(usual.status, "completed");
  assert.equal(readFileSync(fixture.path("build.log"), "utf8"), "fine\n");
});

test("rejects a log file in a denied path without asking for approval", async () => {
  const { gateway, asked } = await open({ denied: [fixture.path("secret")] });
  const result = await gateway.run({ command: "echo x", logFile: "secret/log" });
  assert.equal(result.error?.type, "PathOutOfScope");
  assert.equal(existsSync(fixture.path("secret/log")), false);
  assert.deepEqual(asked, []);
});

test("with the read-only profile a log file requires approval, unless Sallyport chose its name", async () => {
  const { gateway, asked } = await open({ sandbox: "read-only" });
  const result = await gateway.run({ command: "echo evil", logFile: "package.json" });
  assert.equal(result.status, "denied");
  assert.equal(existsSync(fixture.path("package.json")), false);
  assert.equal(asked.length, 1);
  const own = await gateway.run({ command: "echo fine" }, { logFolder: ".tmp/exec" });
  assert.equal(own.status, "completed");
  assert.equal(readFileSync(fixture.path(`.tmp/exec/${own.id}.log`), "utf8"), "fine\n");
  assert.equal(asked.length, 1);
});

test("with an allowlist a log file requires approval like a redirection, even for a granted command", async () => {
  const asked: Approval[] = [];
  const gateway = await fixture.open({
    policy: { ...FREE, security: "allowlist" },
    approve: async (approval) => {
      asked.push(approval);
      return { decision: asked.length === 1 ? "always" : "deny", who: "tester" };
    },
  });
  const command = "ls -d .";
  assert.equal((await gateway.run({ command })).status, "completed");
  assert.equal((await gateway.run({ command })).status, "completed");
  assert.equal(asked.length, 1, "the command has no grant");
  for (const text of [command, "echo evil"]) {
    assert.equal((await gateway.run({ command: text, logFile: "index.js" })).status, "denied", text);
  }
  assert.equal(existsSync(fixture.path("index.js")), false);
  assert.equal((await gateway.run({ command }, { logFolder: ".tmp/exec" })).status, "completed");
});
