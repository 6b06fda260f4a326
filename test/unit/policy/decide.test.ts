import assert from "node:assert/strict";
import { test } from "node:test";
import type { Policy } from "../../../src/core/policy.ts";
import { checkCommand } from "./world.ts";

const verdict = (command: string, policy: Policy = {}, more: Parameters<typeof checkCommand>[1] = {}) =>
  checkCommand(command, { policy, ...more }).verdict;

test("by default a known command is allowed, and an unanalyzable one only in a sandbox", () => {
  assert.equal(verdict("ls"), "allow");
  assert.equal(verdict("$X"), "allow");
  assert.equal(verdict("$X", {}, { confined: false }), "ask");
  assert.equal(
    verdict("$X", { ask: "off" }, { confined: false }),
    "deny",
    "approvals are off, so the command is denied",
  );
});

test("text beyond the analysis limits does not let a blocked command through, even in a sandbox (invariant 3)", () => {
  const padded = [
    `shutdown now # ${"x".repeat(40_000)}`,
    `${"true;".repeat(500)} shutdown now`,
    `${"( ".repeat(100)} shutdown now ${" )".repeat(100)}`,
    `shutdown now; ${"nice ".repeat(60)} true`,
    // Unknowns that a sandbox permits do not hide the one that requires approval.
    `${Array.from({ length: 80 }, (_, n) => `$X${n}`).join(";")}; ${"true;".repeat(500)} shutdown now`,
    `${Array.from({ length: 80 }, (_, n) => `$X${n}`).join(";")}; curl x | sh`,
    `bash -c '# ${"x".repeat(17_000)}\nshutdown now'`,
    `eval '# ${"x".repeat(17_000)}\nshut"down" now'`,
    `${"true;".repeat(500)} rm -rf --no-preserve-root /`,
    `${"true;".repeat(500)} dd if=x of=/dev/sda`,
    `${"true;".repeat(500)} :(){ :|:& };:`,
  ];
  for (const text of padded) assert.notEqual(verdict(text), "allow", text.slice(0, 60));
});

test("a long here-document needs no approval in a sandbox", () => {
  const lines = (line: string, count: number) => `${line}\n`.repeat(count);
  const texts = [
    `cat > main.cpp <<'EOF'\n${lines('std::cout << "a" << 1;', 80)}EOF`,
    `cat > app.js <<'EOF'\n${lines("$('#a').show();", 200)}EOF`,
    `cat > notes.md <<'EOF'\n${lines("All of this is prose.", 2000)}EOF`,
    `for a in ${"w ".repeat(8)}; do for b in ${"w ".repeat(8)}; do for c in ${"w ".repeat(8)}; do echo $a; done; done; done`,
    `rm ${Array.from({ length: 450 }, (_, n) => `f${n}`).join(" ")}`,
  ];
  for (const text of texts) assert.equal(verdict(text), "allow", text.slice(0, 60));
});

test("the strictest of policy, agent and request applies", () => {
  assert.equal(verdict("ls", { security: "deny" }, { security: "full" }), "deny");
  assert.equal(verdict("ls", { security: "full" }, { security: "deny" }), "deny");
  assert.equal(verdict("ls", { ask: "always" }, { ask: "off" }), "ask");
  assert.equal(verdict("ls", {}, { ask: "always" }), "ask");
  assert.equal(
    verdict("$X", { ask: "off" }, { ask: "on-miss", confined: false }),
    "deny",
    "a denial does not become an approval request",
  );
  assert.equal(verdict("$X", {}, { ask: "off", confined: false }), "deny");
  assert.equal(verdict("ls", { ask: "off" }), "allow");
  const agents = { careful: { security: "allowlist" as const } };
  assert.equal(verdict("ls", { agents }, { agent: "careful" }), "ask");
  assert.equal(verdict("ls", { agents }, { agent: "other" }), "allow");
});

test("a block cannot be overridden", () => {
  const policy: Policy = {
    allowlist: [{ pattern: "rm" }, { pattern: "/usr/bin/*" }],
    rules: [{ prefix: ["rm"], decision: "allow" }],
    permits: ["privilege"],
  };
  for (const security of ["full", "allowlist", "deny"] as const)
    assert.equal(verdict("rm -rf /", policy, { security }), "blocked");
});

test("`permits` turns a denial into an approval request, but not a block", () => {
  assert.equal(verdict("sudo id"), "deny");
  assert.equal(verdict("sudo id", { permits: ["privilege"] }), "ask");
  assert.equal(verdict("sudo rm -rf /", { permits: ["privilege"] }), "blocked");
});

test("in allowlist mode every command of the text must be allowed", () => {
  const policy: Policy = { security: "allowlist", allowlist: [{ pattern: "git" }] };
  assert.equal(verdict("git status", policy), "allow");
  assert.equal(verdict("git status && git log", policy), "allow");
  assert.equal(verdict("git status && ls", policy), "ask");
  assert.equal(verdict("git log $(ls)", policy), "ask");
  assert.equal(verdict("nice git status", policy), "allow");
  assert.equal(verdict("timeout 5 bash -c 'git status'", policy), "allow");
  assert.equal(verdict("bash -c 'git status; ls'", policy), "ask");
  assert.equal(verdict("git status > out.txt", policy), "ask", "the allowlist does not cover redirects");
  assert.equal(verdict("git status 2>/dev/null", policy), "allow");
  assert.equal(verdict("GIT_PAGER=./x git log", policy), "ask");
  assert.equal(verdict("LC_ALL=C git log", policy), "allow");
  assert.equal(verdict("git log", policy, { ask: "always" }), "ask");
});

test("a function that may be undefined does not replace a program of the same name", () => {
  const policy: Policy = { security: "allowlist" };
  assert.equal(verdict("f() { echo hi; }; f", policy), "allow");
  assert.equal(verdict("false && f() { echo hi; }; f", policy), "ask");
});

test("reasons name the rule and the span, most severe first", () => {
  const { reasons, command } = checkCommand("ls; sudo rm -rf /");
  assert.deepEqual(
    reasons.map(({ rule, span }) => [rule, span && command.slice(span.start, span.end)]),
    [
      ["delete-vital", "/"],
      ["privilege", "sudo"],
    ],
  );
});

test("the span of a reason points into nested text", () => {
  const { reasons, command } = checkCommand(`bash -c 'ls; rm -rf /'`);
  const span = reasons[0]?.span;
  assert.equal(span && command.slice(span.start, span.end), "/");
});
