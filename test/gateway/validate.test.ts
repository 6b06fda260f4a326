import assert from "node:assert/strict";
import { test } from "node:test";
import { insistOnKnownOptions } from "../../src/gateway/options.ts";
import { validate } from "../../src/gateway/validate.ts";

/** What a program that gets a request wrong is told, exactly. */
const FAULTS: [request: unknown, message: string][] = [
  [{ command: "" }, "`command`: must not be empty; received ''."],
  [{ command: "ls", timeout: 5 }, "`timeout` is not a known field; did you mean `timeoutMs`?"],
  [{ command: "ls", frobnicate: 1 }, "`frobnicate` is not a known field."],
  [{ cmd: "ls" }, "`command`: must be of type string; received undefined."],
  ["ls", "The request: must be of type object; received 'ls'."],
  [{ command: "ls", args: "-l" }, "`args`: must be of type array; received '-l'."],
  [{ command: "ls", env: { A: 1 } }, "`env.A`: must be of type string; received 1."],
  [{ command: "ls", env: { "A=": "1" } }, "`env.A=`: must be a variable name without `=`; received '1'."],
  [
    { command: "cat", stdin: "hello" },
    '`stdin`: must be "none", "open" or { text } with at most 8388608 characters; received \'hello\'.',
  ],
];

for (const [request, message] of FAULTS) {
  test(`a request that is wrong: ${message}`, () => {
    assert.throws(() => validate(request), { name: "SallyportError", type: "InvalidRequest", message });
  });
}

test("an option that openGateway does not have is refused: it could have been the policy", () => {
  assert.throws(() => insistOnKnownOptions({ polciy: { security: "deny" } } as never), {
    type: "InvalidRequest",
    message: "`polciy` is not an option of openGateway; did you mean `policy`?",
  });
  insistOnKnownOptions({ policy: {}, workspace: "/tmp" });
});
