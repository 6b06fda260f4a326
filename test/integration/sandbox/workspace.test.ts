import assert from "node:assert/strict";
import { linkSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { SallyportError } from "../../../src/core/error.ts";
import { confine } from "../../../src/sandbox/confine.ts";
import { type PathParameter, resolveInWorkspace, workspaceScope } from "../../../src/sandbox/workspace.ts";
import { ConfinedFixture } from "./confined-fixture.ts";

const fixture = new ConfinedFixture();
after(() => fixture.close());
const { workspace, outside } = fixture;
const sibling = `${workspace}-sibling`;

mkdirSync(join(workspace, "a/b"), { recursive: true });
mkdirSync(join(workspace, "closed"), { mode: 0o000 });
mkdirSync(sibling);
mkdirSync(join(outside, "deep"));
writeFileSync(join(workspace, "file"), "");
writeFileSync(join(outside, "precious"), "precious");
symlinkSync("a/b", join(workspace, "in"));
symlinkSync(join(workspace, "a"), join(workspace, "in-absolute"));
symlinkSync(outside, join(workspace, "out"));
symlinkSync("..", join(workspace, "a/up-two-is-out"));
symlinkSync("../..", join(workspace, "a/up"));
symlinkSync(join(outside, "deep"), join(workspace, "out-deep"));
symlinkSync(join(outside, "new.log"), join(workspace, "dangling.log"));
symlinkSync(join(outside, "precious"), join(workspace, "precious.log"));
symlinkSync("a/real.log", join(workspace, "inside.log"));
symlinkSync("circle", join(workspace, "circle"));
symlinkSync("/proc/self/cwd", join(workspace, "magic"));
symlinkSync("/", join(workspace, "root"));
writeFileSync(join(workspace, "a/real.log"), "");
linkSync(join(outside, "precious"), join(workspace, "second-name.log"));

const scope = workspaceScope(workspace, { keepOut: [fixture.state] });

const INSIDE: [path: string | undefined, to: string][] = [
  [undefined, ""],
  [".", ""],
  ["./", ""],
  ["a", "a"],
  ["a/b/..", "a"],
  ["a/../a/b", "a/b"],
  ["in", "a/b"],
  ["in/..", "a"],
  ["in-absolute", "a"],
  ["in-absolute/b", "a/b"],
  [workspace, ""],
  [`${workspace}/`, ""],
  [join(workspace, "in"), "a/b"],
  [`${workspace}/../${basename(workspace)}/a`, "a"],
  ["a/up-two-is-out", ""],
];

for (const [path, to] of INSIDE) {
  test(`${path} is in the workspace`, async () => {
    const expected = join(workspace, to);
    assert.equal(resolveInWorkspace(scope, path, "cwd"), expected);
    assert.deepEqual(
      (await fixture.run({ command: "pwd -P", ...(path ? { cwd: path } : {}) })).stdout,
      `${expected}\n`,
    );
  });
}

const OUTSIDE = [
  "..",
  "../",
  "a/../..",
  "a/b/../../..",
  "in/../../..",
  "/",
  "/tmp",
  "//",
  outside,
  sibling,
  `../${basename(sibling)}`,
  "out",
  "out/deep",
  "out-deep",
  "out-deep/..",
  "a/up",
  "root",
  "root/etc",
  "magic",
  "../missing",
  "/no/such/folder",
  "out/missing",
  `${workspace}/../outside`,
];

for (const path of OUTSIDE) {
  test(`rejects ${path} as cwd, and a log file in it`, () => {
    for (const [what, asked] of [
      ["cwd", path],
      ["logFile", `${path}/x.log`],
    ] as [PathParameter, string][]) {
      assert.throws(
        () => resolveInWorkspace(scope, asked, what),
        (error) => {
          assert.ok(error instanceof SallyportError);
          assert.equal(error.type, "PathOutOfScope", error.message);
          assert.equal(error.recovery[0]?.action, "check_scope");
          return true;
        },
      );
    }
  });
}

test("distinguishes missing paths, files and link loops in the workspace from paths outside", () => {
  for (const path of ["missing", "a/missing", "file/x", "circle/x"]) {
    assert.throws(() => resolveInWorkspace(scope, path, "cwd"), { type: "WorkdirNotFound" }, path);
  }
  assert.throws(() => resolveInWorkspace(scope, "circle", "cwd"), { type: "PathOutOfScope" });
  assert.throws(() => resolveInWorkspace(scope, "missing/x.log", "logFile"), { type: "WorkdirNotFound" });
  assert.throws(() => resolveInWorkspace(scope, "new/", "logFile"), { type: "WorkdirNotFound" });
});

test("rejects Sallyport's own folders, even within the workspace", () => {
  const around = workspaceScope(fixture.folder, { keepOut: [fixture.state] });
  assert.throws(() => resolveInWorkspace(around, "state", "cwd"), { type: "PathOutOfScope" });
  assert.throws(() => resolveInWorkspace(around, "state/sallyport.db", "logFile"), { type: "PathOutOfScope" });
  assert.equal(resolveInWorkspace(around, "workspace", "cwd"), workspace);
});

test("accepts a log file that is new or a link within the workspace, but no link outside", async () => {
  assert.equal(resolveInWorkspace(scope, "a/new.log", "logFile"), join(workspace, "a/new.log"));
  assert.equal(resolveInWorkspace(scope, "in/new.log", "logFile"), join(workspace, "a/b/new.log"));
  for (const path of ["dangling.log", "precious.log"]) {
    assert.throws(() => resolveInWorkspace(scope, path, "logFile"), { type: "PathOutOfScope" }, path);
  }
  await fixture.run({ command: "echo logged; echo too >&2", capture: "merged", logFile: "inside.log" });
  assert.equal(readFileSync(join(workspace, "a/real.log"), "utf8"), "logged\ntoo\n");
});

test("rejects a folder as log file, and a file as working directory", async () => {
  assert.equal((await fixture.run({ command: "true", logFile: "a" })).error, "SpawnFailed");
  assert.equal((await fixture.run({ command: "true", cwd: "file" })).error, "WorkdirNotFound");
});

test("rejects a log file that is a hard link before truncating it", async () => {
  const { error, stdout } = await fixture.run({ command: "echo overwritten", logFile: "second-name.log" });
  assert.deepEqual([error, stdout], ["PathOutOfScope", ""]);
  assert.equal(readFileSync(join(outside, "precious"), "utf8"), "precious");
});

test("the keeper detects a path that changes between the check and the start", async () => {
  mkdirSync(join(workspace, "spot/inner"), { recursive: true });
  mkdirSync(join(outside, "inner"));
  const request = { command: "pwd -P; touch ran", cwd: "spot/inner", logFile: "spot/x.log" };
  const confined = confine(request, fixture.confinement());
  renameSync(join(workspace, "spot"), join(workspace, "was-spot"));
  symlinkSync(outside, join(workspace, "spot"));
  assert.equal(
    (await fixture.launch({ ...request, logFile: undefined }, { ...confined, logFile: null })).error,
    "PathOutOfScope",
  );
  assert.equal((await fixture.launch(request, { ...confined, cwd: workspace })).error, "PathOutOfScope");
  // A link within the workspace is not the path that was checked either.
  symlinkSync("was-spot", join(workspace, "spot2"));
  const moved = { ...confined, logFile: null, cwd: join(workspace, "spot2/inner") };
  assert.equal((await fixture.launch(request, moved)).error, "PathOutOfScope");
});

test("a keeper rejects a working directory or log file whose name is not beneath the root", async () => {
  const confined = confine({ command: "true" }, fixture.confinement());
  for (const wrong of [{ cwd: "/tmp" }, { cwd: sibling }, { logFile: "/tmp/x.log" }, { logFile: `${sibling}/x.log` }]) {
    const ran = fixture.launch({ command: "true" }, { ...confined, ...wrong });
    const error = await ran.then(
      ({ record }) => record.reason,
      (thrown: Error) => thrown.message,
    );
    assert.ok(error === "lost" || error === "failed", error);
  }
  const dotted = await fixture.launch({ command: "true" }, { ...confined, cwd: `${workspace}/a/../../outside` });
  assert.equal(dotted.error, "PathOutOfScope");
});

test("`anywhere` allows paths outside the workspace, but not Sallyport's own folders", async () => {
  const free = fixture.confinement({ scope: "anywhere" });
  assert.equal((await fixture.run({ command: "pwd -P", cwd: outside }, free)).stdout, `${outside}\n`);
  assert.throws(() => confine({ command: "true", cwd: fixture.state }, free), { type: "PathOutOfScope" });
});

test("resolves a workspace that is a link", () => {
  symlinkSync(workspace, join(fixture.folder, "link-to-workspace"));
  assert.equal(workspaceScope(join(fixture.folder, "link-to-workspace")).root, workspace);
  assert.throws(() => workspaceScope(join(fixture.folder, "missing")), { type: "WorkdirNotFound" });
  assert.throws(() => workspaceScope(join(workspace, "file")), { type: "WorkdirNotFound" });
});
