import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Config } from "../../../src/config/schema.ts";
import type { Verdict } from "../../../src/core/policy.ts";
import type { RunResult } from "../../../src/core/result.ts";
import type { SessionInfo } from "../../../src/core/session.ts";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import { type Limits, limitedKeeper, setLimits } from "../../fixtures/limited-keeper.ts";
import { stopZygotes } from "../../fixtures/processes.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";

const here = sandboxCapabilities();
const lacking = here.unsupported.shared.on.length > 0 || here.unsupported.isolated.ports.length > 0;
const skip = lacking && "needs a machine that enforces the whole sandbox";

/** A machine that lacks some features, with its own operator's configuration. */
class Machine {
  readonly box = new Sandbox();
  readonly keeper: string;
  readonly workspace = join(this.box.folder, "workspace");
  readonly #config = join(this.box.folder, "config");

  constructor(limits: Limits) {
    this.keeper = limitedKeeper(limits);
    mkdirSync(this.workspace);
    mkdirSync(join(this.#config, "sallyport"), { recursive: true });
    after(async () => {
      await stopZygotes(this.box.state);
      this.box.remove();
    });
  }

  configure(config: Config): this {
    writeFileSync(join(this.#config, "sallyport/sallyport.json"), JSON.stringify(config));
    return this;
  }

  async sallyport<T>(args: string[]): Promise<T> {
    const env = { SALLYPORT_KEEPER: this.keeper, XDG_CONFIG_HOME: this.#config };
    const { stdout, stderr } = await this.box.run(args, { env, cwd: this.workspace });
    assert.notEqual(stdout, "", stderr);
    return JSON.parse(stdout) as T;
  }

  run(text: string): Promise<RunResult> {
    return this.sallyport(["run", "--json", "-c", text]);
  }

  /** Starts a command in the background, which does not wait for approval. */
  start(text: string): Promise<SessionInfo> {
    return this.sallyport(["run", "--detach", "--json", "-c", text]);
  }

  check(text: string, ...options: string[]): Promise<Verdict> {
    return this.sallyport(["check", "--json", ...options, "-c", text]);
  }
}

/** A command that cannot be analyzed. */
const UNKNOWN = 'python3 -c "$CODE"';
const NO_NAMESPACES = ["mounts", "metadata", "ipc"];

test("a fully enforced sandbox lets an unanalyzable command run, without warnings", { skip }, async () => {
  const { verdict, sandbox } = await new Machine({}).check(UNKNOWN);
  assert.deepEqual([verdict, sandbox], ["allow", { level: "full", notEnforced: [] }]);
  const { sandbox: label, warnings, status } = await new Machine({}).run("true");
  assert.deepEqual([label, warnings, status], ["workspace-write", [], "completed"]);
});

test("without a mount namespace, an unanalyzable command requires approval", { skip }, async () => {
  const machine = new Machine({ namespaces: false });
  const { verdict, sandbox, reasons } = await machine.check(UNKNOWN);
  assert.deepEqual([verdict, sandbox], ["ask", { level: "partial", notEnforced: NO_NAMESPACES }]);
  assert.match(
    reasons.find(({ rule }) => rule === "partial-sandbox")?.message ?? "",
    /fully enforced: protected paths/,
  );
  assert.equal((await machine.check("ls -l")).verdict, "allow");
  const { error } = await machine.start(`touch ran; ${UNKNOWN}`);
  assert.equal(error?.type, "ApprovalPending");
  assert.equal(existsSync(join(machine.workspace, "ran")), false);
});

test("the approval request and the session say what is not enforced", { skip }, async () => {
  const machine = new Machine({ namespaces: false });
  await machine.start(UNKNOWN);
  const [approval] = await machine.sallyport<{ request: { confinement: string } }[]>(["approvals", "--json"]);
  assert.match(approval?.request.confinement ?? "", /not enforced on this machine: protected paths/);
  const { id } = await machine.run("true");
  const info = await machine.sallyport<{ sandbox: string }>(["inspect", "--json", id]);
  assert.equal(info.sandbox, "workspace-write, partial (mounts, metadata, ipc)");
});

test("warns about missing features when they change, and not on every command", { skip }, async () => {
  const machine = new Machine({ namespaces: false });
  const first = await machine.run("true");
  assert.equal(first.warnings.length, 1);
  assert.match(first.warnings[0] ?? "", /^sandbox: not fully enforced on this machine: protected paths/);
  assert.deepEqual((await machine.run("true")).warnings, []);
  const isolated = await machine.sallyport<RunResult>(["run", "--json", "--sandbox", "isolated", "-c", "true"]);
  assert.match(isolated.warnings[0] ?? "", /the separate namespaces of `isolated`/);
});

test("does not count what another mechanism enforces as missing", { skip }, async () => {
  const old = new Machine({ landlock: 2 });
  const level = async (...options: string[]) => (await old.check("ls", ...options)).sandbox;
  assert.deepEqual(await level("--sandbox", "isolated", "--network", "off"), { level: "full", notEnforced: [] });
  const plain = (await level())?.notEnforced ?? [];
  assert.ok(!plain.includes("truncate"), "read-only mounts prevent truncation");
  assert.ok(!(await level("--network", "off"))?.notEnforced.includes("scope-abstract"));
  const bare = await new Machine({ landlock: 2, namespaces: false }).check("ls");
  assert.ok(bare.sandbox?.notEnforced.includes("truncate"));
});

test("the keeper refuses a command for which less is enforced than its verdict is based on", { skip }, async () => {
  const machine = new Machine({});
  assert.equal((await machine.run("true")).status, "completed");
  await stopZygotes(machine.box.state);
  // The machine loses its namespaces, and the gateway still has the result of its last probe.
  setLimits(machine.keeper, { namespaces: false });
  const { status, error } = await machine.run(`touch ran; ${UNKNOWN}`);
  assert.deepEqual([status, error?.type], ["failed", "SpawnFailed"]);
  assert.equal(existsSync(join(machine.workspace, "ran")), false);
  const again = await machine.run("true");
  assert.equal(again.sandbox, "workspace-write, partial (mounts, metadata, ipc)");
});

test("a command uses features that the machine has gained, and running commands are not affected", {
  skip,
}, async () => {
  const machine = new Machine({ namespaces: false });
  const { id } = await machine.start("sleep 300");
  setLimits(machine.keeper, {});
  assert.equal((await machine.run("true")).error?.type, "SpawnFailed");
  assert.equal((await machine.run("true")).sandbox, "workspace-write");
  assert.equal((await machine.sallyport<SessionInfo>(["inspect", "--json", id])).status, "running");
  await machine.sallyport(["kill", "--json", id]);
});

const NOTHING: Limits = { landlock: 0, namespaces: false };

test("where nothing confines, nothing runs, and the error names the ways out", { skip }, async () => {
  const machine = new Machine(NOTHING);
  const { status, error } = await machine.run("touch ran");
  assert.deepEqual([status, error?.type], ["failed", "SandboxUnavailable"]);
  assert.match(error?.message ?? "", /`"sandbox": "off"` or `"require": false` in the operator's configuration/);
  assert.match(error?.recovery[0]?.hint ?? "", /sallyport doctor/);
  assert.equal(existsSync(join(machine.workspace, "ran")), false);
  const { verdict, reasons, sandbox } = await machine.check("ls");
  assert.deepEqual([verdict, reasons[0]?.rule, sandbox?.level], ["deny", "sandbox-unavailable", "none"]);
});

test("a workspace file cannot allow commands to run where nothing confines them", { skip }, async () => {
  const machine = new Machine(NOTHING);
  writeFileSync(join(machine.workspace, "sallyport.json"), JSON.stringify({ require: false, sandbox: "off" }));
  assert.equal((await machine.run("true")).error?.type, "SandboxUnavailable");
});

test("the operator can allow commands to run where nothing confines them", { skip }, async () => {
  const machine = new Machine(NOTHING).configure({ require: false });
  const { status, sandbox, warnings } = await machine.run("true");
  assert.deepEqual([status, sandbox], ["completed", "off"]);
  assert.deepEqual(warnings, ["sandbox: nothing confines commands on this machine"]);
  assert.equal((await machine.check(UNKNOWN)).verdict, "ask");
  const off = new Machine(NOTHING).configure({ sandbox: "off" });
  const result = await off.run("true");
  assert.deepEqual([result.status, result.warnings], ["completed", []]);
});

test("with `require: true`, a command runs only if everything is enforced", { skip }, async () => {
  const whole = new Machine({}).configure({ require: true, network: { ports: [53, 443] } });
  assert.equal((await whole.run("true")).status, "completed");
  const partial = new Machine({ namespaces: false }).configure({ require: true });
  const { error } = await partial.run("true");
  assert.equal(error?.type, "SandboxUnavailable");
  assert.match(error?.message ?? "", /Not enforced: protected paths/);
});

test("the portable executor confines nothing, so it runs nothing unless the operator allows it", async () => {
  const box = new Sandbox();
  const config = join(box.folder, "config/sallyport");
  const workspace = join(box.folder, "workspace");
  for (const folder of [config, workspace]) mkdirSync(folder, { recursive: true });
  after(() => box.remove());
  const run = async (settings: Config) => {
    writeFileSync(join(config, "sallyport.json"), JSON.stringify(settings));
    const env = { SALLYPORT_EXECUTOR: "portable", XDG_CONFIG_HOME: join(box.folder, "config") };
    const { stdout } = await box.run(["run", "--json", "-c", "true"], { env, cwd: workspace });
    const { status, error } = JSON.parse(stdout) as RunResult;
    return error?.type ?? status;
  };
  assert.equal(await run({}), "SandboxUnavailable");
  assert.equal(await run({ sandbox: "off", network: "off" }), "SandboxUnavailable");
  assert.equal(await run({ sandbox: "off" }), "completed");
  assert.equal(await run({ require: false }), "completed");
});
