import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Token } from "../../../src/storage/tokens.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";

const box = new Sandbox();
after(() => box.remove());

async function listed(...args: string[]): Promise<Token[]> {
  return JSON.parse((await box.run(["token", "list", "--json", ...args])).stdout) as Token[];
}

test("token create prints only the secret, and list never shows it", async () => {
  const { stdout, code } = await box.run(["token", "create", "laptop", "--agent", "builder", "--expires", "30d"]);
  assert.equal(code, 0);
  assert.match(stdout, /^sallyport_[\w-]{43}\n$/);
  const { stdout: list } = await box.run(["token"]);
  assert.ok(!list.includes(stdout.trim().slice("sallyport_".length)));
  assert.match(list, /^[0-9a-f-]{36}\tlaptop\tagent\tbuilder\tactive\tnever\t20\S+\t\S+\n$/);
});

test("token create writes the secret to new private files instead of printing it", async () => {
  const folder = join(box.folder, "tokens");
  const files = { "--token-file": join(folder, "plain"), "--header-file": join(folder, "header") };
  const { stdout, code } = await box.run(["token", "create", "filed", ...Object.entries(files).flat()]);
  assert.deepEqual([code, stdout], [0, ""]);
  const secret = readFileSync(files["--token-file"], "utf8");
  assert.match(secret, /^sallyport_[\w-]{43}\n$/);
  assert.equal(readFileSync(files["--header-file"], "utf8"), `Authorization: Bearer ${secret}`);
  for (const file of Object.values(files)) assert.equal(statSync(file).mode & 0o777, 0o600);
  const again = await box.run(["token", "create", "other", "--token-file", files["--token-file"]]);
  assert.match(again.stderr, /already exists/);
  assert.ok(!(await listed()).some(({ name }) => name === "other"), "no token is created without its file");
});

test("token revoke revokes a token, and --all still lists it", async () => {
  await box.run(["token", "create", "old"]);
  assert.equal((await box.run(["token", "revoke", "old"])).code, 0);
  assert.ok(!(await listed()).some(({ name }) => name === "old"));
  assert.ok((await listed("--all")).some(({ name, revokedAt }) => name === "old" && revokedAt !== null));
});

test("audits the creation and revocation of a token, without the secret", async () => {
  const { stdout } = await box.run(["token", "create", "audited"]);
  await box.run(["token", "revoke", "audited"]);
  const { stdout: audit } = await box.run(["audit", "search", "audited", "--json"]);
  assert.match(audit, /"created"/);
  assert.match(audit, /"revoked"/);
  assert.ok(!audit.includes(stdout.trim()));
});

for (const [args, complaint] of [
  [["create"], /no name given/],
  [["create", "a", "b"], /unexpected argument `b`/],
  [["create", "a", "--role", "king"], /`--role` must be/],
  [["create", "a", "--expires", "0"], /must be greater than 0/],
  [["revoke"], /no token given/],
  [["revoke", "nobody"], /No such token: "nobody"/],
  [["burn"], /unknown subcommand `token burn`; use list, create, revoke or link/],
  [["list", "x"], /unexpected argument `x`/],
] as const) {
  test(`rejects token ${args.join(" ")}`, async () => {
    const { code, stderr } = await box.run(["token", ...args]);
    assert.equal(code, 125);
    assert.match(stderr, complaint);
  });
}
