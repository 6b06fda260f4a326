import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { LoadedConfig } from "../../../src/config/load.ts";
import { configJsonSchema, type JsonSchema } from "../../../src/config/schema.ts";
import { DEFAULTS } from "../../../src/core/settings.ts";
import { decide, policyOf } from "../../../src/policy/decide.ts";
import { inspect } from "../../../src/shell/inspect.ts";
import { configFixture } from "../../fixtures/configuration.ts";
import { assertNoFreer, at, leaves, NO_FREER } from "./freedom.ts";
import { sample, seeded } from "./sample.ts";

type Values = Record<string, unknown>;

const schema = configJsonSchema();

function only(name: string, value: unknown): Values {
  return name.split(".").reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Values;
}

function schemaOf(name: string): JsonSchema {
  return name.split(".").reduce<JsonSchema>((part, key) => part.properties?.[key] ?? {}, schema);
}

/**
 * Makes a sample valid beyond the schema: rules with one condition, allowlist entries with usable patterns, a quorum
 * with approvers.
 */
function meaningful(file: Values): Values {
  const made: Values = { ...file };
  if (file.rules) {
    const rules = file.rules as { prefix?: unknown; decision: unknown }[];
    made.rules = rules.map(({ prefix, decision }) => ({ prefix: prefix ?? ["git"], decision }));
  }
  if (file.allowlist) {
    const entries = file.allowlist as { pattern: string; args?: string }[];
    made.allowlist = entries.map(({ pattern, args }) => ({
      pattern: pattern === "*" ? "ls" : pattern,
      ...(args && { args }),
    }));
  }
  if (file.allowDenied)
    made.allowDenied = (file.allowDenied as string[]).map((id) => (id < "h" ? "privilege" : "mount"));
  const { quorum } = (file.approvals ?? {}) as { quorum?: { rule?: string; approvers?: string[] } };
  if (quorum) {
    const approvers = new Set([...(quorum.approvers ?? []), ...(quorum.rule ? ["anna"] : [])]);
    made.approvals = { ...(file.approvals as Values), quorum: { ...quorum, approvers: [...approvers] } };
  }
  if (file.agents) {
    made.agents = Object.fromEntries(
      Object.entries(file.agents as Record<string, Values>).map(([name, own]) => [name, meaningful(own)]),
    );
  }
  return made;
}

/** Returns the configuration of the operator alone, and together with the workspace file. */
function loader(t: TestContext): (operator: Values, workspace: Values) => [LoadedConfig, LoadedConfig] {
  const fixture = configFixture(t);
  return (operator, workspace) => {
    fixture.operatorSays(meaningful(operator));
    fixture.workspaceSays({});
    const before = fixture.load();
    fixture.workspaceSays(meaningful(workspace));
    return [before, fixture.load()];
  };
}

test("every key of the schema has a default and a definition of strictness", () => {
  const names = leaves(schema);
  assert.ok(names.length > 35, `only ${names.length} keys found`);
  for (const name of names) {
    assert.ok(name in NO_FREER, `${name}: add its definition of strictness to freedom.ts`);
    assert.notEqual(at(DEFAULTS, name), undefined, `${name} has no default`);
  }
  assert.deepEqual(
    Object.keys(NO_FREER).filter((name) => !names.includes(name)),
    [],
  );
});

for (const name of leaves(schema)) {
  test(`a workspace file cannot loosen ${name}`, (t) => {
    const load = loader(t);
    const random = seeded(name.length * 7919);
    for (let round = 0; round < 60; round++) {
      const operator = round === 0 ? {} : only(name, sample(schemaOf(name), random));
      const workspace = only(name, sample(schemaOf(name), random));
      const [before, now] = load(operator, workspace);
      assertNoFreer(now.settings, before.settings, `${JSON.stringify(operator)} + ${JSON.stringify(workspace)}`);
    }
  });
}

test("a workspace file loosens no setting of any agent", (t) => {
  const load = loader(t);
  const random = seeded(4711);
  for (let round = 0; round < 400; round++) {
    const [before, now] = load(sample(schema, random) as Values, sample(schema, random) as Values);
    for (const agent of ["nobody", "ci", "dev"]) {
      assertNoFreer(now.forAgent(agent), before.forAgent(agent), `agent ${agent}, round ${round}`);
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

test("a workspace file makes no verdict less strict", (t) => {
  const load = loader(t);
  const random = seeded(99);
  const world = { cwd: "/w", home: "/home/u", workspace: "/w", lookup: { which: () => null, realpath: () => null } };
  const analyses = COMMANDS.map((text) => inspect(text, world));
  const context = { workspace: "/w", home: "/home/u", now: 0, agent: "ci" };
  for (let round = 0; round < 300; round++) {
    const [before, now] = load(sample(schema, random) as Values, sample(schema, random) as Values);
    for (const analysis of analyses) {
      for (const confined of [true, false]) {
        const [old, fresh] = [before, now].map(({ settings }) =>
          SEVERITY.indexOf(decide(analysis, policyOf(settings), { ...context, confined }).verdict),
        );
        assert.ok((fresh ?? 0) >= (old ?? 9), `${analysis.text}: ${old} became ${fresh}, round ${round}`);
      }
    }
  }
});

test("applies stricter values, and ignores and reports looser ones", (t) => {
  const load = loader(t);
  const [{ settings: before }, { settings: now, ignored }] = load(
    { allowlist: [{ pattern: "git" }, { pattern: "ls" }], env: { pass: ["A", "B"] } },
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
