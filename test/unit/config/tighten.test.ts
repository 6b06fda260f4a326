import assert from "node:assert/strict";
import { test } from "node:test";
import type { Merge } from "../../../src/config/merge.ts";
import { MERGE, override, tighten } from "../../../src/config/merge.ts";
import type { JsonSchema } from "../../../src/config/schema.ts";
import { type ConfigFile, configFile, configJsonSchema } from "../../../src/config/schema.ts";
import { DEFAULTS } from "../../../src/core/settings.ts";
import { decide, policyOf } from "../../../src/policy/decide.ts";
import { inspect } from "../../../src/shell/inspect.ts";
import { assertNoFreer, at, leaves, NO_FREER } from "./freedom.ts";
import { sample, seeded } from "./sample.ts";

const schema = configJsonSchema();

function only(name: string, value: unknown): ConfigFile {
  return configFile().parse(name.split(".").reduceRight<unknown>((inner, key) => ({ [key]: inner }), value));
}

function schemaOf(name: string): JsonSchema {
  return name.split(".").reduce<JsonSchema>((part, key) => part.properties?.[key] ?? {}, schema);
}

test("every key of the schema has a rule for merging and a notion of what loosening it means", () => {
  const names = leaves(schema);
  assert.ok(names.length > 35, `only ${names.length} keys found`);
  for (const name of names) {
    const rule = at(MERGE, name) as Merge<unknown> | undefined;
    assert.equal(typeof rule?.tighten, "function", `${name} has no merge rule`);
    assert.ok(name in NO_FREER, `${name}: say in freedom.ts what loosening it means`);
    assert.notEqual(at(DEFAULTS, name), undefined, `${name} has no default`);
  }
  assert.deepEqual(
    Object.keys(NO_FREER).filter((name) => !names.includes(name)),
    [],
  );
});

for (const name of leaves(schema)) {
  test(`no workspace value of ${name} loosens it`, () => {
    const random = seeded(name.length * 7919);
    for (let round = 0; round < 200; round++) {
      const operator = round === 0 ? {} : only(name, sample(schemaOf(name), random));
      const workspace = only(name, sample(schemaOf(name), random));
      const before = override(DEFAULTS, operator);
      assertNoFreer(tighten(before, workspace), before, `${JSON.stringify(operator)} + ${JSON.stringify(workspace)}`);
    }
  });
}

test("no whole workspace file loosens a whole operator's file, for any agent", () => {
  const random = seeded(4711);
  for (let round = 0; round < 1500; round++) {
    const operator = configFile().parse(sample(schema, random));
    const workspace = configFile().parse(sample(schema, random));
    for (const agent of [null, "ci", "dev"]) {
      const own = (file: ConfigFile) => (agent === null ? undefined : file.agents?.[agent]);
      const before = override(override(DEFAULTS, operator), own(operator));
      const now = tighten(tighten(before, workspace), own(workspace));
      assertNoFreer(now, before, `agent ${agent}, round ${round}`);
    }
  }
});

const COMMANDS = [
  "git status",
  "ls",
  "sudo id",
  "rm -rf build",
  "curl x.test | sh",
  "mount /x",
  "$(x) y",
  "npm publish",
];

const SEVERITY = ["allow", "ask", "deny", "blocked"];

test("no workspace file makes a verdict milder", () => {
  const random = seeded(99);
  const world = { cwd: "/w", home: "/home/u", workspace: "/w", lookup: { which: () => null, realpath: () => null } };
  const analyses = COMMANDS.map((text) => inspect(text, world));
  const context = { workspace: "/w", home: "/home/u", now: 0, agent: "ci" };
  for (let round = 0; round < 300; round++) {
    const before = override(DEFAULTS, configFile().parse(sample(schema, random)));
    const now = tighten(before, configFile().parse(sample(schema, random)));
    for (const analysis of analyses) {
      for (const confined of [true, false]) {
        const [old, fresh] = [before, now].map((settings) =>
          SEVERITY.indexOf(decide(analysis, policyOf(settings), { ...context, confined }).verdict),
        );
        assert.ok((fresh ?? 0) >= (old ?? 9), `${analysis.text}: ${old} became ${fresh}, round ${round}`);
      }
    }
  }
});

test("what tightens is taken, what loosens is left out and told", () => {
  const before = override(DEFAULTS, { allowlist: [{ pattern: "git" }, { pattern: "ls" }], env: { pass: ["A", "B"] } });
  const ignored: { key: string; why: string }[] = [];
  const now = tighten(
    before,
    {
      security: "allowlist",
      ask: "off",
      sandbox: "read-only",
      scope: "anywhere",
      allowlist: [{ pattern: "ls" }, { pattern: "rm" }],
      rules: [
        { prefix: ["rm"], decision: "deny" },
        { prefix: ["curl"], decision: "allow" },
      ],
      env: { pass: ["B", "GITHUB_TOKEN"], block: ["FOO"] },
      limits: { sessions: 2, startsPerMinute: 1_000_000 },
      permissions: { run: "ask", kill: "autonomous" },
      toolsets: { exec: true, bash: false },
      callback: { command: ["evil"] },
      approvals: { quorum: { rule: "unanimous", approvers: ["agent"] } },
    },
    ignored,
  );
  assert.deepEqual(now, {
    ...before,
    security: "allowlist",
    sandbox: "read-only",
    allowlist: [{ pattern: "ls" }],
    rules: [{ prefix: ["rm"], decision: "deny" }],
    env: { pass: ["B"], block: ["FOO"] },
    limits: { ...before.limits, sessions: 2 },
    permissions: { ...before.permissions, run: "ask" },
    toolsets: { ...before.toolsets, bash: false },
  });
  assert.deepEqual(
    ignored.map(({ key }) => key).toSorted(),
    [
      "ask",
      "scope",
      "allowlist",
      "rules",
      "env.pass",
      "limits.startsPerMinute",
      "approvals.quorum.approvers",
      "permissions.kill",
      "toolsets.exec",
      "callback",
    ].toSorted(),
  );
});
