import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { loadConfig } from "../../../src/config/load.ts";
import type { Config } from "../../../src/config/schema.ts";
import type { SandboxCapabilities } from "../../../src/core/launch.ts";
import type { RunRequest } from "../../../src/core/request.ts";
import { SandboxPlanner } from "../../../src/sandbox/sandbox.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-planner-")));
after(() => rmSync(folder, { recursive: true }));
const workspace = join(folder, "workspace");
const home = join(folder, "home");
const data = join(folder, "data");
for (const place of [join(workspace, ".git/hooks"), join(workspace, "src"), join(home, ".ssh"), join(data, "deep")]) {
  mkdirSync(place, { recursive: true });
}
writeFileSync(join(workspace, ".git/config"), "");

const CAPABILITIES: SandboxCapabilities = {
  landlock: 7,
  mounts: "root",
  isolation: true,
  networkNamespace: true,
  seccomp: true,
};

function planner(config: Config = {}, capabilities: SandboxCapabilities | null = CAPABILITIES): SandboxPlanner {
  const { settings } = loadConfig({ workspace, operatorPath: null, given: config });
  const state = join(folder, "state");
  return new SandboxPlanner({
    settings,
    workspace,
    agent: "default",
    state,
    keepOut: [state],
    home,
    user: null,
    capabilities: () => capabilities,
  });
}

function planned(asked: Partial<RunRequest>, config: Config = {}) {
  return planner(config).plan(asked);
}

const rules = (asked: Partial<RunRequest>, config: Config = {}) =>
  planned(asked, config).escalations.map(({ rule }) => rule);

test("by default the workspace and a private directory are writable, and the network is on", () => {
  const { spec, confined, escalations } = planned({});
  assert.deepEqual(spec?.writable, [workspace]);
  assert.deepEqual([spec?.network, spec?.isolated, spec?.require, spec?.user], ["on", false, false, null]);
  assert.ok(spec?.temporary);
  assert.ok(spec?.denied.includes(join(home, ".ssh")));
  assert.ok(spec?.denied.includes(join(folder, "state")));
  assert.ok(spec?.readOnly.includes(join(workspace, ".git/config")));
  assert.deepEqual([confined, escalations], [true, []]);
});

test("returns the same plan until something changes", () => {
  const prepared = planner();
  assert.equal(prepared.plan({}), prepared.plan({}));
});

test("a stricter sandbox is not an escalation", () => {
  const read = planned({ sandbox: "read-only", network: "off" });
  assert.deepEqual(read.spec?.writable, []);
  assert.equal(read.spec?.temporary, null);
  assert.equal(read.spec?.network, "off");
  assert.deepEqual(read.escalations, []);
  assert.deepEqual(rules({ sandbox: "isolated" }), []);
  assert.deepEqual(rules({ network: { ports: [80] } }), []);
  assert.deepEqual(rules({ sandbox: "workspace-write" }, { sandbox: "off" }), []);
  assert.deepEqual(rules({ writable: ["src"] }), [], "the workspace is writable already");
  assert.deepEqual(rules({ writable: [join(data, "deep")] }, { writable: [data] }), []);
});

test("reports each part of an escalation", () => {
  assert.deepEqual(rules({ sandbox: "off" }), ["sandbox-off"]);
  assert.deepEqual(rules({ sandbox: "off", network: "on" }, { network: "off" }), ["sandbox-off", "sandbox-network"]);
  assert.deepEqual(rules({ writable: [data] }), ["sandbox-write"]);
  assert.deepEqual(rules({ network: "on" }, { network: { ports: [80] } }), ["sandbox-network"]);
  assert.deepEqual(rules({ network: { ports: [80, 81] } }, { network: { ports: [80] } }), ["sandbox-network"]);
  assert.deepEqual(rules({ sandbox: "workspace-write" }, { sandbox: "read-only" }), ["sandbox-write"]);
  assert.deepEqual(rules({ sandbox: "workspace-write" }, { sandbox: "isolated" }), ["sandbox-isolation"]);
  assert.deepEqual(rules({ sandbox: "read-only" }, { sandbox: "isolated" }), ["sandbox-isolation"]);
  assert.deepEqual(rules({ writable: ["src"] }, { sandbox: "read-only" }), ["sandbox-write"]);
});

test("requesting a protected path or its parent folder makes it writable and is an escalation", () => {
  const config = join(workspace, ".git/config");
  const { spec, escalations } = planned({ writable: [".git/config"] });
  assert.ok(!spec?.readOnly.includes(config));
  assert.ok(spec?.readOnly.includes(join(workspace, ".git/hooks")));
  assert.deepEqual(escalations, [{ rule: "sandbox-write", paths: [config] }]);
  assert.ok(!planned({ writable: [".git"] }).spec?.readOnly.includes(join(workspace, ".git/hooks")));
  assert.deepEqual(rules({ writable: [workspace] }), [], "the workspace does not include its protected paths");
  assert.ok(planned({ writable: ["."] }).spec?.readOnly.includes(config));
  assert.ok(
    !planned({}, { writable: [".git/config"] }).spec?.readOnly.includes(config),
    "the operator's configuration is not an escalation",
  );
});

test("resolves links in requested paths before it checks them", () => {
  symlinkSync(data, join(workspace, "out"));
  const { spec, escalations } = planned({ writable: ["out"] });
  assert.ok(spec?.writable.includes(data));
  assert.deepEqual(escalations, [{ rule: "sandbox-write", paths: [data] }]);
  symlinkSync(join(home, ".ssh"), join(workspace, "keys"));
  assert.throws(() => planned({ writable: ["keys"] }), { type: "PathOutOfScope" });
});

test("rejects a requested path that is masked or does not exist", () => {
  assert.throws(() => planned({ writable: ["~/.ssh"] }), { type: "PathOutOfScope", message: /masked for every/ });
  assert.throws(() => planned({ writable: [join(folder, "state")] }), { type: "PathOutOfScope" });
  assert.throws(() => planned({ writable: ["~/.aws/new"] }), { type: "PathOutOfScope" });
  assert.throws(() => planned({ writable: ["/nowhere/x"] }), { type: "InvalidRequest", message: /does not exist/ });
  assert.throws(() => planned({ writable: ["secrets"] }, { denied: ["secrets"] }), { type: "PathOutOfScope" });
});

test("the profile `off` enforces nothing unless the network or the user is restricted", () => {
  assert.equal(planned({}, { sandbox: "off" }).spec, null);
  const { spec, confined } = planned({}, { sandbox: "off", network: "off" });
  assert.deepEqual([spec?.network, spec?.writable, spec?.denied, confined], ["off", ["/"], [], false]);
});

test("reports when the machine cannot sandbox commands", () => {
  const nothing: SandboxCapabilities = { ...CAPABILITIES, landlock: 0, mounts: "none" };
  assert.deepEqual(
    [CAPABILITIES, nothing, null].map((capabilities) => {
      const { confined, unavailable } = planner({}, capabilities).plan({});
      return [confined, unavailable];
    }),
    [
      [true, false],
      [false, true],
      [false, true],
    ],
  );
  assert.equal(planner({}, null).plan({}).spec, null);
  assert.equal(planner({ sandbox: "off" }, null).plan({}).unavailable, false);
});
