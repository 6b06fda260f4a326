import assert from "node:assert/strict";
import { test } from "node:test";
import { configJsonSchema } from "../../../src/config/schema.ts";
import { SallyportError } from "../../../src/core/error.ts";
import type { Settings } from "../../../src/core/settings.ts";
import { configFixture } from "../../fixtures/configuration.ts";
import { corpus, FUZZ_SECONDS, FUZZ_SEED } from "../../fixtures/fuzz.ts";
import { assertNoFreer } from "./freedom.ts";
import { pick, type Random, sample, seeded } from "./sample.ts";

const FILES = 300;
const schema = configJsonSchema();
const saved = corpus(new URL("corpus/files.txt", import.meta.url)).map(({ line }) => line);
const PIECES = ["", ",", '"', "}", "]", "{", "0", "-", "\\", "\n", "null", "[]", "/*", "\u202e", "\u0000", "1e999"];
const STRANGE = [null, true, -1, 1e308, "", "\ud800", "*", "..", "/", [], {}, [[]], { off: true }, "x".repeat(5000)];

/** Returns a generated file, most of them with an error in the text or in one of the values. */
function spoilt(random: Random): string {
  const value = sample(schema, random) as Record<string, unknown>;
  const way = random();
  if (way < 0.3) return JSON.stringify(value);
  if (way < 0.6) {
    const text = JSON.stringify(value);
    const at = Math.floor(random() * text.length);
    return text.slice(0, at) + pick(random, PIECES) + text.slice(at + Math.floor(random() * 3));
  }
  let holder = value;
  for (;;) {
    const key = pick(random, Object.keys(holder));
    const inner = holder[key];
    if (key === undefined) return JSON.stringify(value);
    if (typeof inner === "object" && inner !== null && Object.keys(inner).length > 0 && random() < 0.7) {
      holder = inner as Record<string, unknown>;
      continue;
    }
    holder[key] = pick(random, STRANGE);
    return JSON.stringify(value);
  }
}

function texts(): Iterable<string> {
  const random = seeded(FUZZ_SEED);
  if (FUZZ_SECONDS === null) return [...saved, ...Array.from({ length: FILES }, () => spoilt(random))];
  const end = Date.now() + FUZZ_SECONDS * 1000;
  return (function* () {
    yield* saved;
    while (Date.now() < end) yield spoilt(random);
  })();
}

/** Returns the settings, or null when the file is rejected with an `InvalidConfiguration` error. */
function taken(load: () => { settings: Settings }, text: string): Settings | null {
  try {
    return load().settings;
  } catch (error) {
    assert.ok(
      error instanceof SallyportError,
      `seed ${FUZZ_SEED}: ${text}\n${error instanceof Error ? error.stack : error}`,
    );
    assert.equal(error.type, "InvalidConfiguration", text);
    assert.ok(error.recovery.length > 0, text);
    return null;
  }
}

test("a workspace file is rejected or loosens nothing, whatever its content", (t) => {
  const fixture = configFixture(t);
  fixture.operatorSays({
    security: "allowlist",
    sandbox: "isolated",
    network: { ports: [443] },
    limits: { sessions: 8 },
  });
  const before = fixture.load().settings;
  let accepted = 0;
  for (const text of texts()) {
    fixture.workspaceSays(text);
    const settings = taken(() => fixture.load(), text);
    if (settings) assertNoFreer(settings, before, `seed ${FUZZ_SEED}: ${text}`);
    if (settings) accepted++;
  }
  t.diagnostic(`seed ${FUZZ_SEED}: accepted ${accepted} workspace files`);
  assert.ok(accepted > 20, "too few files were accepted to test anything");
});

test("an operator file is applied as a whole or rejected with a reason, whatever its content", (t) => {
  const fixture = configFixture(t);
  let refused = 0;
  for (const text of texts()) {
    fixture.operatorSays(text);
    if (taken(() => fixture.load(), text) === null) refused++;
  }
  t.diagnostic(`seed ${FUZZ_SEED}: rejected ${refused} operator files`);
  assert.ok(refused > 20, "too few files were rejected to test anything");
});
