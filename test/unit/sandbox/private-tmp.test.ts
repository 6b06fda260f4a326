import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { cleanPrivateTmps, ensurePrivateTmp, privateTmpPath } from "../../../src/sandbox/private-tmp.ts";

const room = mkdtempSync(join(tmpdir(), "sallyport-private-"));
const inherited = process.env.TMPDIR;
before(() => {
  process.env.TMPDIR = room;
});
after(() => {
  if (inherited === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = inherited;
  rmSync(room, { recursive: true });
});

function owner(name: string) {
  const state = join(room, name);
  mkdirSync(state, { recursive: true });
  return { state, workspace: "/w", agent: "default", user: null };
}

test("each agent has its own temporary directory for each workspace and state folder", () => {
  const one = owner("a");
  const folders = [one, { ...one, agent: "other" }, { ...one, workspace: "/v" }, owner("b")].map(privateTmpPath);
  assert.equal(new Set(folders).size, 4);
  assert.equal(privateTmpPath(one), privateTmpPath(owner("a")), "the same owner gets the same directory");
});

test("only its owner can access the directory", () => {
  const one = owner("a");
  const folder = privateTmpPath(one);
  ensurePrivateTmp(folder, one);
  ensurePrivateTmp(folder, one);
  for (const place of [folder, dirname(folder), dirname(dirname(folder))]) {
    assert.equal(statSync(place).mode & 0o777, 0o700, place);
  }
});

test("rejects a link or a folder of another user", () => {
  process.env.TMPDIR = join(room, "squatted");
  mkdirSync(process.env.TMPDIR);
  const one = owner("c");
  const folder = privateTmpPath(one);
  symlinkSync(room, dirname(dirname(folder)));
  assert.throws(() => ensurePrivateTmp(folder, one), { type: "StateUnusable", message: /another user/ });
  process.env.TMPDIR = room;
});

test("the user that commands run as owns the directory and can reach it", {
  skip: process.getuid?.() !== 0 && "needs root",
}, () => {
  const one = { ...owner("d"), user: { uid: 65534, gid: 65534 } };
  const folder = privateTmpPath(one);
  ensurePrivateTmp(folder, one);
  const { uid, mode } = statSync(folder);
  assert.deepEqual([uid, mode & 0o777], [65534, 0o700]);
  assert.equal(statSync(dirname(folder)).mode & 0o777, 0o711);
});

test("removes unused directories and those of removed state folders, but none in use", () => {
  const [kept, old, gone] = [owner("kept"), { ...owner("kept"), agent: "old" }, owner("gone")];
  for (const one of [kept, old, gone]) {
    const folder = privateTmpPath(one);
    ensurePrivateTmp(folder, one);
    mkdirSync(join(folder, "deep", "er"), { recursive: true });
    writeFileSync(join(folder, "deep", "er", "file"), "");
    symlinkSync(room, join(folder, "link"));
  }
  rmSync(gone.state, { recursive: true });
  utimesSync(privateTmpPath(old), 1000, 1000);
  cleanPrivateTmps(kept.state, { unusedMs: 60_000, live: true });
  assert.deepEqual(
    [kept, old, gone].map(privateTmpPath).map(existsSync),
    [true, true, false],
    "unused directories are kept while commands run",
  );
  cleanPrivateTmps(kept.state, { unusedMs: 60_000, live: false });
  assert.deepEqual([kept, old].map(privateTmpPath).map(existsSync), [true, false]);
  assert.ok(existsSync(join(room, "kept")), "links are not followed");
});

test("does not remove a directory that is being created", async () => {
  const [mine, other] = [owner("mine"), owner("other")];
  const make = `
    const { workerData: { path, folder, one } } = require("node:worker_threads");
    import(path).then(({ ensurePrivateTmp }) => { for (let i = 0; i < 3000; i++) ensurePrivateTmp(folder, one); });`;
  const path = fileURLToPath(new URL("../../../src/sandbox/private-tmp.ts", import.meta.url));
  const folder = privateTmpPath(mine);
  const maker = new Worker(make, { eval: true, workerData: { path, folder, one: mine } });
  const ended = once(maker, "exit");
  let over = false;
  void ended.finally(() => {
    over = true;
  });
  while (!over) {
    cleanPrivateTmps(other.state, { unusedMs: 60_000, live: false });
    await setImmediate();
  }
  await ended;
  assert.ok(existsSync(folder));
});
