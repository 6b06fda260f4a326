import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { SandboxCapabilities } from "../../../src/core/launch.ts";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import { keeperBinary } from "../../../src/executor/native/zygote.ts";
import { compile } from "../../fixtures/compile.ts";
import { type Limits, limitedKeeper } from "../../fixtures/limited-keeper.ts";
import { Cell } from "../../fixtures/sandbox-fixture.ts";

const tier = sandboxCapabilities();
const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-tiers-")));
after(() => rmSync(folder, { recursive: true }));
const [workspace, secret] = ["workspace", "secret"].map((name) => join(folder, name)) as [string, string];
mkdirSync(join(workspace, "sub"), { recursive: true });
mkdirSync(secret);
writeFileSync(join(secret, "key"), "hidden");
const attempt = compile("attempt");
const parts = [
  "sandbox/landlock",
  "sandbox/landlock_rules",
  "sandbox/path_fingerprints",
  "io/open_beneath",
  "sandbox/spec",
  "sandbox/unsupported",
];

const older = compile("older-landlock", parts);

/** Runs an attempt with the features of an older Landlock ABI and returns its result. */
function tried(abi: number, ...what: string[]): string {
  const { status, stdout, stderr } = spawnSync(older, [String(abi), workspace, secret, attempt, ...what], {
    encoding: "utf8",
    cwd: workspace,
  });
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

function gaps(abi: number): string[] {
  const { status, stderr } = spawnSync(older, [String(abi), workspace, secret, "/bin/true"], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return JSON.parse(stderr);
}

for (const abi of [1, 2, 3, 4, 5, 6]) {
  const skip = tier.landlock < abi ? `this kernel supports Landlock ABI ${tier.landlock}` : false;
  test(`enforces what Landlock ABI ${abi} supports`, { skip }, () => {
    const outside = join(folder, `outside-${abi}`);
    const inside = join(workspace, `inside-${abi}`);
    writeFileSync(outside, "outside");
    assert.equal(tried(abi, "read", outside), "done");
    assert.equal(tried(abi, "read", join(secret, "key")), "EACCES");
    assert.equal(tried(abi, "write", outside), "EACCES");
    assert.equal(tried(abi, "write", inside), "done");
    assert.equal(tried(abi, "write", "/dev/null"), "done");
    assert.equal(tried(abi, "rename", inside, join(workspace, "sub", "moved")), abi >= 2 ? "done" : "EXDEV");
    assert.equal(tried(abi, "truncate", outside), abi >= 3 ? "EACCES" : "done");
    assert.equal(tried(abi, "bind-tcp", "4245"), abi >= 4 ? "EACCES" : "done");
    assert.equal(tried(abi, "signal", String(process.pid)), abi >= 6 ? "EPERM" : "done");
  });
}

/** The Landlock ABI that each promise needs without namespaces and with listed ports. */
const LEAST: Record<string, number> = {
  mounts: 100,
  metadata: 100,
  truncate: 3,
  ports: 4,
  "scope-signals": 6,
};

test("reports features that an older Landlock ABI does not support", {
  skip: tier.landlock < 1 ? "this kernel has no Landlock" : false,
}, () => {
  for (let abi = 1; abi <= tier.landlock; abi++) {
    const missing = Object.keys(LEAST).filter((gap) => (LEAST[gap] ?? 0) > abi);
    assert.deepEqual(gaps(abi).sort(), missing.sort(), `Landlock ${abi}`);
  }
});

test("the keeper reports the sandbox features of this machine", () => {
  const line = execFileSync(keeperBinary(), ["probe"], { encoding: "utf8" });
  assert.deepEqual(JSON.parse(line), tier);
  assert.equal(line.split("\n").length, 2);
  if (process.getuid?.() === 0 && tier.mounts !== "none") assert.equal(tier.mounts, "root");
});

test("the keeper reports that namespaces are not available", (t) => {
  const forbidden = spawnSync("unshare", ["--user", keeperBinary(), "probe"], { encoding: "utf8" });
  if (forbidden.status !== 0) return t.skip("needs user namespaces");
  // In a user namespace without mapped users, no other namespace can be created.
  const seen = JSON.parse(forbidden.stdout);
  assert.deepEqual([seen.mounts, seen.isolation, seen.networkNamespace], ["none", false, false]);
  assert.equal(seen.landlock, tier.landlock);
});

const MACHINES: Limits[] = [
  {},
  { landlock: 0 },
  { landlock: 2 },
  { landlock: 5 },
  { namespaces: false },
  { landlock: 2, namespaces: false },
  { landlock: 0, namespaces: false },
  { seccomp: false },
  { broker: false },
  { broker: false, landlock: 5 },
  { broker: "pids", landlock: 5, namespaces: false },
];

for (const limits of MACHINES) {
  test(`what the probe reports is what commands run without: ${JSON.stringify(limits)}`, async () => {
    const before = process.env.SALLYPORT_KEEPER;
    const keeper = limitedKeeper(limits);
    process.env.SALLYPORT_KEEPER = keeper;
    const cell = await Cell.open();
    try {
      const { unsupported } = JSON.parse(execFileSync(keeper, ["probe"], { encoding: "utf8" })) as SandboxCapabilities;
      for (const isolated of [false, true]) {
        for (const network of ["on", "off", { ports: [443] }] as const) {
          const mode = typeof network === "object" ? "ports" : network;
          const spec = { isolated, network: typeof network === "object" ? { ports: [...network.ports] } : network };
          const { record } = await cell.run(["true"], cell.sandbox(spec));
          assert.deepEqual(record.gaps ?? [], unsupported[isolated ? "isolated" : "shared"][mode], mode);
          const strict = await cell.run(["true"], cell.sandbox({ ...spec, require: true }));
          assert.equal(strict.record.step, record.gaps === undefined ? undefined : "sandbox-require");
        }
      }
    } finally {
      await cell.close();
      if (before === undefined) delete process.env.SALLYPORT_KEEPER;
      else process.env.SALLYPORT_KEEPER = before;
    }
  });
}
