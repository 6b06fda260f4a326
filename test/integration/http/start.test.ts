import assert from "node:assert/strict";
import { createConnection } from "node:net";
import { after, test } from "node:test";
import { TestService } from "../../fixtures/service.ts";

async function started(): Promise<TestService> {
  const service = await TestService.start();
  after(() => service.close());
  return service;
}

async function answerOf(service: TestService, path: string) {
  const response = await service.ask(null, path);
  const headers = Object.fromEntries(response.headers);
  delete headers.date;
  return { status: response.status, headers, body: await response.text() };
}

test("health checks have the same answers before and after the application is loaded", async () => {
  const service = await started();
  const paths = ["/healthz", "/readyz"];
  const first = await Promise.all(paths.map((path) => answerOf(service, path)));
  assert.deepEqual(
    first.map(({ status, body }) => [status, body]),
    [
      [200, '{"status":"ok"}'],
      [200, '{"status":"ready"}'],
    ],
  );
  await service.loaded;
  assert.deepEqual(await Promise.all(paths.map((path) => answerOf(service, path))), first);
  assert.equal((await answerOf(service, "/readyz?verbose")).status, 400);
  const metrics = await (await service.ask("viewer", "/metrics")).text();
  assert.match(metrics, /^sallyport_http_requests_total\{operation="health",status="200"\} 2$/m);
});

test("the first requests wait until the application is loaded", async () => {
  const service = await started();
  const asked = [
    service.ask("viewer", "/v1/sessions"),
    service.ask(null, "/v1/sessions"),
    service.ask(null, "/nowhere"),
  ];
  const answers = await Promise.all(asked);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 401, 404],
  );
});

test("a first request that is no terminal is refused as an upgrade", async () => {
  const service = await started();
  const { port } = new URL(service.url);
  const socket = createConnection(Number(port), "127.0.0.1");
  socket.write("GET /nowhere HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
  let text = "";
  for await (const chunk of socket) text += chunk;
  assert.match(text, /^HTTP\/1\.1 404 /);
});

test("a service that is closed at once releases its port", async () => {
  const service = await TestService.start();
  await service.close();
  await assert.rejects(fetch(service.url));
});
