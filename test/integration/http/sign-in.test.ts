import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { TestService } from "../../fixtures/service.ts";

let service: TestService;
before(async () => {
  service = await TestService.start();
});
after(() => service.close());

const me = (headers: Record<string, string>) => service.ask(null, "/v1/me", { headers });

test("ignores a malformed cookie of the same name that a server on another port has set", async () => {
  const headers = service.pageHeaders(await service.signIn());
  assert.equal((await me({ ...headers, cookie: `sallyport=other; ${headers.cookie}` })).status, 200);
  assert.equal((await me({ ...headers, cookie: "sallyport=other" })).status, 401);
});

test("a sign-in link works once and signs in as an operator", async () => {
  const secret = service.link();
  const first = await service.ask(null, "/v1/sign-in", { body: { secret } });
  assert.equal(first.status, 200);
  assert.match(
    first.headers.getSetCookie()[0] ?? "",
    /^sallyport=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  const { name, role } = (await first.json()) as { name: string; role: string };
  assert.deepEqual({ name, role }, { name: "tester", role: "operator" });
  const second = await service.ask(null, "/v1/sign-in", { body: { secret } });
  assert.equal(second.status, 401);
});

test("rejects the cookie without the key, and the key without the cookie", async () => {
  const { cookie, key } = await service.signIn();
  assert.equal((await me({ cookie, "x-sallyport-key": key })).status, 200);
  assert.equal((await me({ cookie })).status, 401);
  assert.equal((await me({ "x-sallyport-key": key })).status, 401);
  const other = await service.signIn();
  assert.equal((await me({ cookie, "x-sallyport-key": other.key })).status, 401);
});

test("a token signs in with its own role, and the sign-in ends with the token", async () => {
  const { secret } = service.tokens.create({ name: "brief", role: "viewer", agent: "", createdBy: "tester" });
  const { cookie, key } = await service.signIn(secret);
  const headers = { cookie, "x-sallyport-key": key };
  assert.equal(((await (await me(headers)).json()) as { role: string }).role, "viewer");
  service.tokens.revoke("brief");
  assert.equal((await me(headers)).status, 401);
});

test("a sign-out invalidates the cookie", async () => {
  const signedIn = await service.signIn();
  const headers = service.pageHeaders(signedIn);
  const out = await service.ask(null, "/v1/sign-out", { method: "POST", headers });
  assert.equal(out.status, 200);
  assert.match(out.headers.getSetCookie()[0] ?? "", /^sallyport=; .*Max-Age=0/);
  assert.equal((await me(headers)).status, 401);
});
