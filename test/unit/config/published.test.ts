import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { keyTable } from "../../../schema/key-table.ts";
import { PROFILE_SCHEMA, profileTable } from "../../../schema/profile-table.ts";
import type { JsonSchema } from "../../../src/config/schema.ts";
import { configJsonSchema } from "../../../src/config/schema.ts";

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const REFRESH = "run: node schema/generate.ts && npx biome format --write schema";

test("the published JSON Schemas are up to date", () => {
  assert.deepEqual(JSON.parse(read("schema/sallyport.schema.json")), configJsonSchema(), REFRESH);
  assert.deepEqual(JSON.parse(read("schema/agent-profile.schema.json")), PROFILE_SCHEMA, REFRESH);
});

test("the documentation lists every key with its current description", () => {
  assert.ok(read("docs/configuration.md").includes(keyTable()), REFRESH);
  assert.ok(read("docs/agent-profiles.md").includes(profileTable()), REFRESH);
});

test("every key has a description, and every object rejects unknown keys", () => {
  const walk = (schema: JsonSchema, path: string) => {
    if (schema.properties) assert.equal(schema.additionalProperties, false, path);
    for (const [key, property] of Object.entries(schema.properties ?? {})) {
      assert.ok(String(property.description ?? "").length > 3, `${path}.${key} has no description`);
      walk(property, `${path}.${key}`);
    }
    if (schema.items) walk(schema.items as JsonSchema, `${path}[]`);
    if (typeof schema.additionalProperties === "object") walk(schema.additionalProperties as JsonSchema, `${path}.*`);
  };
  walk(configJsonSchema(), "");
});

test("the documented example is a valid configuration", async (t) => {
  const { configFixture } = await import("../../fixtures/configuration.ts");
  const fixture = configFixture(t);
  const example = /```json\n([\s\S]*?)```/.exec(read("docs/configuration.md"))?.[1] ?? "";
  fixture.operatorSays(example);
  assert.equal(fixture.load().settings.security, "allowlist");
});
