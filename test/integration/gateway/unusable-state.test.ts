import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { SallyportError } from "../../../src/core/error.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { OtherGateway } from "../../fixtures/other-gateway.ts";

const root = process.getuid?.() === 0;

function teaches(type: string, message: RegExp): (error: SallyportError) => boolean {
  return (error) => {
    assert.equal(error.name, "SallyportError", `${error.stack}`);
    assert.equal(error.type, type);
    assert.match(error.message, message);
    assert.ok(error.recovery.length > 0);
    return true;
  };
}

const canMount = root && spawnSync("unshare", ["-m", "true"]).status === 0;

test("reports a read-only state folder", {
  skip: canMount ? false : "requires root to mount the folder read-only",
}, async (t) => {
  const fixture = new GatewayFixture();
  t.after(() => fixture.close());
  const gateway = await fixture.open();
  await gateway.run({ command: "true" });
  const readOnly = `mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"`;
  const through = ["unshare", "-m", "sh", "-c", readOnly, fixture.state];
  await assert.rejects(
    OtherGateway.open(fixture, { through }),
    teaches("StateUnusable", /its file system is read-only/),
  );
  assert.equal((await gateway.run({ command: "echo fine" })).stdout, "fine\n");
});

test("rejects a file system on which a state folder cannot work, and remembers one on which it can", {
  skip: canMount ? false : "requires root to mount a file system",
}, async (t) => {
  const fixture = new GatewayFixture();
  t.after(() => fixture.close());
  await fixture.open();
  const record = join(fixture.state, "file-system");
  assert.match(readFileSync(record, "utf8"), /^\d+ [0-9a-f]{12}/);
  // Files of hugetlbfs cannot be written, which stands for the file systems that lack something.
  const through = ["unshare", "-m", "sh", "-c", 'mount -t hugetlbfs none "$0" && exec "$@"', fixture.state];
  await assert.rejects(
    OtherGateway.open(fixture, { through }),
    teaches("StateUnusable", /is on a hugetlbfs file system without shared memory maps \(/),
  );
});

test("reports a state folder that is a file or whose parent is one", async (t) => {
  const fixture = new GatewayFixture();
  t.after(() => fixture.close());
  writeFileSync(fixture.path("file"), "");
  await assert.rejects(
    fixture.open({ state: fixture.path("file", "state") }),
    teaches("StateUnusable", /cannot be created/),
  );
  await assert.rejects(fixture.open({ state: fixture.path("file") }), teaches("StateUnusable", /./));
  symlinkSync("nowhere", fixture.path("dangling"));
  await assert.rejects(fixture.open({ state: fixture.path("dangling") }), teaches("StateUnusable", /./));
});

test("rejects another user's state folder", {
  skip: root ? false : "requires root to run as another user",
}, async (t) => {
  const fixture = new GatewayFixture();
  t.after(() => fixture.close());
  await fixture.open();
  chmodSync(fixture.folder, 0o755);
  chmodSync(fixture.state, 0o777);
  const through = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups", "--"];
  await assert.rejects(OtherGateway.open(fixture, { through }), teaches("StateUnusable", /another user/));
});

test("removes other users' access to the state folder", async (t) => {
  const fixture = new GatewayFixture();
  t.after(() => fixture.close());
  mkdirSync(fixture.state, { mode: 0o755 });
  const gateway = await fixture.open();
  await gateway.run({ command: "true" });
  assert.equal(statSync(fixture.state).mode & 0o777, 0o700);
  assert.equal(statSync(join(fixture.state, "sessions")).mode & 0o777, 0o700);
});

const BAD_DATABASES: [string, (path: string) => void, RegExp][] = [
  ["garbage", (path) => writeFileSync(path, "this is not a database, is it? ".repeat(500)), /damaged/],
  ["a database cut in half", cutInHalf, /damaged|malformed/],
  ["a database with corrupted pages", spoil, /damaged|malformed/],
  ["a folder", (path) => mkdirSync(path), /unable to open|directory/i],
];

function made(path: string): Buffer {
  const fixture = join(path, "..", "..", "made");
  const script = `const { openGateway } = await import(process.argv[1]); const g = await openGateway({ state: process.argv[2] }); for (let i = 0; i < 40; i++) await g.run({ command: "true", intent: "x".repeat(3000) }); await g.close(); const { DatabaseSync } = await import("node:sqlite"); const d = new DatabaseSync(process.argv[2] + "/sallyport.db"); d.exec("PRAGMA wal_checkpoint(TRUNCATE)"); d.close();`;
  const open = new URL("../../../src/gateway/open.ts", import.meta.url).href;
  const ran = spawnSync(process.execPath, ["--input-type=module", "-e", script, open, fixture], { encoding: "utf8" });
  assert.equal(ran.status, 0, ran.stderr);
  return readFileSync(join(fixture, "sallyport.db"));
}

function cutInHalf(path: string): void {
  const bytes = made(path);
  writeFileSync(path, bytes.subarray(0, bytes.length >> 1));
}

function spoil(path: string): void {
  const bytes = made(path);
  bytes.fill(0xa5, 4096 + 100, 4096 * 3);
  bytes.fill(0xff, 100, 600);
  writeFileSync(path, bytes);
}

for (const [name, spoilIt, message] of BAD_DATABASES) {
  test(`${name} in place of the database is an error and stays unchanged`, async (t) => {
    const fixture = new GatewayFixture();
    t.after(() => fixture.close());
    mkdirSync(fixture.state, { mode: 0o700 });
    const path = join(fixture.state, "sallyport.db");
    spoilIt(path);
    const before = statSync(path).isFile() ? readFileSync(path) : null;
    await assert.rejects(fixture.open(), teaches("StateUnusable", message));
    await assert.rejects(fixture.open(), teaches("StateUnusable", message), "the second attempt did not fail");
    if (before) assert.ok(readFileSync(path).equals(before), "the file was changed");
    rmSync(path, { recursive: true });
    const gateway = await fixture.open();
    assert.equal((await gateway.run({ command: "echo afresh" })).stdout, "afresh\n");
  });
}

test("rejects a database of a newer version and does not change it", async (t) => {
  const { DatabaseSync } = await import("node:sqlite");
  const fixture = new GatewayFixture();
  t.after(() => fixture.close());
  const gateway = await fixture.open();
  await gateway.run({ command: "true", name: "before" });
  await gateway.close();
  const path = join(fixture.state, "sallyport.db");
  const set = (version: number) => {
    const database = new DatabaseSync(path, { timeout: 20_000 });
    const before = Number(database.prepare("PRAGMA user_version").get()?.user_version);
    database.exec(`PRAGMA user_version = ${version}`);
    database.close();
    return before;
  };
  const version = set(9999);
  copyFileSync(path, fixture.path("copy"));
  await assert.rejects(fixture.open(), teaches("StateUnusable", /newer version of Sallyport.*9999/));
  assert.ok(readFileSync(path).equals(readFileSync(fixture.path("copy"))));
  set(version);
  const again = await fixture.open();
  assert.equal(again.session("before").info().status, "completed");
});

for (const [name, parts] of [
  ["is long", Array(12).fill("a-rather-long-folder-name")],
  ["is long and contains umlauts", Array(8).fill("überlänge")],
  ["contains spaces, quotes and a newline", ['it\'s a "state" folder', "new\nline"]],
] as const) {
  test(`a state folder whose path ${name} can be used`, async (t) => {
    const root = mkdtempSync(join(tmpdir(), "sallyport-deep-"));
    const fixture = new GatewayFixture(join(root, ...parts));
    t.after(async () => {
      rmSync(root, { recursive: true, maxRetries: 10 });
    });
    const gateway = await fixture.open();
    assert.equal((await gateway.run({ command: "echo fine" })).stdout, "fine\n");
    const session = await gateway.start({ command: "sleep 60" });
    const other = await fixture.open();
    assert.equal((await other.session(session.id).kill()).status, "killed");
  });
}

test("reports a missing keeper and how to install it", async (t) => {
  const fixture = new GatewayFixture();
  t.after(() => fixture.close());
  const missing = await OtherGateway.open(fixture, { env: { SALLYPORT_KEEPER: "/no/such/keeper" } });
  await assert.rejects(
    missing.ask({ call: "run", request: { command: "true" } }),
    teaches("KeeperUnavailable", /not been built/),
  );
  await missing.close();
  writeFileSync(fixture.path("keeper.id"), "abc");
  const gone = await OtherGateway.open(fixture, { env: { SALLYPORT_KEEPER: fixture.path("keeper") } });
  await assert.rejects(gone.ask({ call: "run", request: { command: "true" } }), teaches("KeeperUnavailable", /ENOENT/));
  await gone.close();
  writeFileSync(fixture.path("keeper"), "#!/bin/sh\necho no luck today >&2; exit 1\n", { mode: 0o755 });
  const broken = await OtherGateway.open(fixture, { env: { SALLYPORT_KEEPER: fixture.path("keeper") } });
  await assert.rejects(
    broken.ask({ call: "run", request: { command: "true" } }),
    teaches("KeeperUnavailable", /no luck today/),
  );
  assert.deepEqual(await broken.ask({ call: "list" }), [], "a session was recorded for a command that never ran");
  await broken.close();
});

test("a removed state folder is an error for its gateway, and its keepers exit", async (t) => {
  const fixture = new GatewayFixture();
  t.after(() => fixture.close());
  const gateway = await fixture.open();
  await gateway.run({ command: "true" });
  await fixture.stopKeepers();
  rmSync(fixture.state, { recursive: true });
  const outcome = await gateway.run({ command: "echo ran" }).catch((error: SallyportError) => error);
  if (outcome instanceof Error) assert.equal(outcome.name, "SallyportError", `${outcome.stack}`);
  else assert.deepEqual([outcome.stdout, outcome.error?.type], ["", "SessionLost"]);
});
