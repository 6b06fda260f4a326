import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { launchError } from "../../fixtures/session-rows.ts";

const folder = mkdtempSync(join(tmpdir(), "sallyport-not-found-"));
after(() => rmSync(folder, { recursive: true }));

function file(path: string, mode = 0o755, text = "#!/bin/sh\n"): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
  chmodSync(join(folder, path), mode);
}

for (const name of ["git", "python3", "docker", "gist", "apt-get", "grep", "sudo", "reboot"]) file(`bin/${name}`);
file("bin/gut", 0o644);
for (const path of ["work/build.sh", "work/run", "work/node_modules/.bin/eslint", "work/.venv/bin/pytest"]) file(path);
file("work/notes.py", 0o644);
mkdirSync(join(folder, "work/deep/er"), { recursive: true });

const place = { cwd: join(folder, "work"), path: `${join(folder, "bin")}:relative::/no/such` };
/** Returns the suggestions for a program that was not found, without the two that every such error has. */
function hints(program: string, { cwd, path }: Partial<typeof place> = {}): string[] {
  const { PATH } = process.env;
  process.env.PATH = path ?? place.path;
  try {
    const { errno } = constants;
    const { recovery } = launchError({ step: "execve", errno: errno.ENOENT }, program, cwd ?? place.cwd);
    return recovery
      .filter(({ action, hint }) => action !== "use_full_path" && !/^(Run `command -v|Check the path)/.test(hint))
      .map(({ action, hint }) => `${action}: ${hint}`);
  } finally {
    process.env.PATH = PATH;
  }
}

test("suggests the most likely command first", () => {
  const cases: [program: string, ...hints: string[]][] = [
    ["gti", "did_you_mean: Did you mean git?"],
    ["giit", "did_you_mean: Did you mean gist or git?"],
    ["gits", "did_you_mean: Did you mean gist or git?"],
    ["build", "did_you_mean: Did you mean ./build.sh?"],
    ["build.sh", "did_you_mean: Did you mean ./build.sh?"],
    ["notes.py", "did_you_mean: Did you mean ./notes.py?"],
    ["run", "did_you_mean: Did you mean ./run?"],
    ["eslint", "did_you_mean: Did you mean node_modules/.bin/eslint?"],
    ["python", "use_alternative: Use `python3`, which is installed."],
    ["docker-compose", "use_alternative: Use `docker compose`, which is installed."],
    ["rg", "use_alternative: Use `grep -rn`, which is installed."],
    ["jq"],
    ["sduo"],
    ["rebot"],
    ["cd", "use_shell: cd is part of the shell. Omit `args` to run it with the shell."],
    [
      "git status",
      "use_shell: Pass the program and its arguments separately, or omit `args` to run the text with the shell.",
    ],
    ["grep", `did_you_mean: Did you mean ${join(folder, "bin/grep")}?`],
    ["no-such-thing-at-all"],
    ["constructor"],
    ["./buidl.sh", "did_you_mean: Did you mean ./build.sh?"],
    [
      "/usr/no/such/git",
      "check_path: The folder /usr/no/such does not exist.",
      `did_you_mean: Did you mean ${join(folder, "bin/git")}?`,
    ],
  ];
  for (const [program, ...expected] of cases) assert.deepEqual(hints(program), expected, program);
  assert.deepEqual(hints("git", { path: "/no/such" }), []);
});

test("finds a project's programs from a subfolder", () => {
  const cwd = join(folder, "work/deep/er");
  assert.deepEqual(hints("eslint", { cwd }), ["did_you_mean: Did you mean ../../node_modules/.bin/eslint?"]);
  assert.equal(hints("pytest", { cwd })[0], "did_you_mean: Did you mean ../../.venv/bin/pytest?");
});

test("notices a new program on PATH", () => {
  assert.deepEqual(hints("frobnicat"), []);
  file("bin/frobnicate");
  assert.deepEqual(hints("frobnicat"), ["did_you_mean: Did you mean frobnicate?"]);
});

test("accepts names that are not valid program names", () => {
  for (const name of ["", "..", "/", "a/b", "\0", "-rf", "'; DROP TABLE commands", "x".repeat(1 << 20), "__proto__"]) {
    assert.doesNotThrow(() => hints(name), name.slice(0, 20));
  }
});
