import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { stopZygotes } from "../../fixtures/processes.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";

const box = new Sandbox();
mkdirSync(box.state, { mode: 0o700 });
const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=16m,mode=700,nr_inodes=3000", "tmpfs", box.state]);
const skip = mounted.status === 0 ? false : "a small file system can only be mounted by root";

after(async () => {
  if (!skip) {
    execFileSync("mount", ["-o", "remount,rw", box.state]);
    await stopZygotes(box.state);
    execFileSync("umount", ["-l", box.state]);
  }
  await box.remove();
});

const ballast = join(box.state, "ballast");

/** Leaves neither space nor, in the end, inodes. */
function fill(what: "space" | "inodes"): void {
  const { bavail, bsize, ffree } = statfsSync(box.state);
  if (what === "space") writeFileSync(ballast, Buffer.alloc(bavail * bsize));
  else for (let i = 0; i < ffree; i++) writeFileSync(`${ballast}-${i}`, "");
}

function empty(): void {
  for (const name of readdirSync(box.state)) if (name.startsWith("ballast")) rmSync(join(box.state, name));
}

async function succeeds(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await box.run(args);
  assert.equal(code, 0, `${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Runs the commands that show and remove sessions, and ends with enough space for new ones. */
async function everything(): Promise<void> {
  assert.match(await succeeds("ps", "-a"), /large.*small|small.*large/s);
  assert.equal(await succeeds("logs", "small"), "hi\n");
  assert.match(await succeeds("inspect", "small"), /completed/);
  for (const command of ["approvals", "audit", "work", "stats"]) await succeeds(command);
  assert.match((await box.run(["doctor"])).stdout, /^fail\tdisk\t/m);
  await succeeds("kill", "waiting");
  await succeeds("rm", "small");
}

async function prepare(): Promise<void> {
  await succeeds("run", "--name", "large", "--", "head", "-c", "3000000", "/dev/zero");
  await succeeds("run", "--name", "small", "--", "echo", "hi");
  await succeeds("run", "-d", "--name", "waiting", "--", "sleep", "600");
}

test("on a full disk, every command but `run` works, and frees it", { skip }, async () => {
  await prepare();
  fill("space");
  await everything();
  const refused = await box.run(["run", "--", "true"]);
  assert.equal(refused.code, 125);
  assert.match(refused.stderr, /the disk is full.*sallyport clean/s);
  assert.equal(JSON.parse(await succeeds("clean", "--keep", "0", "--json")).removed.length, 2);
  await succeeds("run", "--", "true");
  empty();
});

test("without inodes, every command but `run` works, and frees some", { skip }, async () => {
  await prepare();
  fill("inodes");
  await succeeds("ps", "-a");
  await succeeds("kill", "waiting");
  await succeeds("rm", "small");
  assert.match((await box.run(["run", "--", "true"])).stderr, /no inodes left/);
  empty();
  await succeeds("clean", "--keep", "0");
});

test("starting the command line writes no audit entry, even with a configuration file", { skip }, async () => {
  writeFileSync(join(box.operator, "sallyport.json"), "{}");
  const entries = async () => (await succeeds("audit", "export")).split("\n").length;
  const before = await entries();
  await succeeds("ps", "-a");
  assert.equal(await entries(), before);
  await succeeds("run", "--", "true");
  assert.match(await succeeds("audit", "search", "--kind", "config"), /sallyport\.json/);
});

test("a read-only file system is named, with what to do", { skip }, async () => {
  await stopZygotes(box.state);
  execFileSync("mount", ["-o", "remount,ro", box.state]);
  const { code, stderr } = await box.run(["ps", "-a"]);
  assert.equal(code, 125);
  assert.match(stderr, /its file system is read-only.*dmesg.*remount/s);
});
