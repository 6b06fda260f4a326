import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readApi } from "../../../scripts/api.ts";
import { pages, ROOT } from "./pages.ts";
import { typeCheck } from "./type-check.ts";

const { exported, page } = readApi();
const folder = mkdtempSync(join(tmpdir(), "sallyport-api-"));
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

test("docs/library-api.md is up to date", () => {
  const stored = pages().find(({ path }) => path === "docs/library-api.md");
  assert.equal(stored?.text, page, "docs/library-api.md is out of date; run `node scripts/api.ts`");
});

test("every export has a description and an example", () => {
  for (const { name, doc, example } of exported.values()) {
    assert.notEqual(doc, "", `${name} has no description.`);
    assert.notEqual(example, "", `${name} has no @example.`);
  }
});

test("every member of an exported type has a description", () => {
  const blocks = page.matchAll(/^```typescript\n(?:abstract )?(class|interface) (\w+)[^\n]*\{\n([\s\S]*?)^\}\n```$/gm);
  for (const [, , type, body = ""] of blocks) {
    const members = body.matchAll(/(.*)\n {2}(?:readonly |get )?(\w+)\??[:(]/g);
    const first = /^ {2}(?:readonly |get )?(\w+)\??[:(]/.exec(body);
    assert.equal(first, null, `${type}.${first?.[1]} has no description.`);
    for (const [, before = "", member] of members)
      assert.match(before, /\*\/$/, `${type}.${member} has no description.`);
  }
});

/**
 * The globals of an example: `gateway`, opened on a new state folder with the sandbox off, and `openGateway`.
 * `expectOutput` replaces `console.log` where a comment has the expected output.
 */
const GLOBALS = `import type { Gateway, openGateway as open } from "sallyport";
declare global {
  var gateway: Gateway;
  var openGateway: typeof open;
  function expectOutput(expected: string, ...args: unknown[]): void;
}
`;

/** Makes each output that a comment states an assertion: `console.log(1 + 2); // 3`. */
function withAssertions(example: string): string {
  return example.replaceAll(
    /^(.*)console\.log\((.*)\)\)?; \/\/ (?!prints)(.*)$/gm,
    (line, before: string, args: string, expected: string) => {
      const closing = line.includes(`console.log(${args}));`) ? ")" : "";
      return `${before}expectOutput(${JSON.stringify(expected)}, ${args})${closing};`;
    },
  );
}

const RUNNER = `import { AssertionError } from "node:assert";
import { mkdirSync, mkdtempSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { format } from "node:util";

const [index, folder, ...examples] = process.argv.slice(2);
registerHooks({
  resolve: (specifier, context, next) => next(specifier === "sallyport" ? pathToFileURL(index).href : specifier, context),
});
const { openGateway } = await import("sallyport");
const oneLine = (text) => text.replaceAll(/\\s+/g, " ").trim();
globalThis.openGateway = openGateway;
globalThis.expectOutput = (expected, ...args) => {
  const actual = oneLine(format(...args));
  if (actual !== expected) throw new AssertionError({ message: "unexpected output", actual, expected });
};
let failed = 0;
for (const name of examples) {
  const place = mkdtempSync(join(folder, "run-"));
  process.env.SALLYPORT_STATE = join(place, "state");
  process.env.XDG_CONFIG_HOME = join(place, "config");
  mkdirSync(join(place, "workspace"));
  process.chdir(join(place, "workspace"));
  globalThis.gateway = await openGateway({ policy: { sandbox: "off" } });
  try {
    await import(pathToFileURL(join(folder, name + ".ts")).href);
  } catch (error) {
    failed++;
    console.error("The example of " + name + " failed:", error);
  }
  for (const { id } of gateway.list({ live: true })) await gateway.session(id).kill({ signal: "SIGKILL" }).catch(() => {});
  await gateway.close();
}
process.exit(failed > 0 ? 1 : 0);
`;

test("the examples of all exports compile, run and print what they state", () => {
  const named = [...exported.values()].map(({ name, example }) => [name, withAssertions(example)] as const);
  typeCheck(folder, new Map(named), GLOBALS);

  mkdirSync(join(folder, "home"));
  writeFileSync(join(folder, "runner.mjs"), RUNNER);
  const args = [join(folder, "runner.mjs"), join(ROOT, "src/index.ts"), folder, ...exported.keys()];
  const ran = spawnSync(process.execPath, args, {
    encoding: "utf8",
    timeout: 120_000,
    env: { ...process.env, HOME: join(folder, "home") },
  });
  assert.equal(ran.status, 0, ran.stderr);
});
