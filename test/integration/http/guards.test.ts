import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { type SignedIn, TestService } from "../../fixtures/service.ts";
import { until } from "../../fixtures/until.ts";

let service: TestService;
let page: SignedIn;
before(async () => {
  service = await TestService.start();
  page = await service.signIn();
});
after(() => service.close());

interface Answer {
  status: number;
  headers: IncomingMessage["headers"];
  body: { error?: { type: string; recovery: { hint: string }[] } };
}

/** Sends exactly these headers; `fetch` does not allow setting Host and Origin. */
async function send(method: string, path: string, headers: OutgoingHttpHeaders, body?: string): Promise<Answer> {
  const asked = httpRequest(`${service.url}${path}`, { method, headers });
  asked.end(body);
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  const text = (await answer.toArray()).join("");
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: text ? JSON.parse(text) : {} };
}

const json = { "content-type": "application/json" };
const signedIn = () => ({ "x-sallyport-key": page.key });
const bearer = () => ({ authorization: `Bearer ${service.secrets.operator}` });
const host = () => new URL(service.url).host;
const run = '{"command":"true"}';

/** Sends a request line with a whole URL, as to a proxy, and returns the status of the response. */
async function statusOf(url: string): Promise<number | undefined> {
  const { hostname, port } = new URL(service.url);
  const asked = httpRequest({ hostname, port, path: url, headers: bearer() }).end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

test("rejects a URL that names another host than the header", async () => {
  for (const [url, expected] of [
    ["http://evil.example/v1/me", 403],
    ["HTTP://evil.example/v1/me", 400], // Node itself rejects it
    [`${service.url}/v1/me`, 200],
  ] as const)
    assert.equal(await statusOf(url), expected, url);
});

test("rejects an unknown host name, whatever it resolves to", async () => {
  const port = new URL(service.url).port;
  const names = [
    `evil.example:${port}`,
    "evil.example",
    `127.0.0.1.evil.example:${port}`,
    `localhost.evil.example:${port}`,
    "127.0.0.1@evil.example",
  ];
  for (const name of names) {
    for (const headers of [bearer(), signedIn(), {}]) {
      const { status, body } = await send("GET", "/v1/me", { ...headers, host: name });
      // Node itself rejects malformed host names.
      if (status !== 400) assert.deepEqual([status, body.error?.type], [403, "WrongHost"], name);
    }
    assert.ok([400, 403].includes((await send("GET", "/", { host: name })).status), name);
  }
  for (const name of [`localhost:${port}`, `LOCALHOST:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
    assert.equal((await send("GET", "/v1/me", { ...bearer(), host: name })).status, 200, name);
  }
});

test("rejects every request that a browser lets another website send", async () => {
  const foreign = [
    { origin: "https://evil.example" },
    { origin: "null" },
    // Another port is another origin.
    { origin: "http://127.0.0.1:3000" },
    { origin: `https://${host()}.evil.example` },
    { origin: `http://user@${host()}` },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: service.url, "sec-fetch-site": "cross-site" },
  ];
  for (const headers of foreign) {
    const { status, body } = await send("POST", "/v1/sessions", { ...signedIn(), ...json, ...headers }, run);
    assert.deepEqual([status, body.error?.type], [403, "WrongOrigin"], JSON.stringify(headers));
    const read = await send("GET", "/v1/sessions", { ...signedIn(), ...headers });
    assert.deepEqual([read.status, read.body.error?.type], [403, "WrongOrigin"], JSON.stringify(headers));
  }
  // A browser always sends the origin of a change, so a request with a key but without one does not come from the console.
  const silent = await send("POST", "/v1/sessions", { ...signedIn(), ...json }, run);
  assert.deepEqual([silent.status, silent.body.error?.type], [403, "WrongOrigin"]);
  assert.deepEqual(service.gateway.list(), []);
});

test("rejects a form sent by another website, because only JSON is accepted", async () => {
  const own = { ...signedIn(), origin: service.url };
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
  ]) {
    const { status, body } = await send("POST", "/v1/sessions", { ...own, "content-type": type }, run);
    assert.deepEqual([status, body.error?.type], [415, "UnsupportedMediaType"], type);
  }
  const { status } = await send("POST", "/v1/sessions", own, run);
  assert.equal(status, 415);
  assert.deepEqual(service.gateway.list(), []);
});

test("accepts requests of the console with the headers that browsers send", async () => {
  for (const headers of [{ origin: service.url }, { "sec-fetch-site": "same-origin" }]) {
    const { status } = await send("POST", "/v1/check", { ...signedIn(), ...json, ...headers }, run);
    assert.equal(status, 200);
  }
});

test("no response can be read by another origin or displayed as a page", async () => {
  const paths = ["/v1/me", "/v1/sessions", "/nowhere", "/v1/sessions/x/logs/raw", "/openapi.json"];
  for (const path of paths) {
    const { headers } = await send("GET", path, bearer());
    assert.equal(headers["access-control-allow-origin"], undefined);
    assert.equal(headers["x-content-type-options"], "nosniff", path);
    assert.equal(headers["cache-control"], "no-store", path);
    assert.match(String(headers["content-security-policy"]), /default-src 'none'.*frame-ancestors 'none'/, path);
  }
  const preflight = await send("OPTIONS", "/v1/sessions", {
    origin: "https://evil.example",
    "access-control-request-method": "POST",
  });
  assert.equal(preflight.status, 405);
  assert.equal(preflight.headers["access-control-allow-origin"], undefined);
});

