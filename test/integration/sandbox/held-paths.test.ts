import assert from "node:assert/strict";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { compile } from "../../fixtures/compile.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";

const skip = sandboxCapabilities().mounts === "none" ? "needs a mount namespace" : false;

/** Ways to move, replace or empty the folder FROM, as shell text. */
const MOVES: [name: string, text: (from: string) => string][] = [
  ["renames it", (from) => `mv ${from} moved`],
  ["renames it with a system call", (from) => `./tool rename ${from} moved`],
  ["exchanges it with another folder", (from) => `mkdir -p moved; ./tool exchange ${from} moved`],
  [
    "renames it through a link to its parent",
    (from) => `ln -sfn $PWD/${dirname(from)} way; mv way/${from.split("/").at(-1)} moved`,
  ],
  ["renames it through /proc/self/cwd", (from) => `mv /proc/self/cwd/${from} moved`],
  ["renames it through a descriptor", (from) => `exec 9<.; mv /proc/self/fd/9/${from} moved`],
  ["replaces it with a link", (from) => `mkdir -p other; rm -rf ${from} 2>/dev/null; ln -sfn other ${from}; true`],
];

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** A gateway fixture whose workspace contains a program for rename calls. */
class HeldFixture extends GatewayFixture {
  constructor() {
    super();
    copyFileSync(compile("escape"), this.path("tool"));
    chmodSync(this.path("tool"), 0o755);
  }

  /** Runs shell text from a file, so that the sandbox stops it and not the analysis of the command. */
  async sh(gateway: Gateway, text: string) {
    writeFileSync(this.path("attempt.sh"), text);
    return gateway.run({ command: "bash", args: ["attempt.sh"], timeoutMs: 60_000 });
  }

  confined(policy: object = {}): Promise<Gateway> {
    const limits = { sessions: 10_000, startsPerMinute: 1_000_000 };
    return this.open({ policy: { sandbox: "workspace-write", limits, ...policy } });
  }
}

/** Checks that a sandboxed command cannot move a folder in any way, and that an unsandboxed one can. */
async function holds(fixture: HeldFixture, confined: Gateway, from: string, restore: () => void): Promise<void> {
  const free = await fixture.open();
  for (const [name, text] of MOVES) {
    for (const gateway of [free, confined]) {
      for (const place of ["moved", "way", "other", from])
        rmSync(fixture.path(place), { recursive: true, force: true });
      restore();
      const before = identity(fixture.path(from));
      const { output } = await fixture.sh(gateway, text(from));
      const moved = identity(fixture.path(from)) !== before;
      assert.equal(moved, gateway === free, `${name}: ${output}`);
    }
  }
}

/** Identifies the folder at a path. The number of an inode that was removed can be reused for a link. */
function identity(path: string): string | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() ? `${found.dev} ${found.ino}` : null;
}

describe("a denied path in the workspace", { skip }, () => {
  const fixture = new HeldFixture();
  after(() => fixture.close());

  test("stays denied, because its parents cannot be moved", async () => {
    const confined = await fixture.confined({ denied: ["conf/deep/prod"] });
    const restore = () => put(fixture.path("conf/deep/prod/key"), "treasure");
    await holds(fixture, confined, "conf", restore);
    await holds(fixture, confined, "conf/deep", restore);
    restore();
    await fixture.sh(confined, "mv conf c2; ./tool exchange conf other");
    const { output } = await fixture.sh(confined, "grep -rs treasure .; true");
    assert.doesNotMatch(output, /key/, "the denied file was readable");
  });

  test("holds the parents that exist if the path itself does not exist", async () => {
    const confined = await fixture.confined({ denied: ["later/deep/prod"] });
    const restore = () => mkdirSync(fixture.path("later"), { recursive: true });
    await holds(fixture, confined, "later", restore);
  });

  test("cannot be reached by replacing a link that leads to it", async () => {
    put(fixture.path("real/prod/key"), "treasure");
    symlinkSync("real", fixture.path("linked"));
    const confined = await fixture.confined({ denied: ["linked/prod"] });
    for (const text of ["rm linked", "mv linked l2", "ln -sfn other linked", "mkdir e; ./tool exchange linked e"]) {
      const { exitCode, output } = await fixture.sh(confined, text);
      assert.notEqual(exitCode, 0, `${text}: ${output}`);
      assert.ok(lstatSync(fixture.path("linked")).isSymbolicLink(), text);
      rmSync(fixture.path("e"), { recursive: true, force: true });
    }
    const { output } = await fixture.sh(confined, "cat linked/prod/key real/prod/key");
    assert.doesNotMatch(output, /treasure/);
    assert.equal((await fixture.sh(await fixture.open(), "rm linked && cat real/prod/key")).output, "treasure");
  });

  test("is found again after a command has created a link on the way to it", async () => {
    const confined = await fixture.confined({ denied: ["new/prod"] });
    assert.equal((await fixture.sh(confined, "mkdir elsewhere; ln -s elsewhere new")).exitCode, 0);
    put(fixture.path("new/prod/key"), "treasure");
    const fresh = await fixture.confined({ denied: ["new/prod"] });
    const { output } = await fixture.sh(fresh, "cat new/prod/key elsewhere/prod/key");
    assert.doesNotMatch(output, /treasure/);
  });
});

