import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { TestService } from "../../fixtures/service.ts";
import { BODIES, type Described, describedOperations, pathOf, type Schema } from "./described.ts";

let service: TestService;
let all: Described[];
/** A running session, so that an operation has something to act on. */
let session: string;
before(async () => {
  service = await TestService.start();
  all = await describedOperations(service);
  const body = { command: "cat", stdin: "open", background: true };
  session = (await service.json<{ id: string }>("operator", "/v1/sessions", { body })).id;
});
after(async () => {
  await service.ask("operator", `/v1/sessions/${session}?force=true`, { method: "DELETE" });
  await service.close();
});

interface Refusal {
  error: { type: string; message: string; recovery: { action: string; hint: string }[] };
}

/** Asserts that a request is rejected with a client error that has a type, a message and a recovery hint. */
async function refused(
  operation: Described,
  asked: { path?: string; body?: unknown; headers?: Record<string, string> },
) {
  const role = operation.roles === "anyone" ? null : "operator";
  const { path = pathOf(operation, session), ...rest } = asked;
  const response = await service.ask(role, path, { method: operation.method, ...rest });
  const text = await response.text();
  const about = `${operation.id} ${JSON.stringify(asked).slice(0, 200)}: ${response.status} ${text.slice(0, 300)}`;
  assert.ok(response.status >= 400 && response.status < 500, about);
  const { error } = JSON.parse(text) as Refusal;
  assert.ok(error.message.length > 0 && error.message.length < 2000 && error.recovery[0]?.hint, about);
}

/** Returns values that do not match a schema. */
function misfits(schema: Schema): unknown[] {
  const types = schema.anyOf ? schema.anyOf.map(({ type }) => type) : [schema.type];
  const candidates: [string, unknown][] = [
    ["string", "\u0000 no such value \u202e"],
    ["number", 1e300],
    ["number", -1],
    ["boolean", true],
    ["object", { __proto__: null, x: 1 }],
    ["array", [[[]]]],
    ["null", null],
  ];
  const fits = (kind: string) =>
    types.some((type) => type === undefined || type === kind || (type === "integer" && kind === "number"));
  return candidates.filter(([kind]) => !fits(kind)).map(([, value]) => value);
}

test("rejects a body with a wrong value in any field, and names the problem", async () => {
  for (const operation of all) {
    if (!operation.body) continue;
    const good = BODIES[operation.id] ?? {};
    for (const [name, schema] of Object.entries(operation.body.properties)) {
      for (const value of misfits(schema)) await refused(operation, { body: { ...good, [name]: value } });
    }
    for (const name of operation.body.required ?? []) {
      await refused(operation, { body: { ...good, [name]: undefined } });
    }
  }
  assert.deepEqual(service.failures, []);
});

test("rejects a body that has an unknown field or is not an object", async () => {
  for (const operation of all) {
    if (operation.method === "GET") continue;
    const good = BODIES[operation.id] ?? {};
    for (const body of [
      { ...good, surprise: 1 },
      [good],
      "text",
      7,
      null,
      JSON.parse('{"__proto__":{"x":1},"constructor":1}'),
    ]) {
      if (operation.body || body !== null) await refused(operation, { body });
    }
  }
});

test("rejects a query with a wrong value, an unknown parameter or a repeated parameter", async () => {
  for (const operation of all) {
    const path = pathOf(operation, session);
    const join = path.includes("?") ? "&" : "?";
    await refused(operation, { path: `${path}${join}surprise=1`, ...bodyOf(operation) });
    for (const { name, schema } of operation.parameters.filter((each) => each.in === "query")) {
      const bare = path.split("?")[0];
      await refused(operation, { path: `${bare}?${name}=1&${name}=2`, ...bodyOf(operation) });
      if (schema.type === "string" && !schema.enum) continue;
      for (const value of ["x", "-99999999999999999999", "1.5", "%00", "[]"]) {
        await refused(operation, { path: `${bare}?${name}=${value}`, ...bodyOf(operation) });
      }
    }
  }
  assert.deepEqual(service.failures, []);
});

function bodyOf({ id }: Described): { body?: object } {
  return BODIES[id] ? { body: BODIES[id] } : {};
}

test("rejects an id that does not exist, whatever it contains", async () => {
  const ids = [
    "g0",
    "x",
    "..",
    "../..",
    "%2e%2e%2f",
    "a".repeat(255),
    "\u202e",
    "__proto__",
    "'; DROP TABLE sessions; --",
    "-",
  ];
  for (const operation of all) {
    if (!operation.path.includes("{")) continue;
    for (const id of ids) await refused(operation, { path: pathOf(operation, id), ...bodyOf(operation) });
  }
  assert.deepEqual(service.failures, []);
});

test("rejects a body that exceeds the limit of the operation", async () => {
  for (const operation of all) {
    if (!operation.body) continue;
    const response = await service
      .ask(operation.roles === "anyone" ? null : "operator", pathOf(operation, session), {
        method: "POST",
        body: {
          x: "y".repeat(
            operation.id === "run" ? (50 << 20) + 1 : operation.id === "sendInput" ? (12 << 20) + 1 : 1 << 20,
          ),
        },
      })
      .catch(() => null);
    // The server may close the connection while the client is still sending.
    if (response) assert.equal(response.status, 413, operation.id);
    await response?.text();
  }
});
