import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Approval } from "../../../src/core/approval.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import type { GatewayOptions } from "../../../src/gateway/options.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { pause } from "../../fixtures/until.ts";

const YES = { decision: "once", who: "tester" } as const;

let fixture: GatewayFixture;
before(() => {
  fixture = new GatewayFixture();
});
after(() => fixture.close());

/** Opens a gateway that requires approval for everything. `beforeApproval` is called before each approval. */
async function opened(beforeApproval: (approval: Approval, time: number) => void, options: GatewayOptions = {}) {
  const asked: Approval[] = [];
  const gateway = await fixture.open({
    policy: { ask: "always", limits: { sessions: 100, startsPerMinute: 10_000 } },
    approve: async (approval) => {
      asked.push(approval);
      beforeApproval(approval, asked.length);
      return YES;
    },
    ...options,
  });
  return { gateway, asked };
}

function changesIn(gateway: Gateway, approval: Approval | undefined): string[] {
  const refused = gateway.audit.search({ kind: "approval", outcome: "refused", limit: 100 });
  const entry = refused.find(({ detail }) => (detail as { approval: string }).approval === approval?.id);
  return (entry?.detail as { changed?: string[] } | undefined)?.changed ?? [];
}

test("a script changed between approval and launch requires a new approval", async () => {
  const script = fixture.path("build.sh");
  writeFileSync(script, "echo harmless\n");
  const { gateway, asked } = await opened((_, time) => {
    if (time === 1) writeFileSync(script, "echo evil\n");
  });
  const result = await gateway.run({ command: "bash build.sh" });
  assert.equal(asked.length, 2);
  assert.equal(result.stdout, "evil\n"); // The changed script ran only because the new request was approved, too.
  assert.match(changesIn(gateway, asked[0]).join(), /content of the script .*build\.sh changed/);
  assert.equal(gateway.approvals.get(asked[0]?.id ?? "").status, "approved");
  assert.equal(gateway.approvals.get(asked[1]?.id ?? "").status, "used");
});

test("a command that keeps changing is denied and never runs", async () => {
  const script = fixture.path("restless.sh");
  writeFileSync(script, "touch ran\n");
  const { gateway, asked } = await opened((_, time) => writeFileSync(script, `touch ran # ${time}\n`));
  const result = await gateway.run({ command: "bash restless.sh" });
  assert.equal(result.status, "denied");
  assert.match(result.error?.message ?? "", /kept changing/);
  assert.ok(asked.length > 1);
  assert.equal(existsSync(fixture.path("ran")), false);
});

test("a replaced executable requires a new approval", async () => {
  const program = fixture.path("tool");
  const write = (text: string) => {
    writeFileSync(`${program}.new`, `#!/bin/sh\necho ${text}\n`);
    chmodSync(`${program}.new`, 0o755);
    renameSync(`${program}.new`, program);
  };
  write("good");
  const { gateway, asked } = await opened((_, time) => {
    if (time === 1) write("bad");
  });
  await gateway.run({ command: "./tool", args: [] });
  assert.equal(asked.length, 2);
  assert.match(changesIn(gateway, asked[0]).join(), /content of the program .*tool changed/);
});

test("a relinked working directory requires a new approval", async () => {
  mkdirSync(fixture.path("one"), { recursive: true });
  mkdirSync(fixture.path("two"), { recursive: true });
  symlinkSync("one", fixture.path("here"));
  const { gateway, asked } = await opened((_, time) => {
    if (time !== 1) return;
    renameSync(fixture.path("one"), fixture.path("three"));
    renameSync(fixture.path("two"), fixture.path("one"));
  });
  const result = await gateway.run({ command: "pwd", cwd: "here" });
  assert.equal(result.stdout, `${fixture.path("one")}\n`);
  assert.equal(asked.length, 2);
  assert.match(changesIn(gateway, asked[0]).join(), /working directory/);
});

test("an approval is valid for one run", async () => {
  const { gateway, asked } = await opened(() => {});
  await gateway.run({ command: "echo once" });
  await gateway.run({ command: "echo once" });
  assert.equal(asked.length, 2);
});

test("no approval, rule, allowlist, permission or mode overrides a hard block", async () => {
  let asked = 0;
  const gateway = await fixture.open({
    policy: {
      security: "full",
      ask: "off",
      allowDenied: ["privilege"],
      permissions: { run: "autonomous" },
      rules: [{ prefix: ["rm"], decision: "allow" }],
      allowlist: [{ pattern: "/**" }, { pattern: "rm" }, { pattern: "mkfs.ext4" }],
      limits: { startsPerMinute: 10_000 },
    },
    approve: async () => {
      asked++;
      return { decision: "always", who: "tester" };
    },
  });
  for (const command of ["rm -rf /", "mkfs.ext4 /dev/sda1", ":(){ :|:& };:", "bash -c 'reboot'", "echo x > /dev/sda"]) {
    const result = await gateway.run({ command, security: "full", ask: "off" });
    assert.equal(result.status, "blocked", command);
    assert.equal(result.error?.type, "CommandBlocked");
    assert.ok((result.error?.recovery.length ?? 0) > 0);
  }
  assert.equal(asked, 0);
  const entries = gateway.audit.search({ outcome: "blocked", limit: 10 });
  assert.equal(entries.length, 5, "an attempt was not audited");
});

