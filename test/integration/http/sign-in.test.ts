import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { TestService } from "../../fixtures/service.ts";

let service: TestService;
before(async () => {
  service = await TestService.start();
});
after(() => service.close());

const me = (headers: Record<string, string>) => service.ask(null, "/v1/me", { headers });

test("ignores cookies, which a server on another port can set", async () => {
  const headers = service.pageHeaders(await service.signIn());
  for (const cookie of ["sallyport=other", `sallyport=${"x".repeat(43)}`, "sallyport="]) {
    assert.equal((await me({ ...headers, cookie })).status, 200, cookie);
  }
  assert.equal((await me({ cookie: `sallyport=${headers["x-sallyport-key"]}` })).status, 401);
});

test("a sign-in link works once and signs in as an operator", async () => {
  const secret = service.link();
  const first = await service.ask(null, "/v1/sign-in", { body: { secret } });
  assert.equal(first.status, 200);
  assert.deepEqual(first.headers.getSetCookie(), []);
  const { name, role } = (await first.json()) as { name: string; role: string };
  assert.deepEqual({ name, role }, { name: "tester", role: "operator" });
  const second = await service.ask(null, "/v1/sign-in", { body: { secret } });
  assert.equal(second.status, 401);
});

test("a ticket reads its path once, and nothing else", async () => {
  const page = await service.signIn();
  const headers = service.pageHeaders(page);
  const issue = async (path: string) => {
    const response = await service.ask(null, "/v1/tickets", { body: { path }, headers });
    return ((await response.json()) as { ticket: string }).ticket;
  };
  const read = async (path: string, ticket: string) => (await service.ask(null, `${path}?ticket=${ticket}`)).status;
  const ticket = await issue("/v1/audit/export");
  assert.equal(await read("/v1/audit/export", ticket), 200);
  assert.equal(await read("/v1/audit/export", ticket), 401, "a second time");
  assert.equal(await read("/v1/sessions", await issue("/v1/audit/export")), 401, "another path");
  assert.equal(await read("/v1/me", page.key), 401, "the key is not a ticket");
  assert.equal((await service.ask(null, `/v1/me?key=${page.key}`)).status, 401, "the key in the address");
  const post = `/v1/sign-out?ticket=${await issue("/v1/sign-out")}`;
  assert.equal((await service.ask(null, post, { method: "POST", headers: { origin: service.url } })).status, 401);
  const late = await issue("/v1/me");
  await service.ask(null, "/v1/sign-out", { method: "POST", headers });
  assert.equal(await read("/v1/me", late), 401, "after the sign-out");
  assert.equal((await service.ask(null, "/v1/tickets", { body: { path: "/v1/me" } })).status, 401, "without a sign-in");
});

test("a token signs in with its own role, and the sign-in ends with the token", async () => {
  const { secret } = service.tokens.create({ name: "brief", role: "viewer", agent: "", createdBy: "tester" });
  const { key } = await service.signIn(secret);
  const headers = { "x-sallyport-key": key };
  assert.equal(((await (await me(headers)).json()) as { role: string }).role, "viewer");
  service.tokens.revoke("brief");
  assert.equal((await me(headers)).status, 401);
});

test("a sign-out invalidates the key", async () => {
  const signedIn = await service.signIn();
  const headers = service.pageHeaders(signedIn);
  const out = await service.ask(null, "/v1/sign-out", { method: "POST", headers });
  assert.equal(out.status, 200);
  assert.equal((await me(headers)).status, 401);
});
