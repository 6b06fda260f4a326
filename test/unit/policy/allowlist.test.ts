import assert from "node:assert/strict";
import { test } from "node:test";
import type { AllowEntry } from "../../../src/core/policy.ts";
import { judge } from "./world.ts";

function allows(entry: AllowEntry, command: string, agent?: string): boolean {
  return (
    judge(command, { policy: { security: "allowlist", allowlist: [entry] }, ...(agent ? { agent } : {}) }).verdict ===
    "allow"
  );
}

const table: [string, AllowEntry, string[], string[]][] = [
  [
    "a bare name is good for a call by PATH only",
    { pattern: "git" },
    ["git status"],
    ["./git status", "/tmp/git status", "/usr/bin/git status", "gitx"],
  ],
  [
    "a path matches what the name resolves to",
    { pattern: "/usr/bin/git" },
    ["git status", "/usr/bin/git log", "/bin/git log"],
    ["./git status", "ls"],
  ],
  ["a star stays inside one folder", { pattern: "/usr/bin/*" }, ["git status", "ls"], ["/usr/local/bin/x"]],
  [
    "arguments match word by word",
    { pattern: "npm", args: "run test*" },
    ["npm run test", "npm run test:unit"],
    ["npm run build", "npm run test x", "npm run 'test x' y", "npm"],
  ],
  [
    "a last double star takes the rest",
    { pattern: "git", args: "log **" },
    ["git log", "git log -1 --oneline"],
    ["git push", "git -c x=y log"],
  ],
  ["no arguments at all", { pattern: "make", args: "" }, ["make"], ["make all"]],
  [
    "unknown words match no pattern",
    { pattern: "git", args: "show *" },
    ["git show HEAD"],
    ["git show $X", "git show *", "git show $(ls)"],
  ],
  [
    "a folder",
    { pattern: "make", cwd: "/home/user/ws/sub" },
    ["cd sub && make", "cd sub/deep && make"],
    ["make", "cd subway && make", "cd $X && make"],
  ],
  ["an expiry in the past", { pattern: "make", expires: "2020-01-01T00:00:00Z" }, [], ["make"]],
  ["an expiry to come", { pattern: "make", expires: "2999-01-01T00:00:00Z" }, ["make"], []],
];

for (const [name, entry, yes, no] of table) {
  test(name, () => {
    for (const command of yes) assert.ok(allows(entry, command), command);
    for (const command of no) assert.ok(!allows(entry, command), command);
  });
}

test("an entry may be one agent's", () => {
  const entry = { pattern: "make", agent: "builder" };
  assert.ok(allows(entry, "make", "builder"));
  assert.ok(!allows(entry, "make", "other"));
  assert.ok(!allows(entry, "make"));
});

test("a command in a container or on another machine is not the one here", () => {
  assert.ok(!allows({ pattern: "ls" }, "ssh host ls"));
});
