import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { RunRequest } from "../../../src/core/request.ts";
import { simpleRequest } from "../../../src/core/simple-request.ts";

const NULLISH = [undefined, null];
/** Valid, invalid and unusual values of each field. */
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

/** Yields every field alone, every field with a command, and every pair of fields. */
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

test("accepts only requests that the schema accepts, and copies them", () => {
  let accepted = 0;
  for (const request of requests()) {
    const simple = simpleRequest(request);
    if (simple === null) continue;
    accepted++;
    const label = inspect(request);
    assert.deepEqual(simple, RunRequest.parse(request), label);
    assert.notEqual(simple, request, "changes by the caller must not reach a request that was decided on");
  }
  assert.ok(accepted > 20, `only ${accepted} requests were accepted`);
});
