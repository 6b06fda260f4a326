import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { operatorConfigPath } from "../../../src/config/load.ts";
import { SallyportError } from "../../../src/core/error.ts";
import { DEFAULTS } from "../../../src/core/settings.ts";
import { configFixture } from "../../fixtures/configuration.ts";

function refused(work: () => unknown): SallyportError {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof SallyportError, String(error));
    assert.equal(error.type, "InvalidConfiguration");
    assert.ok(error.recovery.length > 0);
    return error;
  }
  assert.fail("the configuration was accepted");
}

test("without files the defaults apply", (t) => {
  const config = configFixture(t).load();
  assert.deepEqual(config.settings, DEFAULTS);
  assert.deepEqual(config.files, []);
  assert.equal(config.forAgent("anybody"), config.settings);
});

test("merges operator, agent and workspace settings in this order", (t) => {
  const fixture = configFixture(t);
  fixture.operatorSays({
    security: "allowlist",
    limits: { sessions: 8 },
    rules: [{ prefix: ["npm", "publish"], decision: "deny" }],
    env: { block: ["A"] },
    agents: {
      ci: {
        security: "full",
        limits: { sessions: 32 },
        rules: [{ prefix: ["rm"], decision: "ask" }],
        env: { block: ["B"] },
      },
    },
  });
  fixture.workspaceSays({
    limits: { sessions: 16 },
    security: "full",
    agents: { ci: { ask: "always" }, dev: { security: "deny" } },
  });
  const config = fixture.load();
  assert.equal(config.settings.security, "allowlist");
  assert.equal(config.settings.limits.sessions, 8);
  const ci = config.forAgent("ci");
  assert.deepEqual([ci.security, ci.ask, ci.limits.sessions, ci.rules.length], ["full", "always", 16, 2]);
  assert.deepEqual(ci.env.block, ["B", "A"]);
  assert.equal(config.forAgent("dev").security, "deny");
  assert.equal(config.forAgent("ci"), ci);
  assert.deepEqual(
    config.files.map(({ path, kind }) => [path, kind]),
    [
      [fixture.operator, "operator"],
      [fixture.file, "workspace"],
    ],
  );
  assert.match(config.files[0]?.sha256 ?? "", /^[0-9a-f]{64}$/);
  assert.deepEqual(
    config.ignored.map(({ key }) => key),
    ["security", "limits.sessions"],
  );
});

test("the policy option overrides the operator file, and the workspace file can tighten it", (t) => {
  const fixture = configFixture(t);
  fixture.operatorSays({ security: "deny", ask: "off" });
  fixture.workspaceSays({ security: "allowlist" });
  const { settings } = fixture.load({ given: { security: "full" } });
  assert.deepEqual([settings.security, settings.ask], ["allowlist", "off"]);
});

test("the policy option is validated like a file", (t) => {
  const fixture = configFixture(t);
  const given = (value: unknown) => refused(() => fixture.load({ given: value as never })).message;
  assert.equal(
    given({ securty: "deny" }),
    "The `policy` option: `securty` is not a known key; did you mean `security`?",
  );
  assert.match(given({ rules: [{ decision: "deny" }] }), /^The `policy` option: `rules\[0\]`: set either/);
});

test("the exec toolset is enabled only by ENABLE_EXECUTE or the operator; the workspace can disable it", (t) => {
  const fixture = configFixture(t);
  const exec = (value?: string) =>
    fixture.load({ env: { XDG_CONFIG_HOME: join(fixture.folder, "config"), ENABLE_EXECUTE: value } }).settings.toolsets
      .exec;
  assert.deepEqual(["1", "true", "TRUE", "yes", "on"].map(exec), [true, true, true, true, true]);
  assert.deepEqual([undefined, "", "0", "false", "no", "off", "nonsense"].map(exec), Array(7).fill(false));
  fixture.workspaceSays({ toolsets: { exec: true } });
  assert.equal(exec(), false);
  fixture.operatorSays({ toolsets: { exec: true } });
  assert.equal(exec(), true);
  fixture.workspaceSays({ toolsets: { exec: false } });
  assert.equal(exec("1"), false);
});

