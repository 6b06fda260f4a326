import assert from "node:assert/strict";
import { test } from "node:test";
import type { AllowEntry } from "../../../src/core/policy.ts";
import { checkCommand } from "./world.ts";

function allows(entry: AllowEntry, command: string, agent?: string): boolean {
  return (
    checkCommand(command, { policy: { security: "allowlist", allowlist: [entry] }, ...(agent ? { agent } : {}) })
      .verdict === "allow"
  );
}

const table: [string, AllowEntry, string[], string[]][] = [
  [
    "a name without a slash matches only programs found on PATH",
    { pattern: "git" },
    ["git status"],
    ["./git status", "/tmp/git status", "/usr/bin/git status", "gitx"],
  ],
  [
    "a path matches the resolved program",
    { pattern: "/usr/bin/git" },
    ["git status", "/usr/bin/git log", "/bin/git log"],
    ["./git status", "ls"],
  ],
  ["a star does not match a slash", { pattern: "/usr/bin/*" }, ["git status", "ls"], ["/usr/local/bin/x"]],
  [
    "argument patterns match one argument each",
    { pattern: "npm", args: "run test*" },
    ["npm run test", "npm run test:unit"],
    ["npm run build", "npm run test x", "npm run 'test x' y", "npm"],
  ],
  [
    "a final double star matches the remaining arguments",
    { pattern: "git", args: "log **" },
    ["git log", "git log -1 --oneline"],
    ["git push", "git -c x=y log"],
  ],
  ["empty args match only a command without arguments", { pattern: "make", args: "" }, ["make"], ["make all"]],
  [
    "unknown arguments match no pattern",
    { pattern: "git", args: "show *" },
    ["git show HEAD"],
    ["git show $X", "git show *", "git show $(ls)"],
  ],
  [
    "cwd matches the folder and its subfolders",
    { pattern: "make", cwd: "/home/user/ws/sub" },
    ["cd sub && make", "cd sub/deep && make"],
    ["make", "cd subway && make", "cd $X && make"],
  ],
  ["an expired entry does not match", { pattern: "make", expires: "2020-01-01T00:00:00Z" }, [], ["make"]],
  ["an entry that expires in the future matches", { pattern: "make", expires: "2999-01-01T00:00:00Z" }, ["make"], []],
];

for (const [name, entry, yes, no] of table) {
  test(name, () => {
    for (const command of yes) assert.ok(allows(entry, command), command);
    for (const command of no) assert.ok(!allows(entry, command), command);
  });
}

test("an entry for one agent does not apply to others", () => {
  const entry = { pattern: "make", agent: "builder" };
  assert.ok(allows(entry, "make", "builder"));
  assert.ok(!allows(entry, "make", "other"));
  assert.ok(!allows(entry, "make"));
});

test("a command on another machine does not match a local program", () => {
  assert.ok(!allows({ pattern: "ls" }, "ssh host ls"));
});
