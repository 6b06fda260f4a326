import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { unitText } from "../../../src/setup/service/unit.ts";
import { HostMachine } from "../../fixtures/host-machine.ts";
import { missing } from "../../fixtures/on-path.ts";
import type { Options } from "../../fixtures/sallyport.ts";
import { ENTRY } from "../../fixtures/sallyport.ts";

/** A machine on which no systemd manager of the user can be reached. */
class UnitMachine extends HostMachine {
  readonly path = join(this.home, ".config/systemd/user/sallyport-serve.service");

  service(args: string[], options: Options = {}) {
    const nowhere = { XDG_RUNTIME_DIR: this.programs, DBUS_SESSION_BUS_ADDRESS: `unix:path=${this.programs}/bus` };
    return this.run(["service", ...args], { ...options, env: { ...nowhere, SUDO_USER: undefined, ...options.env } });
  }

  async writeUnit(...args: string[]): Promise<string> {
    const { code, stderr } = await this.service(["install", "--user", "--no-start", ...args]);
    assert.equal(code, 0, stderr);
    return stderr;
  }
}

test("service install writes a unit, changes nothing the second time, and uninstall removes it", async (t) => {
  const machine = new UnitMachine(t);
  const shown = await machine.service(["install", "--user", "--dry-run"]);
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stdout, /^\+KillMode=process$/m);
  assert.equal(existsSync(machine.path), false);

  assert.match(await machine.writeUnit(), /systemctl --user enable --now sallyport-serve\.service/);
  const text = readFileSync(machine.path, "utf8");
  assert.equal(statSync(machine.path).mode & 0o777, 0o644);
  const lines = text.split("\n");
  for (const line of [
    "Type=exec",
    `WorkingDirectory=${machine.project}`,
    `ExecStart=${process.execPath} ${ENTRY} serve --state ${machine.sandbox.state}`,
    `ExecStartPost=${process.execPath} ${ENTRY} service ready http://127.0.0.1:4180 --wait 280s`,
    `EnvironmentFile=-${machine.home}/.config/sallyport/serve.env`,
    "KillMode=process",
    "Restart=on-failure",
    "WantedBy=default.target",
  ])
    assert.ok(lines.includes(line), `${line} in ${text}`);
  assert.equal((await machine.service(["install", "--user", "--print"])).stdout, text);

  assert.match(await machine.writeUnit(), /is written/);
  assert.equal(readFileSync(machine.path, "utf8"), text);
  await machine.writeUnit("--", "--listen", "0.0.0.0:9000", "--insecure-listen");
  assert.match(
    readFileSync(machine.path, "utf8"),
    /serve --listen 0\.0\.0\.0:9000 --insecure-listen --state .*ready http:\/\/127\.0\.0\.1:9000 /s,
  );

  const removed = await machine.service(["install", "--remove", "--user", "--no-start"]);
  assert.equal(removed.code, 0, removed.stderr);
  assert.deepEqual(readdirSync(join(machine.home, ".config")), []);
  assert.match((await machine.service(["uninstall", "--user", "--no-start"])).stderr, /is not installed/);
});

test("service install and uninstall refuse a unit of another origin, and an edited one without --yes", async (t) => {
  const machine = new UnitMachine(t);
  await machine.writeUnit();
  appendFileSync(machine.path, "Environment=MINE=1\n");
  for (const action of ["install", "uninstall"]) {
    const { code, stderr } = await machine.service([action, "--user", "--no-start"]);
    assert.equal(code, 125);
    assert.match(stderr, /has been edited.*systemctl edit sallyport-serve\.service/s);
  }
  await machine.writeUnit("--yes");
  assert.doesNotMatch(readFileSync(machine.path, "utf8"), /MINE/);
  writeFileSync(machine.path, "[Service]\nExecStart=/bin/true\n");
  for (const action of ["install", "uninstall"]) {
    const { code, stderr } = await machine.service([action, "--user", "--no-start", "--yes"]);
    assert.equal(code, 125);
    assert.match(stderr, /was not written by `sallyport service install`/);
  }
});

test("service says so when no systemd can be reached, and writes nothing", async (t) => {
  const machine = new UnitMachine(t);
  for (const args of [["install"], ["status"]]) {
    const { code, stderr } = await machine.service([...args, "--user"]);
    assert.equal(code, 125);
    assert.match(stderr, /systemd manager of this user cannot be reached.*--no-start/s);
  }
  const { stderr } = await machine.service(["status", "--user"], { env: { PATH: machine.programs } });
  assert.match(stderr, /`systemctl` is not installed/);
  assert.equal(existsSync(join(machine.home, ".config")), false);
});

