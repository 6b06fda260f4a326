import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { loadConfig } from "../../../src/config/load.ts";
import type { Config } from "../../../src/config/schema.ts";
import type { SandboxCapabilities } from "../../../src/core/launch.ts";
import type { RunRequest } from "../../../src/core/request.ts";
import { confinementText } from "../../../src/sandbox/describe.ts";
import { SandboxPlanner } from "../../../src/sandbox/sandbox.ts";
import { CAPABILITIES } from "../../fixtures/capabilities.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-planner-")));
after(() => rmSync(folder, { recursive: true }));
const workspace = join(folder, "workspace");
const home = join(folder, "home");
const data = join(folder, "data");
for (const place of [join(workspace, ".git/hooks"), join(workspace, "src"), join(home, ".ssh"), join(data, "deep")]) {
  mkdirSync(place, { recursive: true });
}
writeFileSync(join(workspace, ".git/config"), "");

function planner(config: Config = {}, capabilities: SandboxCapabilities | null = CAPABILITIES): SandboxPlanner {
  return plannerFor(config, () => capabilities);
}

function plannerFor(config: Config, capabilities: () => SandboxCapabilities | null): SandboxPlanner {
  const { settings } = loadConfig({ workspace, operatorPath: null, given: config });
  const state = join(folder, "state");
  return new SandboxPlanner({
    settings,
    workspace,
    agent: "default",
    state,
    keepOut: [state],
    home,
    homes: { own: [home], others: [] },
    user: null,
    path: "/usr/bin:/bin",
    capabilities,
  });
}

function planned(asked: Partial<RunRequest>, config: Config = {}) {
  return planner(config).plan(asked);
}

const rules = (asked: Partial<RunRequest>, config: Config = {}) =>
  planned(asked, config).escalations.map(({ rule }) => rule);

test("by default the workspace and a private directory are writable, and the network is on", () => {
  const { spec, level, escalations } = planned({});
  assert.deepEqual(spec?.writable, [workspace]);
  assert.deepEqual([spec?.network, spec?.isolated, spec?.require, spec?.user], ["on", false, true, null]);
  assert.ok(spec?.temporary);
  assert.ok(spec?.denied.includes(join(home, ".ssh")));
  assert.ok(spec?.denied.includes(join(folder, "state")));
  assert.ok(spec?.readOnly.includes(join(workspace, ".git/config")));
  assert.deepEqual([level, escalations], ["full", []]);
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

test("commands can connect to name services and the configured sockets, whose links are resolved", () => {
  const listed = join(folder, "listed");
  symlinkSync(workspace, listed);
  const config = { sockets: ["listed.sock", `${listed}/deep/../one.sock`, "~/agent.sock", join(folder, "state/x")] };
  const plan = planned({}, config);
  const sockets = [join(workspace, "listed.sock"), join(workspace, "one.sock"), join(home, "agent.sock")];
  assert.deepEqual(plan.sockets, sockets);
  for (const path of [...sockets, "/run/systemd/userdb"]) assert.ok(plan.spec?.sockets.includes(path), path);
  assert.match(confinementText(plan), /; can connect to .*listed\.sock, /);
  assert.doesNotMatch(confinementText(planned({}, { ...config, network: "off" })), /can connect/);
  assert.doesNotMatch(confinementText(planned({})), /can connect/);
});

test("the profile `off` enforces nothing unless the network or the user is restricted", () => {
  assert.equal(planned({}, { sandbox: "off" }).spec, null);
  const { spec, level } = planned({}, { sandbox: "off", network: "off" });
  assert.deepEqual([spec?.network, spec?.writable, spec?.denied, level], ["off", ["/"], [], "none"]);
});

const GAPS = ["mounts", "metadata", "ipc"] as const;
const PARTIAL: SandboxCapabilities = {
  ...CAPABILITIES,
  mounts: "none",
  unsupported: { ...CAPABILITIES.unsupported, shared: { on: GAPS, off: GAPS, ports: GAPS } },
};

test("the level is `full` only if everything is enforced, and `none` if nothing is", () => {
  const level = (capabilities: SandboxCapabilities | null, config: Config = {}) => {
    const { level: found, notEnforced, spec } = planner(config, capabilities).plan({});
    return [found, notEnforced, spec?.require];
  };
  assert.deepEqual(level(CAPABILITIES), ["full", [], true]);
  assert.deepEqual(level(PARTIAL), ["partial", GAPS, false]);
  assert.deepEqual(level(PARTIAL, { require: true }), ["partial", GAPS, true]);
  assert.deepEqual(level({ ...PARTIAL, landlock: 0 }), ["none", GAPS, false]);
  assert.deepEqual(level(null), ["none", [], undefined]);
  assert.deepEqual(level(null, { sandbox: "off" }), ["none", [], undefined]);
  assert.deepEqual(level(null, { sandbox: "off", network: "off" }), ["none", ["network"], undefined]);
  assert.deepEqual(level(PARTIAL, { sandbox: "off", network: "off" }), ["none", [], true]);
});

test("the level depends on the profile, the network and the paths of the command", () => {
  const here: SandboxCapabilities = {
    ...CAPABILITIES,
    landlock: 3,
    unsupported: {
      shared: { on: ["scope-signals"], off: ["scope-signals"], ports: ["scope-signals", "ports"] },
      isolated: { on: [], off: [], ports: ["ports"] },
    },
  };
  const level = (asked: Partial<RunRequest>, config: Config = {}) => planner(config, here).plan(asked).notEnforced;
  assert.deepEqual(level({}), ["scope-signals"]);
  assert.deepEqual(level({ network: { ports: [443] } }), ["scope-signals", "ports"]);
  assert.deepEqual(level({ sandbox: "isolated" }), []);
  assert.deepEqual(level({ sandbox: "isolated" }, { denied: ["not-yet"] }), ["denied-later"]);
  assert.deepEqual(level({ sandbox: "isolated" }, { denied: ["src"] }), []);
  assert.deepEqual(level({ sandbox: "read-only" }, { denied: ["not-yet"] }), ["scope-signals"]);
});

test("plans again when a feature turns out to be missing", () => {
  let capabilities = CAPABILITIES;
  const prepared = plannerFor({}, () => capabilities);
  assert.equal(prepared.plan({}).level, "full");
  capabilities = PARTIAL;
  assert.equal(prepared.plan({}).level, "partial");
});
