import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const TESTS = join(import.meta.dirname, "..");
const TIERS = ["integration", "system", "unit"];
const FILES = readdirSync(TESTS, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));

test("every test file belongs to a tier", () => {
  const outside = FILES.filter((name) => name.endsWith(".test.ts") && !TIERS.includes(name.split("/")[0] ?? ""));
  assert.deepEqual(outside, [], `move it below one of ${TIERS.map((tier) => `test/${tier}/`).join(", ")}`);
});

test("scripts/test.sh runs every tier", () => {
  const lines = readFileSync(join(TESTS, "../scripts/test.sh"), "utf8").split("\n");
  const { scripts } = JSON.parse(readFileSync(join(TESTS, "../package.json"), "utf8"));
  for (const tier of TIERS) assert.equal(scripts[`test:${tier}`], `scripts/tier.sh ${tier}`);
  assert.match(scripts.test, /npm run test:unit$/);
  for (const line of ["npm test", "npm run test:integration", "npm run test:system"]) assert.ok(lines.includes(line));
});

test("unit tests open no gateway and start no server", () => {
  const heavy =
    /from "[./]+\/fixtures\/(gateway|sandbox-fixture|executor|fleet|nats|other-gateway|postgres|sallyport|service)\.ts"/;
  const found = FILES.filter((name) => name.startsWith("unit/") && heavy.test(readFileSync(join(TESTS, name), "utf8")));
  assert.deepEqual(found, [], "move these files to test/integration/ or test/system/");
});
