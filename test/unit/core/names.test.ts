import assert from "node:assert/strict";
import { test } from "node:test";
import { agentFilter, agentName, isPersonName, isSameName, toAgentName } from "../../../src/core/names.ts";

test("agent names are stored in lower case", () => {
  for (const [given, stored] of [
    ["builder-1", "builder-1"],
    ["Builder-1", "builder-1"],
    ["TEAM/b", "team/b"],
    ["ci@host:2", "ci@host:2"],
    ["a", "a"],
  ] as const) {
    assert.equal(agentName(given), stored);
  }
});

const LOOK_ALIKES = [
  "",
  " ",
  "builder-1 ",
  " builder-1",
  "builder 1",
  "builder\u20101",
  "bui\u202elder",
  "\u0432uilder",
  "builder\u200b",
  "b\u00fcilder",
  "\u212aelvin",
  "builder-",
  "-builder",
  ".builder",
  "builder_",
  "builder\n",
  "a".repeat(129),
];

for (const name of LOOK_ALIKES) {
  test(`rejects the agent name ${JSON.stringify(name).slice(0, 40)}, and turns it into a different valid one`, () => {
    assert.throws(() => agentName(name), {
      type: "InvalidRequest",
      message: /^[\x20-\x7e]+is not a valid agent name\.$/,
    });
    assert.equal(agentFilter(name), name);
    const made = toAgentName(name);
    assert.equal(agentName(made), made);
    assert.equal(toAgentName(name), made, "the same text has the same name");
    assert.notEqual(made, "builder-1");
  });
}

test("different texts become different agent names", () => {
  assert.equal(new Set(LOOK_ALIKES.map(toAgentName)).size, LOOK_ALIKES.length);
  assert.match(toAgentName("Claude Code"), /^claude-code-[0-9a-f]{8}$/);
});

test("names of people are printable ASCII, and differ in more than case", () => {
  for (const name of ["ann", "Ann Smith", "CORP\\ann", "ann@example.com", "host:bot", "uid 1000"]) {
    assert.ok(isPersonName(name), name);
  }
  for (const name of ["", " ann", "ann ", "\u0430nn", "an\u200bn", "ann\n", "bj\u00f6rn"])
    assert.ok(!isPersonName(name), name);
  assert.ok(isSameName("Builder-1", "builder-1"));
  assert.ok(!isSameName("builder-1", "builder_1"));
});