test("rejects a body that is too long, with or without a length, without reading all of it", async () => {
  const headers = { ...bearer(), ...json };
  const said = await send("POST", "/v1/check", { ...headers, "content-length": String(64 << 20) }, "{").catch(
    () => null,
  );
  assert.equal(said?.status, 413);
  const long = JSON.stringify({ command: "x".repeat(3 << 20) });
  const unsaid = await send("POST", "/v1/check", { ...headers, "transfer-encoding": "chunked" }, long).catch(
    () => null,
  );
  // The server may close the connection while the client is still sending.
  if (unsaid) assert.equal(unsaid.status, 413);
  for (const bad of ["{", "\u0000", "[]", "null", '"x"', '{"command":"a"'.repeat(3)]) {
    assert.equal((await send("POST", "/v1/check", headers, bad)).status, 400, bad);
  }
  assert.equal((await send("GET", "/v1/me", bearer())).status, 200);
});

test("responds to all wrong secrets in the same way", async () => {
  const { operator } = service.secrets;
  const wrong = [operator.slice(0, -1), `${operator}x`, operator.toUpperCase(), "sallyport_", "x".repeat(600), "ä"];
  const bodies = new Set<string>();
  for (const secret of wrong) {
    const { status, body } = await send("GET", "/v1/me", {
      authorization: Buffer.from(`Bearer ${secret}`).toString("latin1"),
    });
    assert.equal(status, 401, secret);
    bodies.add(JSON.stringify(body));
  }
  assert.equal(bodies.size, 1);
  // A valid key does not make up for an invalid token.
  assert.equal((await send("GET", "/v1/me", { ...signedIn(), authorization: "Bearer x" })).status, 401);
});

test("survives input that is not HTTP and requests that are not completed", async () => {
  const port = Number(new URL(service.url).port);
  const texts = [
    "\0\0\0\0\r\n\r\n",
    "GET / HTTP/9.9\r\n\r\n",
    "POST /v1/check HTTP/1.1\r\nhost: localhost\r\ncontent-length: 50\r\n\r\n{",
  ];
  for (const text of texts) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.end(text);
    socket.resume();
    await once(socket, "close");
  }
  const odd = [
    "/v1/sessions/%00",
    "/v1/sessions/%ff",
    "/v1/sessions/..%2f..%2fetc",
    "//v1/me",
    "/v1/../v1/me",
    "/%",
    `/v1/sessions/${"x".repeat(2000)}`,
  ];
  for (const path of odd) {
    const asked = httpRequest({ port, path, host: "127.0.0.1", headers: bearer() });
    asked.end();
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    await answer.toArray();
    assert.ok([200, 400, 404].includes(answer.statusCode ?? 0), `${path}: ${answer.statusCode}`);
  }
  assert.deepEqual(service.failures, []);
});

test("limits the rate of failed sign-ins", async () => {
  const signIn = (secret: string) => send("POST", "/v1/sign-in", json, JSON.stringify({ secret }));
  // The limiter allows one more attempt per interval.
  const guess = async (secret: string) => {
    let answer = await signIn(secret);
    for (let attempt = 0; attempt < 40 && answer.status === 401; attempt++) answer = await signIn(secret);
    return answer;
  };
  const refused = await guess("not this one");
  assert.deepEqual([refused.status, refused.body.error?.type], [429, "TooManyAttempts"]);
  assert.ok(Number(refused.headers["retry-after"]) > 0);
  // The guesses may come from a command on this machine: the operator at the same address can still sign in.
  const secret = service.link();
  assert.equal((await signIn(secret)).status, 200);
  assert.equal((await guess(secret)).status, 429);
  const told = service.gateway.audit.search({ kind: "sign-in", outcome: "refused" });
  assert.deepEqual(
    told.map(({ actor, detail }) => [actor, detail]),
    [["127.0.0.1", { address: "127.0.0.1", attempts: 1 }]],
  );
});

test("limits concurrent large bodies, including those of unknown length, but not small ones", async () => {
  const path = "/v1/sessions";
  const headers = { ...bearer(), ...json };
  const open = Array.from({ length: 4 }, (_, index) => {
    const length = index % 2 ? { "content-length": 2 << 20 } : { "transfer-encoding": "chunked" };
    const asked = httpRequest(`${service.url}${path}`, { method: "POST", headers: { ...headers, ...length } });
    asked.on("error", () => {}); // aborted below
    asked.write("{");
    return asked;
  });
  const large = () => send("POST", path, { ...headers, "content-length": 2 << 20, expect: "100-continue" });
  const chunked = () => send("POST", path, { ...headers, "transfer-encoding": "chunked" }, run);
  await until("all slots are taken", async () => (await chunked()).status === 429);
  const refused = await large();
  assert.deepEqual([refused.status, refused.body.error?.type], [429, "TooManyBodies"]);
  assert.ok(Number(refused.headers["retry-after"]) > 0);
  assert.equal((await send("POST", path, headers, run)).status, 200);
  for (const asked of open) asked.destroy();
  await until("a slot is free again", async () => (await chunked()).status === 200);
});