test("a command cannot approve another through the library either", async () => {
  const own = fileURLToPath(new URL("../../../src/index.ts", import.meta.url));
  const script = fixture.path("self-approval.ts");
  writeFileSync(
    script,
    `import { openGateway } from ${JSON.stringify(own)};
     const gateway = await openGateway({ state: ${JSON.stringify(fixture.state)}, attach: false, configuration: null });
     for (const { id } of gateway.approvals.list({ status: "pending" })) {
       try {
         gateway.approvals.decide(id, { decision: "once", who: "root", channel: "cli" });
         console.log("approved");
       } catch (error) {
         console.log(error.type, error.message);
       }
     }
     await gateway.close();`,
  );
  const { gateway } = await opened(() => {}, { approve: undefined as never });
  const pending = await gateway.run({ command: "echo wanted" }, { approvalTimeoutMs: 1 });
  assert.equal(pending.status, "pending");
  const attacker = await fixture.open();
  const result = await attacker.run({ command: process.execPath, args: ["--no-warnings", script] });
  assert.doesNotMatch(result.stdout, /^approved/m, result.stderr);
  assert.match(result.stdout, /approve|person|agent/i, result.stderr);
  assert.equal(gateway.approvals.get(pending.approvalId ?? "").status, "pending");
  assert.equal(readFileSync(script, "utf8").includes("decide"), true);
});

test("a pending request and its approval survive the gateway that made it", async () => {
  const first = await fixture.open({ policy: { ask: "always" }, approve: undefined as never });
  const { approvalId, status } = await first.run({ command: "echo later" }, { approvalTimeoutMs: 1 });
  assert.equal(status, "pending");
  await first.close();
  const second = await fixture.open({ policy: { ask: "always" }, approve: undefined as never });
  second.approvals.decide(approvalId ?? "", { decision: "once", who: "tester", channel: "library" });
  const result = await second.run({ command: "echo later" }, { approvalTimeoutMs: 1 });
  assert.deepEqual([result.status, result.stdout, result.approvalId], ["completed", "later\n", approvalId]);
});

test("a denial returns its reason to the agent", async () => {
  const gateway = await fixture.open({
    policy: { ask: "always" },
    approve: async () => ({ decision: "deny", who: "tester", reason: "not on a Sunday" }),
  });
  const result = await gateway.run({ command: "echo no" });
  assert.equal(result.status, "denied");
  assert.match(result.error?.message ?? "", /Denied by tester: not on a Sunday/);
});

/** Milliseconds after which a changed configuration is in force: the files are read again after 1 s. */
const RELOADED_MS = 1100;

test("a command that policy denies while it is pending does not run after its approval", async () => {
  const configuration = join(fixture.folder, "forbids.json");
  writeFileSync(configuration, JSON.stringify({ ask: "always" }));
  const gateway = await fixture.open({
    configuration,
    policy: {},
    approve: async () => {
      writeFileSync(configuration, JSON.stringify({ rules: [{ prefix: ["touch"], decision: "deny" }] }));
      await pause(RELOADED_MS);
      return YES;
    },
  });
  const result = await gateway.run({ command: "touch forbidden" });
  assert.equal(result.status, "denied");
  assert.equal(result.verdict?.verdict, "deny");
  assert.equal(existsSync(fixture.path("forbidden")), false);
});

test("a changed quorum applies without a restart", async () => {
  const configuration = join(fixture.folder, "quorum.json");
  writeFileSync(configuration, JSON.stringify({ ask: "always" }));
  const gateway = await fixture.open({ configuration, policy: {} });
  assert.equal((await gateway.run({ command: "true" })).status, "completed");
  const quorum = { rule: "unanimous", approvers: ["ann", "bob"] };
  writeFileSync(configuration, JSON.stringify({ ask: "always", approvals: { quorum, expiresMinutes: 1 } }));
  await pause(RELOADED_MS);
  const { status, approvalId } = await gateway.run({ command: "true" }, { approvalTimeoutMs: 50 });
  assert.equal(status, "pending");
  const approval = gateway.approvals.get(approvalId ?? "");
  assert.deepEqual(approval.quorum, quorum);
  assert.equal(Date.parse(approval.expiresAt) - Date.parse(approval.createdAt), 60_000);
});

test("the log file is shown, and an approval without it does not cover it", async () => {
  const { gateway, asked } = await opened(() => {});
  const pending = await fixture.open({ policy: { ask: "always" }, approve: async () => null });
  const first = await pending.run({ command: "echo out" }, { approvalTimeoutMs: 1 });
  gateway.approvals.decide(first.approvalId ?? "", { ...YES, channel: "cli" });
  await gateway.run({ command: "echo out", logFile: "b\u001b[2Jad.log" });
  assert.equal(asked.length, 1);
  assert.match(asked[0]?.request.confinement ?? "", /; the command's output overwrites .*\/b‹escape›\[2Jad\.log$/);
  assert.equal(gateway.approvals.get(first.approvalId ?? "").status, "approved");
});

test("a program in the workspace is not grantable when the workspace is a link", async () => {
  // Not below /tmp, where no program is grantable.
  const real = mkdtempSync(fileURLToPath(new URL("workspace-", import.meta.url)));
  const link = join(fixture.folder, "linked");
  symlinkSync(real, link);
  writeFileSync(join(real, "mine"), "#!/bin/sh\necho mine\n");
  chmodSync(join(real, "mine"), 0o755);
  const { gateway, asked } = await opened(() => {}, { workspace: link });
  await gateway.run({ command: "./mine" });
  rmSync(real, { recursive: true });
  assert.match(JSON.stringify(asked[0]?.request.always), /in a folder that the agent can write to/);
});
