/** Every next step is worded for each surface, and names only what that surface has. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CLI_WORDING } from "../../../src/cli/next-steps.ts";
import { LIBRARY_WORDING, nextStep, worded } from "../../../src/core/next-step.ts";
import { TOOLSETS } from "../../../src/core/settings.ts";
import type { Step } from "../../../src/core/step.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { HTTP_WORDING } from "../../../src/http/next-steps.ts";
import { forModel } from "../../../src/toolsets/next-steps.ts";
import type { ToolsetName } from "../../../src/toolsets/tool.ts";
import { tools, toolsetFailure } from "../../../src/toolsets/tools.ts";
import { commandLineFaults, toolFaults } from "../../fixtures/surface-names.ts";

const gateway = { toolsets: Object.fromEntries(TOOLSETS.map((name) => [name, true])) } as unknown as Gateway;
const ALL = TOOLSETS.flatMap((name) => tools(gateway, name));

const DENIED = { name: "denied-by-sandbox", why: "/x is outside the workspace", instead: "write to /tmp" } as const;

/** One or more examples of every step. */
const EXAMPLES: { [Name in Step["name"]]: Extract<Step, { name: Name }>[] } = {
  "list-sessions": [{ name: "list-sessions" }],
  "show-session": [{ name: "show-session", session: "web" }],
  "remove-session": [{ name: "remove-session", session: "web" }],
  "stop-session": [{ name: "stop-session", session: "web" }],
  "stop-some-sessions": [{ name: "stop-some-sessions" }],
  "read-output": [{ name: "read-output" }],
  "open-stdin": [{ name: "open-stdin" }],
  "use-terminal": [{ name: "use-terminal" }],
  "write-instead": [{ name: "write-instead" }],
  "use-background": [{ name: "use-background" }],
  "use-shell": [
    { name: "use-shell", program: "echo a", text: true },
    { name: "use-shell", program: "cd", text: false },
  ],
  "fix-folder": [
    { name: "fix-folder", parameter: "cwd" },
    { name: "fix-folder", parameter: "logFile" },
  ],
  "enter-workspace": [{ name: "enter-workspace", parameter: "cwd", workspace: "/srv/project" }],
  "fix-log-file": [{ name: "fix-log-file" }],
  "omit-log-file": [{ name: "omit-log-file" }],
  "install-bash": [{ name: "install-bash" }],
  "remove-variable": [{ name: "remove-variable", variable: "LD_PRELOAD" }],
  "show-approval": [{ name: "show-approval", approval: "01a1" }],
  "decide-approval": [{ name: "decide-approval" }],
  "use-fields": [{ name: "use-fields", fields: "command, timeoutMs" }],
  "repeat-request": [{ name: "repeat-request" }],
  "repeat-input": [{ name: "repeat-input" }],
  "raise-limit": [
    { name: "raise-limit", key: "limits.memoryBytes", requestable: true },
    { name: "raise-limit", key: "timeouts.maxSeconds", requestable: false },
  ],
  "denied-by-sandbox": [
    { ...DENIED, access: null },
    { ...DENIED, access: { field: "writable", path: "/x" } },
    { ...DENIED, instead: null, access: { field: "sandbox", profile: "off" } },
    { ...DENIED, instead: null, access: { field: "network" } },
    { ...DENIED, instead: null, access: { field: "sockets" } },
  ],
  "other-profile": [{ name: "other-profile" }],
  operator: [{ name: "operator", hint: "Run `sallyport doctor`." }],
};
const STEPS = Object.values(EXAMPLES).flat() as Step[];

const RECOVERY = STEPS.map((step) => nextStep("try_it", step));

function sentences(wording: typeof LIBRARY_WORDING): string[] {
  return worded(RECOVERY, wording).map(({ hint }) => hint);
}

test("a hint that names what a toolset does not have is recognized", () => {
  const faulty: [toolset: ToolsetName, hint: string][] = [
    ["bash", "Run `sallyport approve 01a1`."],
    ["bash", "See docs/errors.md."],
    ["bash", "Read the log with process_log."],
    ["bash", "Pass a higher memory_limit."],
    ["bash", "Omit `cwd`."],
    ["bash", "Start it with background: true."],
    ["process", "Read it with BashOutput."],
    ["runner", "Read the status with session.info()."],
    ["runner", "Pass the session_id."],
    ["exec", "List the commands with process_manager action=show."],
    ["shell", "End it with process action=stop."],
    ["shell", "Continue with process start=5."],
    ["shell", "Ask the operator to raise `limits.memory` in sallyport.json."],
  ];
  for (const [toolset, hint] of faulty) {
    assert.notDeepEqual(toolFaults(hint, tools(gateway, toolset), ALL, toolset), [], `${toolset}: ${hint}`);
  }
});

