import assert from "node:assert/strict";
import { test } from "node:test";
import { agentToken, sanitizeName, subjectsOf, validateName } from "../../../src/fleet/subjects.ts";

test("encodes each agent name as a single, unique subject token", () => {
  assert.equal(agentToken("builder"), "builder");
  assert.equal(agentToken("team/a.b"), "team=2Fa=2Eb");
  const names = ["a.b", "a=2Eb", "a b", "*", ">", "é", "a", "A", "a-b", "a_b", ""];
  const tokens = names.map(agentToken);
  assert.equal(new Set(tokens).size, names.length);
  for (const token of tokens) assert.match(token, /^[\w=-]*$/);
});

test("accepts only names that are a single subject token", () => {
  assert.equal(validateName("host", "web-1"), "web-1");
  for (const bad of ["", "a.b", "*", ">", "a b", "a".repeat(64), "é"]) {
    assert.throws(() => validateName("host", bad), /not a valid name for a host/);
  }
  assert.equal(sanitizeName("web.example.com"), "web-example-com");
  assert.equal(sanitizeName(""), "unnamed");
});

test("parses the place (any worker, a host or a label) and the agent of a job subject", () => {
  const subjects = subjectsOf("main");
  for (const place of ["any", { host: "h1" }, { label: ["gpu", "yes"] }] as const) {
    const subject = subjects.work(place as never, "team/a");
    assert.deepEqual(subjects.parseWork(subject), { place, agent: "team=2Fa" });
  }
  for (const other of ["sp.main.work", "sp.main.work.any", "sp.other.work.any.a", "sp.main.work.label.a.b"]) {
    assert.equal(subjects.parseWork(other), null, other);
  }
});
