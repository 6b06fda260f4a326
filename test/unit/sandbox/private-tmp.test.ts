import assert from "node:assert/strict";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { cleanPrivateTmps } from "../../../src/sandbox/private-tmp/clean.ts";
import { ensurePrivateTmp, type PrivateTmpOwner, privateTmpOf } from "../../../src/sandbox/private-tmp/private-tmp.ts";
import { readableFolders } from "../../../src/sandbox/private-tmp/readable.ts";

const room = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-private-")));
const isRoot = process.getuid?.() === 0;
const inherited = process.env.TMPDIR;
before(() => {
  process.env.TMPDIR = room;
});
after(() => {
  if (inherited === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = inherited;
  rmSync(room, { recursive: true });
});

function owner(name: string): PrivateTmpOwner {
  const state = join(room, name);
  mkdirSync(state, { recursive: true });
  return { state, workspace: "/w", agent: "default", user: null };
}

/** Creates the private temporary directory of an owner and returns its folder. */
function ensured(one: PrivateTmpOwner): string {
  const paths = privateTmpOf(one);
  ensurePrivateTmp(paths, one);
  return paths.folder;
}

const folderOf = (one: PrivateTmpOwner): string => privateTmpOf(one).folder;

test("each agent has its own temporary directory for each workspace and state folder", () => {
  const one = owner("a");
  const folders = [one, { ...one, agent: "other" }, { ...one, workspace: "/v" }, owner("b")].map(folderOf);
  assert.equal(new Set(folders).size, 4);
  assert.equal(folderOf(one), folderOf(owner("a")), "the same owner gets the same directory");
});

test("only its owner can access the directory", () => {
  const one = owner("a");
  const folder = ensured(one);
  ensured(one);
  for (const place of [folder, dirname(folder)]) assert.equal(statSync(place).mode & 0o777, 0o700, place);
  const { tmpdir: own, binds } = privateTmpOf(one);
  for (const place of [own, ...binds.map(({ source }) => source)]) {
    assert.equal(statSync(place).mode & 0o7777, 0o1777, place);
  }
});

test("creates folders that a program has removed", () => {
  const one = owner("a");
  const { binds } = privateTmpOf(one);
  ensured(one);
  for (const { source } of binds) rmSync(source, { recursive: true });
  ensured(one);
  for (const { source } of binds) assert.ok(existsSync(source), source);
});

test("the name of the folder in /tmp is unpredictable", () => {
  const before = new Set(readdirSync(room));
  const bases = ["p", "q"].map((name) => privateTmpOf(owner(name)).base);
  assert.notEqual(bases[0], bases[1]);
  for (const base of bases) {
    assert.ok(!before.has(base));
    assert.match(base, /\/sallyport-\w{6}$/);
  }
});

test("rejects a link in place of one of its folders", () => {
  const one = owner("c");
  const folder = ensured(one);
  rmSync(join(folder, "tmp"), { recursive: true });
  symlinkSync(room, join(folder, "tmp"));
  assert.throws(() => ensured(one), { type: "StateUnusable" });
  assert.notEqual(statSync(room).mode & 0o7777, 0o1777, "the mode of the link's target was changed");
});

test("uses another folder if the remembered one is gone or not its own", () => {
  const one = owner("e");
  const first = privateTmpOf(one).base;
  rmSync(first, { recursive: true });
  const second = privateTmpOf(one).base;
  assert.notEqual(second, first);
  rmSync(second, { recursive: true });
  symlinkSync(room, second);
  const third = privateTmpOf(one).base;
  assert.notEqual(third, second, "a link was followed");
  chmodSync(third, 0o777);
  assert.notEqual(privateTmpOf(one).base, third, "a folder that others can write to was used");
  if (isRoot) {
    const fourth = privateTmpOf(one).base;
    chownSync(fourth, 65534, 65534);
    assert.notEqual(privateTmpOf(one).base, fourth, "a folder of another user was used");
  }
});

test("two gateways that start at the same time use the same folder", async () => {
  const one = owner("together");
  const path = fileURLToPath(new URL("../../../src/sandbox/private-tmp/private-tmp.ts", import.meta.url));
  const make = `
    const { parentPort, workerData: { path, one } } = require("node:worker_threads");
    import(path).then(({ privateTmpOf }) => parentPort.postMessage(privateTmpOf(one).base));`;
  const makers = Array.from({ length: 4 }, () => new Worker(make, { eval: true, workerData: { path, one } }));
  const bases = await Promise.all(makers.map(async (maker) => (await once(maker, "message"))[0]));
  assert.equal(new Set(bases).size, 1);
});

test("the user that commands run as owns the directory and can reach it", { skip: !isRoot && "needs root" }, () => {
  const one = { ...owner("d"), user: { uid: 65534, gid: 65534 } };
  const folder = ensured(one);
  const { uid, mode } = statSync(folder);
  assert.deepEqual([uid, mode & 0o777], [65534, 0o700]);
  assert.equal(statSync(dirname(folder)).mode & 0o777, 0o711);
  assert.equal(statSync(join(folder, "tmp")).uid, 65534);
});

test("removes unused directories and those of removed state folders, but none in use", () => {
  const [kept, old, gone] = [owner("kept"), { ...owner("kept"), agent: "old" }, owner("gone")];
  const folders = [kept, old, gone].map(ensured) as [string, string, string];
  for (const folder of folders) {
    mkdirSync(join(folder, "tmp", "deep", "er"), { recursive: true });
    writeFileSync(join(folder, "tmp", "deep", "er", "file"), "");
    symlinkSync(room, join(folder, "tmp", "link"));
  }
  rmSync(gone.state, { recursive: true });
  for (const name of ["tmp", "var-tmp", "shm", "tmpdir", ""]) utimesSync(join(folders[1], name), 1000, 1000);
  cleanPrivateTmps(kept.state, { unusedMs: 60_000, maxBytes: 0, live: true });
  assert.deepEqual(folders.map(existsSync), [true, true, false], "unused directories are kept while commands run");
  cleanPrivateTmps(kept.state, { unusedMs: 60_000, maxBytes: 0, live: false });
  assert.deepEqual(folders.map(existsSync), [true, false, false]);
  assert.ok(existsSync(join(room, "kept")), "links are not followed");
});

test("removes the directories that were used least recently if all together are too large", () => {
  const one = owner("large");
  const folders = ["a", "b", "c"].map((agent) => ensured({ ...one, agent })) as [string, string, string];
  for (const [index, folder] of folders.entries()) {
    mkdirSync(join(folder, "tmp/deep"));
    writeFileSync(join(folder, "tmp/deep/file"), Buffer.alloc(1 << 20, "x"));
    symlinkSync(room, join(folder, "tmp/link"));
    const used = new Date(Date.now() - (3 - index) * 1000);
    for (const name of ["tmp", "var-tmp", "shm", "tmpdir", ""]) utimesSync(join(folder, name), used, used);
  }
  const clean = (maxBytes: number, live = false) => cleanPrivateTmps(one.state, { unusedMs: 60_000, maxBytes, live });
  for (const [maxBytes, live] of [
    [10 << 20, false],
    [0, false],
    [1, true],
  ] as const) {
    clean(maxBytes, live);
    assert.deepEqual(folders.map(existsSync), [true, true, true], `${maxBytes} ${live}`);
  }
  clean((2 << 20) + (1 << 19));
  assert.deepEqual(folders.map(existsSync), [false, true, true]);
  clean(1);
  assert.deepEqual(folders.map(existsSync), [false, false, false]);
});

test("removes folders of earlier versions, and those that are no longer remembered", () => {
  const one = owner("renewed");
  const first = dirname(ensured(one));
  rmSync(join(one.state, "tmp-folder"));
  const second = dirname(ensured(one));
  const old = join(room, `sallyport-${process.getuid?.()}`, "0123456789ab");
  mkdirSync(join(old, "abcdef"), { recursive: true });
  writeFileSync(join(old, "state"), one.state);
  cleanPrivateTmps(one.state, { unusedMs: 60_000, maxBytes: 0, live: false });
  assert.ok(existsSync(old) && existsSync(first), "a folder that was used recently was removed");
  cleanPrivateTmps(one.state, { unusedMs: -60_000, maxBytes: 0, live: false });
  assert.deepEqual([old, first, second].map(existsSync), [false, false, true]);
});

test("does not remove a directory that is being created", async () => {
  const [mine, other] = [owner("mine"), owner("other")];
  const make = `
    const { workerData: { path, paths, one } } = require("node:worker_threads");
    import(path).then(({ ensurePrivateTmp }) => { for (let i = 0; i < 1000; i++) ensurePrivateTmp(paths, one); });`;
  const path = fileURLToPath(new URL("../../../src/sandbox/private-tmp/private-tmp.ts", import.meta.url));
  const paths = privateTmpOf(mine);
  const maker = new Worker(make, { eval: true, workerData: { path, paths, one: mine } });
  const ended = once(maker, "exit");
  let over = false;
  void ended.finally(() => {
    over = true;
  });
  while (!over) {
    cleanPrivateTmps(other.state, { unusedMs: 60_000, maxBytes: 0, live: false });
    await setImmediate();
  }
  await ended;
  assert.ok(existsSync(paths.folder));
});

test("the programs on PATH that are below /tmp stay visible with the folder that contains them", () => {
  const paths = { ...privateTmpOf(owner("a")), binds: [{ at: room, source: "/private" }] };
  const readable = (path: string, denied: string[], writable: string[] = []) =>
    readableFolders(paths, { path, writable, denied });
  for (const name of ["clone/node_modules/.bin", "home/bin", "home/tools"])
    mkdirSync(join(room, name), { recursive: true });
  symlinkSync(join(room, "clone"), join(room, "elsewhere"));
  const path = ["/usr/bin", join(room, "clone/node_modules/.bin"), join(room, "home/bin"), paths.base, "bin", ""].join(
    ":",
  );
  assert.deepEqual(readable(path, []), [join(room, "clone"), join(room, "home")]);
  const missing = [join(room, "home/.ssh")];
  assert.deepEqual(readable(path, missing), [join(room, "clone"), join(room, "home/bin")]);
  mkdirSync(join(room, "home/.ssh"));
  assert.deepEqual(readable(path, missing), [join(room, "clone"), join(room, "home")], "it can be masked");
  assert.deepEqual(readable(path, [join(room, "clone")]), [join(room, "home")]);
  assert.deepEqual(readable(join(room, "elsewhere/node_modules/.bin"), []), [join(room, "clone")]);
  const worktree = join(room, "main/.git/worktrees/second");
  assert.deepEqual(readable("", [], [worktree, "/opt/main/.git/worktrees/x", join(room, "clone")]), [
    join(room, "main/.git"),
  ]);
});
