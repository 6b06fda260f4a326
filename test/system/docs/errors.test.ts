/** Provokes every error type and compares the result with docs/errors.md. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { exitCodeOfError } from "../../../src/cli/exit-code.ts";
import { CLI_WORDING } from "../../../src/cli/next-steps.ts";
import type { ErrorType } from "../../../src/core/error.ts";
import { worded } from "../../../src/core/next-step.ts";
import { TOOLSETS } from "../../../src/core/settings.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { statusOf } from "../../../src/http/errors.ts";
import { tools, toolsetFailure } from "../../../src/toolsets/tools.ts";
import { NO_NATS } from "../../fixtures/nats.ts";
import { commandLineFaults, toolFaults } from "../../fixtures/surface-names.ts";
import { answers } from "./answers.ts";
import { closeExamples, EXAMPLES, type Failure, HTTP_EXAMPLES, needsNats } from "./error-examples.ts";
import { ROOT, samples } from "./pages.ts";

after(closeExamples);

const PAGE = "docs/errors.md";
const text = readFileSync(join(ROOT, PAGE), "utf8");

/** The sections of the page by error type, in the order of the page. */
const sections = new Map(
  text.split(/^(?=#{2,3} )/m).flatMap((part) => {
    const name = /^### (\w+)$/m.exec(part)?.[1];
    return name === undefined ? [] : [[name, part] as const];
  }),
);

function sectionOf(type: string): string {
  return sections.get(type) ?? assert.fail(`${PAGE} has no section for ${type}`);
}

/** Returns the `text` blocks of a section: one for each example. */
function blocks(type: string): string[] {
  return samples({ path: PAGE, text: sectionOf(type) })
    .filter(({ language }) => language === "text")
    .map((sample) => sample.text);
}

/** Replaces text that may have any punctuation: a position in a file, and text in backticks, quotes or parentheses. */
function prose(sentence: string): string {
  return sentence
    .replace(/^\/\S+?:(\d+:\d+:)? /, "")
    .replaceAll(/`[^`]*`/g, "`x`")
    .replaceAll(/"[^"]*"/g, '"x"')
    .replaceAll(/\([^()]*\)/g, "(x)");
}

/** Reports what is wrong with the form of a message or hint, or returns null. */
function fault(sentence: string): string | null {
  const plain = prose(sentence);
  if (!/^[A-Z0-9`"./]/.test(plain)) return "does not start with a capital letter, a digit, a quote or a path";
  if (!/[.?]$/.test(plain)) return "does not end with a period or question mark";
  if (plain.split(/[.?] /).some((part) => part.split(": ").length > 2)) return "has two colons in one sentence";
  return null;
}

function assertComplete({ message, recovery }: Failure): void {
  assert.ok(recovery.length > 0, `the error has no recovery: ${message}`);
  for (const sentence of [message, ...recovery.map(({ hint }) => hint)]) assert.equal(fault(sentence), null, sentence);
  for (const { action } of recovery) assert.match(action, /^[a-z_]+$/);
}

const gateway = { toolsets: Object.fromEntries(TOOLSETS.map((name) => [name, true])) } as unknown as Gateway;
const ALL = TOOLSETS.flatMap((name) => tools(gateway, name));

/**
 * Types whose examples are provoked through a surface, which has worded the hints for its own reader: errors of the HTTP
 * service, `KillFailed` of `process.kill`, and `SelfApproval` of `sallyport approve`.
 */
const WORDED_ALREADY: ReadonlySet<string> = new Set([...Object.keys(HTTP_EXAMPLES), "KillFailed", "SelfApproval"]);

/** Types whose messages are about the configuration or the service, which only an operator can change. */
const OPERATORS: ReadonlySet<string> = new Set(["InvalidConfiguration", "FleetVersion"]);

/** Checks that each surface words the next steps with what it has. */
function assertTakeable(failure: Failure): void {
  for (const toolset of TOOLSETS) {
    const { recovery, message } = toolsetFailure(toolset, failure);
    assert.ok(recovery.length > 0, `${toolset} shows no next step for ${failure.type}`);
    const own = tools(gateway, toolset);
    for (const { hint } of recovery) assert.deepEqual(toolFaults(hint, own, ALL, toolset), [], hint);
    // A message may name a configuration key or what the caller passed, but neither a command nor a method.
    const named = toolFaults(message, own, ALL, toolset).filter((fault) => /^names/.test(fault));
    assert.deepEqual(OPERATORS.has(failure.type) ? [] : named, [], message);
  }
  for (const { hint } of worded(failure.recovery, CLI_WORDING)) assert.deepEqual(commandLineFaults(hint), [], hint);
}

/** Checks the error that an example provoked against the rules for messages and against its block on the page. */
function check(t: TestContext, type: string, failure: Failure, block: string | undefined): void {
  const lines = [failure.message, ...failure.recovery.map(({ hint }) => hint)];
  for (const line of [type, ...lines.map((line) => `  ${line}`)]) t.diagnostic(line);
  assert.equal(failure.type, type, failure.message);
  assertComplete(failure);
  if (!WORDED_ALREADY.has(type)) assertTakeable(failure);
  assert.ok(
    answers(lines.join("\n"), block ?? ""),
    `${PAGE} shows for ${type}:\n${block}\nbut the error is:\n${lines.join("\n")}`,
  );
}

for (const [type, examples] of Object.entries(EXAMPLES) as [ErrorType, (typeof EXAMPLES)[ErrorType]][]) {
  test(`${type} is described with real examples`, { skip: needsNats(type) && NO_NATS }, async (t) => {
    const shown = blocks(type);
    assert.equal(shown.length, examples.length, "the section has the wrong number of examples");
    for (const [index, provoke] of examples.entries()) check(t, type, await provoke(), shown[index]);
  });

  test(`${type} is described with its HTTP status and exit code`, () => {
    const line = `HTTP status ${statusOf(type)}, exit code ${exitCodeOfError(type)}.`;
    assert.ok(sectionOf(type).includes(`\n${line}\n`), line);
  });
}

for (const [type, examples] of Object.entries(HTTP_EXAMPLES)) {
  test(`${type} of the HTTP service is described`, async (t) => {
    const shown = blocks(type);
    assert.ok(shown.length >= Math.max(1, examples.length), "the section has too few examples");
    for (const [index, provoke] of examples.entries()) check(t, type, await provoke(), shown[index]);
  });
}

test("docs/errors.md describes no other error types", () => {
  const known = [...Object.keys(EXAMPLES), ...Object.keys(HTTP_EXAMPLES)];
  assert.deepEqual([...sections.keys()].sort(), known.sort());
});
