import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { SallyportError } from "../../../src/core/error.ts";
import { type Confined, confine } from "../../../src/sandbox/confine.ts";
import { compile } from "../../fixtures/compile.ts";
import { killAndWait } from "../../fixtures/processes.ts";
import { ConfinedFixture } from "./confined-fixture.ts";

const fixture = new ConfinedFixture();
after(() => fixture.close());
const { workspace, outside } = fixture;
mkdirSync(join(workspace, "spot/inner"), { recursive: true });
mkdirSync(join(outside, "inner"));
symlinkSync(outside, join(workspace, "trap"));

/** Starts a program that continuously exchanges the folder `spot` and a link out of the workspace. */
function startSwapping(): ChildProcess {
  return spawn(compile("swap"), [join(workspace, "spot"), join(workspace, "trap")], { stdio: "ignore" });
}

/** Runs a request and returns its working directory, or the type of its error. */
async function attempt(round: number, launch: (confined: Confined) => Confined): Promise<string> {
  // Read from the kernel, because a shell's `pwd -P` resolves the names again and can be misled itself.
  const request = { command: "readlink", args: ["/proc/self/cwd"], cwd: "spot/inner", logFile: `spot/${round}.log` };
  try {
    const { stdout, error } = await fixture.launch(request, launch(confine(request, fixture.confinement())));
    return error ?? stdout.trim();
  } catch (error) {
    if (error instanceof SallyportError) return error.type;
    throw error;
  }
}

test("a link swapped in between the check and the start never moves a command or its log outside the workspace", async () => {
  const swapper = startSwapping();
  const seen = new Map<string, number>();
  try {
    for (let round = 0; round < 400; round++) {
      const came = await attempt(round, (confined) => confined);
      seen.set(came, (seen.get(came) ?? 0) + 1);
    }
  } finally {
    await killAndWait(swapper);
  }
  const places = [...seen.keys()].filter((came) => came.startsWith("/"));
  // The folder in the workspace may have either of the two names at the moment.
  for (const place of places) assert.match(place, /\/workspace\/(?:spot|trap)\/inner$/, JSON.stringify([...seen]));
  const words = [...seen.keys()].filter((came) => !came.startsWith("/"));
  assert.deepEqual(
    words.filter((word) => word !== "PathOutOfScope" && word !== "WorkdirNotFound"),
    [],
  );
  for (let round = 0; round < 400; round++)
    assert.ok(!existsSync(join(outside, `${round}.log`)), `log ${round} is outside the workspace`);
});

test("without a root folder in the request, the same attempts reach outside the workspace", async () => {
  const swapper = startSwapping();
  let escaped = false;
  try {
    const end = Date.now() + 60_000;
    for (let round = 1000; Date.now() < end && !escaped; round++) {
      escaped = (await attempt(round, (confined) => ({ ...confined, root: null }))).startsWith(outside);
    }
  } finally {
    await killAndWait(swapper);
  }
  assert.ok(escaped, "no attempt reached outside the workspace within a minute");
});

for (const program of ["open-beneath", "open-beneath-walk"]) {
  test(`${program}: opens paths beneath the root without following links`, () => {
    const binary = compile(program);
    const root = join(fixture.folder, `root of ${program}`);
    mkdirSync(join(root, "a/b"), { recursive: true });
    symlinkSync("a", join(root, "in"));
    symlinkSync(outside, join(root, "out"));
    symlinkSync("/proc/self/cwd", join(root, "magic"));
    symlinkSync(root, join(fixture.folder, `link to ${program}`));
    execFileSync("touch", [join(root, "file")]);
    const open = (path: string, top = root) => spawnSync(binary, [top, path], { encoding: "utf8" }).stdout.trim();
    assert.equal(open(root), root);
    assert.equal(open(`${root}/`), root);
    assert.equal(open(join(root, "a/b")), join(root, "a/b"));
    assert.equal(open(`${root}//a///b//`), join(root, "a/b"));
    assert.equal(open(root, "/"), root);
    for (const path of ["in", "in/b", "out", "out/inner", "magic", "../outside", "..", "a/../../outside"]) {
      assert.equal(open(`${root}/${path}`), "left", path);
    }
    const linked = join(fixture.folder, `link to ${program}`);
    assert.equal(open(join(linked, "a"), linked), "left");
    assert.equal(open(join(root, "missing")), "No such file or directory");
    assert.equal(open(join(root, "file")), "Not a directory");
    assert.equal(open(join(root, "file/x")), "Not a directory");
    assert.equal(open(`${root}x`), "");
  });
}