const DOCS = new URL("../../../docs/", import.meta.url).pathname;
/** A line of a failure in the text of an answer: `- retry: Call the tool again.` */
const STEP_LINE = /^ ?- [a-z_]+: (.+)$/gm;

for (const toolset of TOOLSETS) {
  test(`${toolset}: the answers on the page of examples name only what the toolset has`, () => {
    const page = readFileSync(join(DOCS, `toolset-${toolset}-examples.md`), "utf8");
    const hints = new Set([...page.matchAll(STEP_LINE)].map(([, hint = ""]) => hint));
    assert.ok(hints.size > 5, `only ${hints.size} hints were found`);
    for (const hint of hints) assert.deepEqual(toolFaults(hint, tools(gateway, toolset), ALL, toolset), [], hint);
  });

  test(`${toolset}: next steps name only what the toolset has`, () => {
    const own = tools(gateway, toolset);
    const failure = { type: "InvalidRequest", message: "It failed.", recovery: RECOVERY };
    for (const { hint } of toolsetFailure(toolset, failure).recovery) {
      assert.deepEqual(toolFaults(hint, own, ALL, toolset), [], hint);
      assert.match(hint, /^[A-Z`/\w].*\.$/s, hint);
    }
  });

  test(`${toolset}: descriptions name only what the toolset has`, () => {
    const own = tools(gateway, toolset);
    for (const { description, inputSchema } of own) {
      const parameters = Object.values(inputSchema.properties as Record<string, { description?: string }>);
      for (const text of [description, ...parameters.map((each) => each.description ?? "")]) {
        assert.deepEqual(toolFaults(text, own, ALL, toolset), [], text);
      }
    }
  });
}

/** What an agent must know before its first call. */
const MUST_KNOW: readonly RegExp[] = [
  /only the workspace and \/tmp are writable/,
  /\/tmp is private to your commands and kept between them/,
  /`cd` and exported variables do not carry over/,
  /still running when .* exits are terminated/,
  /timeout/,
  /background/,
  /outlasts the call|still running after that, it continues in the background/,
  /approval is pending, call again with the same arguments/,
];

test("the description of every tool that runs commands says what an agent must know", () => {
  const running = ALL.filter(({ operation, name }) => operation === "run" && name !== "run_background");
  assert.equal(running.length, 6);
  for (const { name, description, inputSchema } of running) {
    for (const fact of MUST_KNOW) assert.match(description, fact, name);
    const stdin = (inputSchema.properties as Record<string, { description: string }>).stdin?.description ?? description;
    assert.match(stdin, /stdin(?:, which)? is (?:otherwise )?(?:empty|closed)/, name);
  }
});

test("the command line, the library and the HTTP API word every step", () => {
  for (const hint of sentences(CLI_WORDING)) {
    assert.deepEqual(commandLineFaults(hint), [], hint);
    assert.doesNotMatch(hint, /gateway\.|`(?:cwd|args|stdin|pty|logFile)`|\/v1\//, hint);
  }
  assert.equal(sentences(LIBRARY_WORDING).length, STEPS.length);
  for (const hint of sentences(HTTP_WORDING)) assert.doesNotMatch(hint, /gateway\.|sallyport (?!json|doctor)/, hint);
});

test("a failure whose steps are all for the operator asks the model to report it", () => {
  const recovery = [nextStep("doctor", { name: "operator", hint: "Run `sallyport doctor`." })];
  const [step] = forModel({ type: "KeeperUnavailable", message: "The keeper did not respond.", recovery }).recovery;
  assert.match(step?.hint ?? "", /^Report this to the user\./);
});

const SOURCE = new URL("../../../src/", import.meta.url).pathname;
/** Folders whose hints only appear on their own surface, which may name what it has. */
const OWN_SURFACE = /^(?:cli|http|doctor|config|worker|setup)\/|next-step/;
const HINT = /(?:hint|suggestion):\s*(["'`](?:[^\\\n]|\\.)*?["'`])\s*[,}]/g;

test("hints in the source are steps where they depend on the surface", () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
  let count = 0;
  const faulty: string[] = [];
  for (const path of files) {
    if (OWN_SURFACE.test(path) || path.startsWith("toolsets/")) continue;
    for (const [, literal = ""] of readFileSync(join(SOURCE, path), "utf8").matchAll(HINT)) {
      count++;
      const text = literal.replaceAll("\\`", "`");
      if (toolFaults(text, [], [], "bash").length > 0) faulty.push(`${path}: ${text}`);
    }
  }
  assert.deepEqual(faulty, [], "Use nextStep() or operatorStep() for these hints.");
  assert.ok(count > 50, `only ${count} hints were found`);
});
