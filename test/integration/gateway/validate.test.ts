import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { openGateway } from "../../../src/gateway/open.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";

let fixture: GatewayFixture;
let gateway: Gateway;
before(async () => {
  fixture = new GatewayFixture();
  gateway = await fixture.open();
});
after(() => fixture.close());

/** The exact message for each invalid request. */
const FAULTS: [request: unknown, message: string][] = [
  [{ command: "" }, "`command` must not be empty; received ''."],
  [{ command: "ls", timeout: 5 }, "Unknown field `timeout`; did you mean `timeoutMs`?"],
  [{ command: "ls", frobnicate: 1 }, "Unknown field `frobnicate`."],
  [{ cmd: "ls" }, "`command` must be a string; received undefined."],
  ["ls", "The request must be an object; received 'ls'."],
  [{ command: "ls", args: "-l" }, "`args` must be an array; received '-l'."],
  [{ command: "ls", env: { A: 1 } }, "`env.A` must be a string; received 1."],
  [{ command: "ls", env: { "A=": "1" } }, "`env.A=` must be a variable name without `=`; received '1'."],
  [
    { command: "cat", stdin: "hello" },
    '`stdin` must be "none", "open" or { text } with at most 8388608 characters; received \'hello\'.',
  ],
];

for (const [request, message] of FAULTS) {
  test(`rejects a request: ${message}`, async () => {
    await assert.rejects(gateway.run(request as never), { name: "SallyportError", type: "InvalidRequest", message });
  });
}

test("rejects an unknown option of openGateway", async () => {
  await assert.rejects(openGateway({ polciy: { security: "deny" } } as never), {
    type: "InvalidRequest",
    message: "`polciy` is not an option of openGateway; did you mean `policy`?",
  });
});