const WRONG: [says: unknown, message: string, where?: string][] = [
  ['{"securty": "deny"}', "`securty` is not a known key; did you mean `security`?", "1:2"],
  ['{\n "limits": {"sesions": 3}}', "`limits.sesions` is not a known key; did you mean `sessions`?", "2:13"],
  ['{"agents": {"ci": {"retention": {}}}}', "`agents.ci.retention` is not a known key;", "1:20"],
  ['{"rules": [{"decision": "deny", "patern": "x"}]}', "`rules[0].patern` is not a known key; did you mean `pattern`?"],
  ['{"xyz": 1}', "`xyz` is not a known key; the allowed keys are $schema, security,"],
  ['{"security": "high"}', '`security` must be one of "deny", "allowlist", "full"; received "high".', "1:2"],
  ['{"limits": {"sessions": 0}}', "`limits.sessions` must be at least 1; received 0."],
  ['{"limits": {"sessions": 1.5}}', "`limits.sessions` must be an integer; received 1.5."],
  ['{"limits": {"sessions": "9"}}', '`limits.sessions` must be a number; received "9".'],
  ['{"limits": []}', "`limits` must be an object; received []."],
  ['{"env": {"pass": "PATH"}}', '`env.pass` must be an array; received "PATH".'],
  ['{"toolsets": {"bash": null}}', "`toolsets.bash` must be true or false; received null."],
  ['{"allowlist": [{"args": "x"}]}', "`allowlist[0].pattern` must be a string."],
  ['{"rules": [{"decision": "deny", "prefix": [1]}]}', "`rules[0].prefix[0]` must be a string or an array of strings"],
  ['{"rules": [{"decision": "deny"}]}', "set either `prefix` or `pattern`"],
  [
    '{"rules": [{"decision": "deny", "prefix": ["rm"], "match": ["ls"]}]}',
    "the example `ls` in `match` does not match",
  ],
  ['{"agents": {"ci": {"allowlist": [{"pattern": "*"}]}}}', "allows every program"],
  ['{"allowDenied": ["privilage"]}', '`allowDenied[0]`: unknown rule "privilage"; did you mean "privilege"?', "1:18"],
  ['{"allowDenied": ["delete-vital"]}', '`allowDenied[0]`: the rule "delete-vital" cannot be overridden.'],
  ['{"allowDenied": ["self-approval"]}', '"self-approval" cannot be overridden.'],
  [
    '{"callback": {"webhook": {"url": "ftp://x", "secretFile": "/x"}}}',
    "`callback.webhook.url` must be an `http` or `https` URL",
  ],
  ['{"approvals": {"quorum": {"rule": "majority"}}}', "which requires a list of names in `approvals.quorum.approvers`"],
  ['{"approvals": {"quorum": {"approvers": ["a", "a"]}}}', "contains the same name twice"],
  ['{"agents": {"a b": {}}}', "must be a valid agent name"],
  ["[]", "the file must be an object; received []."],
  ['{"a":', "the file is not valid JSON: expected a value but found the end of the file.", "1:6"],
  ["{\n'a': 1}", "the file is not valid JSON: expected a key in double quotes but found `'`.", "2:1"],
];

for (const [says, message, where] of WRONG) {
  test(`rejects the configuration: ${says}`, (t) => {
    const fixture = configFixture(t);
    fixture.operatorSays(says);
    const error = refused(() => fixture.load());
    assert.ok(error.message.startsWith(`${fixture.operator}:`), error.message);
    assert.ok(error.message.includes(message), error.message);
    if (where) assert.ok(error.message.startsWith(`${fixture.operator}:${where}: `), error.message);
  });
}

test("rejects an invalid workspace file", (t) => {
  const fixture = configFixture(t);
  fixture.workspaceSays({ asc: "always" });
  assert.match(
    refused(() => fixture.load()).message,
    /workspace\/sallyport\.json:1:2: `asc` is not a known key; did you mean `ask`\?$/,
  );
});

test("rejects a workspace file that is not a regular file inside the workspace", (t) => {
  const fixture = configFixture(t);
  const outside = join(fixture.folder, "secret.json");
  writeFileSync(outside, '{"security": "deny"}');
  symlinkSync(outside, fixture.file);
  assert.match(refused(() => fixture.load()).message, /is a symbolic link to a location outside the workspace/);

  rmSync(fixture.file);
  writeFileSync(join(fixture.workspace, "real.json"), '{"security": "deny"}');
  symlinkSync("real.json", fixture.file);
  assert.equal(fixture.load().settings.security, "deny");

  rmSync(fixture.file);
  mkdirSync(fixture.file);
  assert.match(refused(() => fixture.load()).message, /is not a regular file/);

  rmSync(fixture.file, { recursive: true });
  execFileSync("mkfifo", [fixture.file]);
  assert.match(refused(() => fixture.load()).message, /is not a regular file/);

  rmSync(fixture.file);
  fixture.workspaceSays(`{"$schema": "${"x".repeat(300_000)}"}`);
  assert.match(refused(() => fixture.load()).message, /is larger than 256 KiB/);

  writeFileSync(fixture.file, Buffer.from([0x7b, 0xff, 0x7d]));
  assert.match(refused(() => fixture.load()).message, /is not valid UTF-8/);
});

test("rejects a world-writable operator file", (t) => {
  const fixture = configFixture(t);
  fixture.operatorSays({});
  chmodSync(fixture.operator, 0o666);
  assert.match(refused(() => fixture.load()).message, /is world-writable/);
  chmodSync(fixture.operator, 0o664);
  fixture.load();
});

test("warns about a workspace that contains the operator file", (t) => {
  const fixture = configFixture(t);
  assert.deepEqual(fixture.load().warnings, []);
  assert.match(fixture.load({ workspace: fixture.folder }).warnings[0] ?? "", /is inside the workspace/);
});

test("finds the operator file according to the XDG specification", () => {
  assert.equal(operatorConfigPath({ XDG_CONFIG_HOME: "/x", HOME: "/h" }), "/x/sallyport/sallyport.json");
  assert.equal(operatorConfigPath({ HOME: "/h" }), "/h/.config/sallyport/sallyport.json");
  // A relative path would be resolved inside the workspace.
  assert.equal(operatorConfigPath({ XDG_CONFIG_HOME: "x", HOME: "/h" }), "/h/.config/sallyport/sallyport.json");
});
