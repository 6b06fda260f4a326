import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { SallyportError } from "../../../src/core/error.ts";
import { SignIns } from "../../../src/storage/sign-ins.ts";
import { type NewToken, Tokens } from "../../../src/storage/tokens.ts";
import { TestDatabase } from "../../fixtures/database.ts";
import { until } from "../../fixtures/until.ts";

const file = new TestDatabase();
const tokens = new Tokens(file.open());
after(() => file.remove());

const newToken = (name: string, more: Partial<NewToken> = {}): NewToken => {
  return { name, role: "agent", agent: "builder", createdBy: "ann", ...more };
};

function failsWith(type: string) {
  return (error: unknown) => error instanceof SallyportError && error.type === type && error.recovery.length > 0;
}

test("verifies a token by its exact secret", () => {
  const { token, secret } = tokens.create(newToken("laptop"));
  assert.equal(tokens.verify(secret)?.id, token.id);
  for (const wrong of ["", token.id, token.name, secret.slice(0, -1), `${secret} `, secret.toUpperCase()]) {
    assert.equal(tokens.verify(wrong), null, wrong);
  }
});

test("another process on the same state folder can verify a token", () => {
  const { secret } = tokens.create(newToken("shared"));
  assert.equal(new Tokens(file.open()).verify(secret)?.name, "shared");
});

test("the secret is not stored in the state folder", () => {
  const { secret } = tokens.create(newToken("unwritten"));
  tokens.verify(secret);
  for (const name of readdirSync(file.folder)) {
    assert.ok(!readFileSync(join(file.folder, name)).includes(secret), name);
  }
});

test("a revoked token is invalid immediately, in every process", () => {
  const other = new Tokens(file.open());
  const { token, secret } = tokens.create(newToken("lost"));
  assert.ok(other.isGood(token.id));
  assert.ok(tokens.revoke("lost").revokedAt);
  assert.equal(other.verify(secret), null);
  assert.ok(!other.isGood(token.id));
  const { revokedAt } = tokens.get("lost");
  assert.equal(tokens.revoke(token.id).revokedAt, revokedAt, "revoking again changes nothing");
});

test("an expired token is invalid", async () => {
  const { token, secret } = tokens.create(newToken("brief", { expiresMs: 50 }));
  await until("the token has expired", () => tokens.verify(secret) === null);
  assert.ok(!tokens.isGood(token.id));
});

test("tokens, sign-ins and sign-in links expire in time when the clock is set back", (t) => {
  let now = Date.now();
  t.mock.method(Date, "now", () => now);
  const signIns = new SignIns(file.open());
  const { secret } = tokens.create(newToken("hour", { expiresMs: 60_000 }));
  const signIn = { name: "ann", role: "operator", agent: "", token: null, expiresMs: 60_000 } as const;
  const { key } = signIns.create(signIn);
  const links = [signIns.makeLink(signIn), signIns.makeLink(signIn)] as const;
  const valid = () => [tokens.verify(secret) !== null, signIns.verify(key) !== null];
  assert.deepEqual(valid(), [true, true]);
  now -= 3_600_000;
  assert.deepEqual([...valid(), signIns.takeLink(links[0]) !== null], [true, true, true]);
  now += 60_000;
  assert.deepEqual([...valid(), signIns.takeLink(links[1]) !== null], [false, false, false]);
});

test("records the last use", () => {
  const { token, secret } = tokens.create(newToken("used"));
  assert.equal(token.lastUsedAt, null);
  tokens.verify(secret);
  assert.ok(tokens.get("used").lastUsedAt);
});

test("names are not reused after revocation", () => {
  tokens.create(newToken("once"));
  tokens.revoke("once");
  assert.throws(() => tokens.create(newToken("once")), failsWith("NameInUse"));
});

test("rejects an invalid name and an unknown token with a hint", () => {
  for (const name of ["", "-x", "a b", "x".repeat(64), "a\nb"]) {
    assert.throws(() => tokens.create(newToken(name)), failsWith("InvalidRequest"));
  }
  assert.throws(() => tokens.get("nobody"), failsWith("TokenNotFound"));
  assert.throws(() => tokens.revoke("nobody"), failsWith("TokenNotFound"));
});
