import assert from "node:assert/strict";
import { test } from "node:test";
import { RULES } from "../../../src/policy/rules/index.ts";
import { checkCommand } from "./world.ts";

test("each rule has a unique ID, a suggestion and examples", () => {
  assert.equal(new Set(RULES.map((rule) => rule.id)).size, RULES.length);
  for (const rule of RULES) {
    assert.match(rule.id, /^[a-z]+(-[a-z]+)*$/);
    assert.ok(rule.suggestion.length > 10, rule.id);
    assert.ok(rule.catches.length >= 3 && rule.passes.length >= 2, `${rule.id} needs examples`);
  }
});

test("a rule with onlyTargets matches no command without targets", () => {
  const alike = RULES.filter(({ onlyTargets }) => onlyTargets);
  assert.ok(alike.length >= 9);
  const commands = RULES.flatMap(({ catches }) => catches).flatMap((example) => checkCommand(example).commands);
  assert.ok(commands.some(({ targets }) => targets.length > 0));
  for (const rule of alike) {
    for (const fact of commands) {
      const scene = { workspace: "/work", home: "/home/me", commands };
      assert.equal(rule.find({ ...fact, targets: [] }, scene), null, `${rule.id}: ${fact.executable.written}`);
    }
  }
});

for (const rule of RULES) {
  for (const example of rule.catches) {
    test(`${rule.id} matches ${example}`, () => {
      for (const security of ["full", "allowlist", "deny"] as const) {
        const verdict = checkCommand(example, { security });
        const reason = verdict.reasons.find((one) => one.rule === rule.id);
        assert.ok(reason, `${rule.id} does not match under ${security}: ${JSON.stringify(verdict.reasons)}`);
        assert.ok(
          verdict.verdict === "blocked" || (rule.tier === "deny" && verdict.verdict === "deny"),
          verdict.verdict,
        );
        assert.ok(reason.span && reason.span.end > reason.span.start && reason.span.end <= example.length);
      }
    });
  }
  for (const example of rule.passes) {
    test(`${rule.id} does not match ${example}`, () => {
      const { verdict, reasons } = checkCommand(example);
      assert.ok(verdict === "allow" || verdict === "ask", JSON.stringify(reasons));
    });
  }
}