describe("a protected path in the workspace", { skip }, () => {
  const fixture = new HeldFixture();
  after(() => fixture.close());

  test("stays protected, because its parents cannot be moved", async () => {
    const restore = () => put(fixture.path(".config/systemd/user/x.service"), "as it was");
    await holds(fixture, await fixture.confined(), ".config", restore);
  });
});

describe("a workspace that contains Sallyport's own folders", { skip }, () => {
  const { HOME, XDG_CONFIG_HOME } = process.env;
  const fixture = new HeldFixture();
  after(async () => {
    Object.assign(process.env, { HOME });
    if (XDG_CONFIG_HOME !== undefined) process.env.XDG_CONFIG_HOME = XDG_CONFIG_HOME;
    await fixture.close();
  });
  const own = fixture.path(".config/sallyport");

  test("cannot be used to write or replace the operator's configuration", async () => {
    process.env.HOME = fixture.workspace;
    delete process.env.XDG_CONFIG_HOME;
    const confined = await fixture.confined();
    const free = await fixture.open();
    const write = "mkdir -p .config/sallyport; echo '{}' > .config/sallyport/sallyport.json";
    const ways = [
      write,
      `mv .config .c2; ${write}`,
      `rm -rf .config; ${write}`,
      `mkdir c3; ./tool exchange .config c3; ${write}`,
      `mv .config/sallyport .config/s2; ${write}`,
      `rm -rf .config/sallyport; ${write}`,
      `mkdir -p evil/sallyport; echo '{}' > evil/sallyport/sallyport.json; ln -sfn ../evil/sallyport .config/sallyport; ln -sfn evil .config`,
      `ln -sfn .config way; rm -rf way/sallyport; mkdir way/sallyport; echo '{}' > way/sallyport/sallyport.json`,
    ];
    for (const text of ways) {
      for (const gateway of [free, confined]) {
        for (const name of [".config", ".c2", "c3", "evil", "way"]) {
          rmSync(fixture.path(name), { recursive: true, force: true });
        }
        const { output } = await fixture.sh(gateway, text);
        const changed = existsSync(join(own, "sallyport.json"));
        if (gateway === confined) {
          assert.ok(!changed, `${text}: ${output}`);
          assert.equal(lstatSync(own).mode & 0o777, 0o700, "the folder was not reserved");
        }
      }
    }
    const control = await fixture.sh(free, write);
    assert.ok(existsSync(join(own, "sallyport.json")), `without a sandbox: ${control.output}`);
  });

  test("cannot be used to replace a link to the operator's configuration", async () => {
    for (const name of [".config", "dotfiles"]) rmSync(fixture.path(name), { recursive: true, force: true });
    process.env.HOME = fixture.workspace;
    put(fixture.path("dotfiles/sallyport/sallyport.json"), '{ "$schema": "as it was" }');
    symlinkSync("dotfiles", fixture.path(".config"));
    const confined = await fixture.confined();
    const text =
      "rm -f .config; mv dotfiles d2; mkdir -p .config/sallyport; echo '{}' > .config/sallyport/sallyport.json";
    const { output } = await fixture.sh(confined, text);
    assert.match(readFileSync(join(own, "sallyport.json"), "utf8"), /as it was/, output);
    await fixture.sh(await fixture.open(), text);
    assert.doesNotMatch(readFileSync(join(own, "sallyport.json"), "utf8"), /as it was/, "possible without a sandbox");
  });

  test("protects a state folder inside it", async () => {
    const state = fixture.path(".local/state/sallyport");
    const inside = new GatewayFixture(state);
    const gateway = await inside.open({ workspace: fixture.workspace, policy: { sandbox: "workspace-write" } });
    const text = "mv .local .l2; rm -rf .local/state; mv .local/state .s2; cat .local/state/sallyport/sallyport.db";
    const { output } = await fixture.sh(gateway, text);
    assert.ok(existsSync(join(state, "sallyport.db")), output);
    assert.doesNotMatch(output, /SQLite/);
    await inside.close();
  });
});

test("refuses to make the root directory writable in a sandbox", async () => {
  const fixture = new GatewayFixture();
  const gateway = await fixture.open({ workspace: "/", policy: { sandbox: "workspace-write" } });
  try {
    const { status, error } = await gateway.run({ command: "true" });
    assert.equal(status, "failed");
    assert.equal(error?.type, "PathOutOfScope");
    assert.match(error?.message ?? "", /root directory/);
    assert.equal((await gateway.run({ command: "true", sandbox: "read-only" })).exitCode, 0);
  } finally {
    await fixture.close();
  }
});