for (const [args, reason] of [
  [[], /no subcommand given; use install/],
  [["instal"], /unknown subcommand `service instal`/],
  [["install", "mcp"], /unknown service `mcp`; use serve or worker/],
  [["install", "--user", "--system"], /`--user` cannot be combined with `--system`/],
  [["install", "--user", "--run-as", "ann"], /`--run-as` requires `--system`/],
  [["install", "--system", "--print", "--run-as", "no-such-user"], /no user "no-such-user"/],
  [["install", "--print", "--", "--listen", "0"], /must name a port/],
  [["install", "--print", "--", "--listen", "0.0.0.0:1"], /accepts connections from other machines/],
  [["install", "--print", "--", "--lisen", "1"], /unknown option `--lisen`; did you mean `--listen`/],
  [["install", "--print", "--", "--state", "x"], /`--state` must be in front of `--`/],
  [["install", "--print", "--", "more"], /unexpected argument `more`/],
  [["install", "--print", "worker"], /requires a fleet/],
  [["install", "--print", "worker", "--", "--fleet", "nats://u:secret@h"], /credentials/],
  [["install", "--print", "worker", "--fleet", "nats://h", "--", "--slots", "0"], /`--slots` must be/],
  [["uninstall", "--", "--listen", "1"], /only `service install` takes options/],
  [["ready", "127.0.0.1:4180"], /must be `worker` or a URL/],
] as const) {
  test(`rejects service ${args.join(" ")}`, async (t) => {
    const { code, stdout, stderr } = await new UnitMachine(t).service([...args]);
    assert.equal(code, 125);
    assert.equal(stdout, "");
    assert.match(stderr, reason);
  });
}

const OPTIONS = {
  service: "worker",
  scope: "system",
  user: "ann",
  folder: "/srv/50% of it",
  command: ["/opt/no de/node", 'a"b\\c', "$HOME %h", "", ";", "two\nlines", "--fleet", "nats://h:4222"],
  ready: null,
  env: { XDG_CONFIG_HOME: "/a b/%c $d" },
  environmentFile: "/etc/sallyport/worker.env",
  version: 257,
} as const;

test("a unit keeps every character of paths and arguments", () => {
  const lines = unitText(OPTIONS).split("\n");
  assert.ok(lines.includes("WorkingDirectory=/srv/50%% of it"));
  assert.ok(lines.includes('Environment="XDG_CONFIG_HOME=/a b/%%c $d"'));
  assert.ok(
    lines.includes(
      String.raw`ExecStart="/opt/no de/node" "a\"b\\c" "$$HOME %%h" "" ";" "two\nlines" --fleet nats://h:4222`,
    ),
  );
  assert.throws(() => unitText({ ...OPTIONS, folder: "/a\nExecStart=/bin/evil" }), /line breaks/);
  assert.throws(() => unitText({ ...OPTIONS, command: ["/bin/\x1bx"] }), /control characters/);
});

test("systemd accepts the units without a warning", { skip: missing("systemd-analyze") }, (t) => {
  const machine = new UnitMachine(t);
  const command = [process.execPath, "a b", "$HOME %h", ";"];
  for (const scope of ["user", "system"] as const) {
    const folder = join(machine.home, scope);
    mkdirSync(folder);
    const unit = join(folder, "sallyport-worker.service");
    const text = unitText({ ...OPTIONS, scope, user: "root", folder: "/", command, ready: command, version: 250 });
    // The other units of the machine, which may be broken, are not loaded.
    writeFileSync(unit, text.replace(/^(?:Wants|After)=.*\n/gm, ""));
    const env = { ...process.env, XDG_RUNTIME_DIR: machine.programs };
    const args = [`--${scope}`, "--man=no", "verify", unit];
    const { status, stderr } = spawnSync("systemd-analyze", args, { env, encoding: "utf8" });
    assert.equal(status, 0, stderr);
    assert.doesNotMatch(stderr, /sallyport-worker/);
  }
});

test("systemd starts the service in the cgroup into which the keeper moves processes", () => {
  const keeper = readFileSync(new URL("../../../native/cgroup/hierarchy.c", import.meta.url), "utf8");
  const [, leaf] = /#define LEAF_NAME "(.*)"/.exec(keeper) ?? [];
  assert.match(unitText(OPTIONS), new RegExp(`^DelegateSubgroup=${leaf}$`, "m"));
  assert.doesNotMatch(unitText({ ...OPTIONS, version: 252 }), /Delegate/);
});
