import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { SallyportError } from "../../../src/core/error.ts";
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

test("a token is known by its secret, and by nothing near it", () => {
  const { token, secret } = tokens.create(newToken("laptop"));
  assert.equal(tokens.verify(secret)?.id, token.id);
  for (const wrong of ["", token.id, token.name, secret.slice(0, -1), `${secret} `, secret.toUpperCase()]) {
    assert.equal(tokens.verify(wrong), null, wrong);
  }
});

test("another process on the same state folder knows it too", () => {
  const { secret } = tokens.create(newToken("shared"));
  assert.equal(new Tokens(file.open()).verify(secret)?.name, "shared");
});

test("its secret is nowhere in the state folder", () => {
  const { secret } = tokens.create(newToken("unwritten"));
  tokens.verify(secret);
  for (const name of readdirSync(file.folder)) {
    assert.ok(!readFileSync(join(file.folder, name)).includes(secret), name);
  }
});

test("one that was revoked is good for nothing, at once and in every process", () => {
  const other = new Tokens(file.open());
  const { token, secret } = tokens.create(newToken("lost"));
  assert.ok(other.isGood(token.id));
  assert.ok(tokens.revoke("lost").revokedAt);
  assert.equal(other.verify(secret), null);
  assert.ok(!other.isGood(token.id));
  const { revokedAt } = tokens.get("lost");
  assert.equal(tokens.revoke(token.id).revokedAt, revokedAt, "revoking again changes nothing");
});

test("one that has expired is good for nothing", async () => {
  const { token, secret } = tokens.create(newToken("brief", { expiresMs: 50 }));
  await until("it has expired", () => tokens.verify(secret) === null);
  assert.ok(!tokens.isGood(token.id));
});

test("its use is noted", () => {
  const { token, secret } = tokens.create(newToken("used"));
  assert.equal(token.lastUsedAt, null);
  tokens.verify(secret);
  assert.ok(tokens.get("used").lastUsedAt);
});

test("names are taken for good: in the audit each means one token", () => {
  tokens.create(newToken("once"));
  tokens.revoke("once");
  assert.throws(() => tokens.create(newToken("once")), failsWith("NameInUse"));
});

test("a bad name and an unknown one are refused with a way out", () => {
  for (const name of ["", "-x", "a b", "x".repeat(64), "a\nb"]) {
    assert.throws(() => tokens.create(newToken(name)), failsWith("InvalidRequest"));
  }
  assert.throws(() => tokens.get("nobody"), failsWith("TokenNotFound"));
  assert.throws(() => tokens.revoke("nobody"), failsWith("TokenNotFound"));
});
