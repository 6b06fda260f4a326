import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { UNATTENDED } from "../../fixtures/operator-file.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";

const box = new Sandbox();
after(() => box.remove());

/** The operator's configuration has one allowlist entry, so every other command requires a grant. */
const config = join(box.folder, "config");
mkdirSync(join(config, "sallyport"), { recursive: true });
writeFileSync(
  join(config, "sallyport", "sallyport.json"),
  JSON.stringify({
    ...UNATTENDED,
    security: "allowlist",
    scope: "anywhere",
    allowlist: [{ pattern: "ls", args: "-a **", note: "harmless" }],
  }),
);
const run = (...args: string[]) => box.run(args, { env: { XDG_CONFIG_HOME: config } });
const isPending = async (...argv: string[]) => {
  const { code, stderr } = await run("run", "-d", "--", ...argv);
  return code === 126 && stderr.includes("approve");
};

test("a grant allows exactly the command it was created for", async () => {
  assert.equal(await isPending("ls", "-d", "/"), true);
  const added = await run("allow", "add", "--", "ls", "-d", "/");
  assert.equal(added.code, 0, added.stderr);
  assert.match(added.stderr, /^Created grant: \/.*ls -d \/\n$/);
  assert.equal((await run("run", "--", "ls", "-d", "/")).stdout, "/\n");
  assert.equal(await isPending("ls", "-l", "/"), true);
  const [grant] = JSON.parse((await run("allow", "--json")).stdout);
  assert.equal((await run("allow", "remove", grant.id)).code, 0);
  assert.equal(await isPending("ls", "-d", "/"), true);
});

test("a grant can have patterns and an expiry, and applies to one folder", async () => {
  const added = await run("allow", "add", "--args", "-d *", "--expires", "1h", "--json", "--", "ls", "-d", "x");
  const [grant] = JSON.parse(added.stdout);
  assert.deepEqual(grant.args, { kind: "pattern", patterns: ["-d", "*"] });
  assert.equal(typeof grant.expiresAt, "string");
  assert.equal(grant.cwd, box.folder);
});

for (const [argv, why] of [
  [["bash", "-c", "ls"], /runs other commands/],
  [["rm", "-rf", "/"], /Blocked/],
  [["sudo", "id"], /Denied/],
  [[], /no command given/],
] as [string[], RegExp][]) {
  test(`rejects a grant for ${argv.join(" ") || "no command"}`, async () => {
    const { code, stderr } = await run("allow", "add", "--", ...argv);
    assert.notEqual(code, 0);
    assert.match(stderr, why);
  });
}

test("--configured lists the allowlist with the last use of each entry", async () => {
  const list = async () => JSON.parse((await run("allow", "list", "--configured", "--json")).stdout);
  assert.deepEqual(await list(), [{ pattern: "ls", args: "-a **", note: "harmless", lastUsed: null }]);
  assert.match((await run("run", "--", "ls", "-a", "/")).stdout, /^usr$/m);
  const [{ lastUsed }] = await list();
  assert.ok(Date.now() - Date.parse(lastUsed) < 60_000);
});
