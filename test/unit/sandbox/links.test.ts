import assert from "node:assert/strict";
import { lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { LinkResolver } from "../../../src/sandbox/paths/links.ts";
import { until } from "../../fixtures/until.ts";

const folder = mkdtempSync(join(tmpdir(), "sallyport-links-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const home = join(folder, "home");
const elsewhere = join(folder, "elsewhere");
for (const path of [home, elsewhere]) mkdirSync(path);

/** Resolves paths in `home` as a later command would, when the folder has not been changed for some time. */
async function resolved(name: string): Promise<{ real: string; links: readonly string[]; exists: boolean }> {
  await until("the folder is settled", () => Date.now() - lstatSync(home).ctimeMs > 50);
  return new LinkResolver({ settledMs: 40 }).resolve(join(home, name));
}

test("finds what appears, changes or disappears in a folder whose entries are remembered", async () => {
  const absent = { real: join(home, ".aws/config"), links: [], exists: false };
  assert.deepEqual(await resolved(".aws/config"), absent);
  assert.deepEqual(await resolved(".aws/config"), absent);
  symlinkSync(elsewhere, join(home, ".aws"));
  const behind = { real: join(elsewhere, "config"), links: [join(home, ".aws")], exists: false };
  assert.deepEqual(await resolved(".aws/config"), behind);
  writeFileSync(join(elsewhere, "config"), "");
  assert.deepEqual(await resolved(".aws/config"), { ...behind, exists: true });
  mkdirSync(join(home, "other"));
  rmSync(join(home, ".aws"));
  renameSync(join(home, "other"), join(home, ".aws"));
  assert.deepEqual(await resolved(".aws/config"), absent);
});

test("reports whether what was looked up is current", async () => {
  const look = async () => {
    await until("the folder is settled", () => Date.now() - lstatSync(home).ctimeMs > 50);
    const resolver = new LinkResolver({ settledMs: 40 });
    resolver.resolve(join(home, ".netrc"));
    resolver.resolve(join(home, "linked/file"));
    resolver.list(elsewhere);
    return resolver;
  };
  const first = await look();
  assert.ok(first.isCurrent());
  writeFileSync(join(home, "unrelated"), "");
  assert.ok(first.isCurrent());
  writeFileSync(join(home, ".netrc"), "");
  assert.ok(!first.isCurrent());
  symlinkSync(elsewhere, join(home, "linked"));
  const second = await look();
  assert.ok(second.isCurrent());
  writeFileSync(join(elsewhere, "file"), "");
  assert.ok(!second.isCurrent());
  const third = await look();
  rmSync(join(home, "linked"));
  symlinkSync(folder, join(home, "linked"));
  assert.ok(!third.isCurrent());
});

test("finds a folder that was put in place of another", async () => {
  assert.equal((await resolved(".ssh/id")).exists, false);
  const other = join(folder, "other-home");
  mkdirSync(join(other, ".ssh"), { recursive: true });
  writeFileSync(join(other, ".ssh/id"), "");
  renameSync(home, join(folder, "old-home"));
  renameSync(other, home);
  assert.equal((await resolved(".ssh/id")).exists, true);
});
