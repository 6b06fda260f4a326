import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Token } from "../../../src/storage/tokens.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";

const box = new Sandbox();
after(() => box.remove());

async function listed(...args: string[]): Promise<Token[]> {
  return JSON.parse((await box.run(["token", "list", "--json", ...args])).stdout) as Token[];
}

test("token create prints the secret and nothing else, and list never shows it", async () => {
  const { stdout, code } = await box.run(["token", "create", "laptop", "--agent", "builder", "--expires", "30d"]);
  assert.equal(code, 0);
  assert.match(stdout, /^sallyport_[\w-]{43}\n$/);
  const { stdout: list } = await box.run(["token"]);
  assert.ok(!list.includes(stdout.trim().slice("sallyport_".length)));
  assert.match(list, /^[0-9a-f-]{36}\tlaptop\tagent\tbuilder\tgood\tnever\t20\S+\t\S+\n$/);
});

test("token revoke takes it back, and --all still lists it", async () => {
  await box.run(["token", "create", "old"]);
  assert.equal((await box.run(["token", "revoke", "old"])).code, 0);
  assert.ok(!(await listed()).some(({ name }) => name === "old"));
  assert.ok((await listed("--all")).some(({ name, revokedAt }) => name === "old" && revokedAt !== null));
});

test("making and revoking are in the audit, without the secret", async () => {
  const { stdout } = await box.run(["token", "create", "audited"]);
  await box.run(["token", "revoke", "audited"]);
  const { stdout: audit } = await box.run(["audit", "search", "audited", "--json"]);
  assert.match(audit, /"created"/);
  assert.match(audit, /"revoked"/);
  assert.ok(!audit.includes(stdout.trim()));
});

for (const [args, complaint] of [
  [["create"], /what is it to be called/],
  [["create", "a", "b"], /makes one token/],
  [["create", "a", "--role", "king"], /`--role` must be/],
  [["create", "a", "--expires", "0"], /in the future/],
  [["revoke"], /which token/],
  [["revoke", "nobody"], /No such token: "nobody"/],
  [["burn"], /knows create, list, revoke and link/],
  [["list", "x"], /takes no `x`/],
] as const) {
  test(`token ${args.join(" ")} is refused with a reason`, async () => {
    const { code, stderr } = await box.run(["token", ...args]);
    assert.equal(code, 125);
    assert.match(stderr, complaint);
  });
}
