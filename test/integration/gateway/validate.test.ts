import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { RunRequest } from "../../../src/core/request.ts";
import { insistOnKnownOptions } from "../../../src/gateway/options.ts";
import { validate } from "../../../src/gateway/validate.ts";

/** The exact message for each invalid request. */
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
  test(`rejects a request: ${message}`, () => {
    assert.throws(() => validate(request), { name: "SallyportError", type: "InvalidRequest", message });
  });
}

const NULLISH = [undefined, null];
/** Right, wrong and odd: what each field may be given, and what it may not. */
const VALUES: Record<string, unknown[]> = {
  command: ["ls", "", "a\0b", 5, ["ls"], ...NULLISH],
  args: [[], ["a", ""], ["\0"], [1], new Array(1), "a", {}, ...NULLISH],
  cwd: [".", "", "/a\0b", ...NULLISH],
  env: [{}, { A: "1" }, { "": "1" }, { "A=": "1" }, { A: 1 }, { A: "\0" }, [], ...NULLISH],
  stdin: ["none", "open", "text", { text: "x" }, { text: 1 }, { text: "x", more: 1 }, ...NULLISH],
  capture: ["merged", "both", ...NULLISH],
  timeoutMs: [
    0,
    1.5,
    -1,
    Number.NaN,
    "5",
    2_147_483_647,
    2_147_483_648,
    2_147_483_647_000,
    2_147_483_647_001,
    ...NULLISH,
  ],
  diskCap: [0, 1, 65_536, ...NULLISH],
  name: ["a", "-a", "a b", ...NULLISH],
  network: ["on", { ports: [80] }, { ports: [0] }, ...NULLISH],
  writable: [["/a"], [""], ...NULLISH],
  limits: [{ cpu: 1 }, { cpu: 0 }, { cpus: 1 }, {}, ...NULLISH],
  pty: ["auto", true, "yes", ...NULLISH],
  size: [{ columns: 80, rows: 24 }, { columns: 80 }, ...NULLISH],
  intent: ["why", 5, ...NULLISH],
  unknown: [1],
  constructor: [1],
  toString: ["x"],
};

/** Every field by itself and beside a command, and every two of them. */
function* requests(): Generator<unknown> {
  const singles = Object.entries(VALUES).flatMap(([name, values]) => values.map((value) => ({ [name]: value })));
  for (const one of singles) {
    yield one;
    yield { command: "ls", ...one };
    for (const other of singles) yield { command: "ls", ...one, ...other };
  }
  yield Object.create({ command: "ls" });
  yield Object.assign(Object.create({ cwd: "/" }), { command: "ls" });
  yield Object.assign(Object.create(null), { command: "ls", args: ["a"] });
  yield JSON.parse('{"command":"ls","__proto__":{"cwd":"/"}}');
  yield [];
  yield Object.assign(["ls"], { command: "ls" });
}

test("accepts and rejects exactly the requests that the schema does", () => {
  let taken = 0;
  for (const request of requests()) {
    const whole = RunRequest.safeParse(request);
    const label = inspect(request);
    if (whole.success) {
      taken++;
      assert.deepEqual(validate(request), whole.data, label);
      assert.notEqual(validate(request), request, "a copy: what is changed later is not what was judged");
    } else assert.throws(() => validate(request), { type: "InvalidRequest" }, label);
  }
  assert.ok(taken > 500, `${taken} were right`);
});

test("an option that openGateway does not have is refused: it could have been the policy", () => {
  assert.throws(() => insistOnKnownOptions({ polciy: { security: "deny" } } as never), {
    type: "InvalidRequest",
    message: "`polciy` is not an option of openGateway; did you mean `policy`?",
  });
  insistOnKnownOptions({ policy: {}, workspace: "/tmp" });
});
