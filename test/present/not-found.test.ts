import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { suggestions } from "../../src/present/not-found.ts";
import { debianPackages } from "../../src/present/programs/debian-package.ts";
import { debianPrograms } from "../../src/present/programs/debian-programs.ts";

const folder = mkdtempSync(join(tmpdir(), "sallyport-not-found-"));
after(() => rmSync(folder, { recursive: true }));

function file(path: string, mode = 0o755, text = "#!/bin/sh\n"): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
  chmodSync(join(folder, path), mode);
}

for (const name of ["git", "python3", "docker", "gist", "apt-get", "grep"]) file(`bin/${name}`);
file("bin/gut", 0o644);
for (const path of ["work/build.sh", "work/run", "work/node_modules/.bin/eslint", "work/.venv/bin/pytest"]) file(path);
file("work/notes.py", 0o644);
mkdirSync(join(folder, "work/deep/er"), { recursive: true });

const indexes = { commandsDatabase: join(folder, "commands.db"), aptLists: join(folder, "lists") };
const place = { cwd: join(folder, "work"), path: `${join(folder, "bin")}:relative::/no/such`, indexes };
const hints = (program: string, at: Partial<typeof place> = {}) =>
  suggestions(program, { ...place, ...at }).map(({ action, hint }) => `${action}: ${hint}`);

test("what was probably meant comes first, then who provides it", () => {
  const cases: [program: string, ...hints: string[]][] = [
    ["gti", "did_you_mean: Did you mean git?"],
    ["giit", "did_you_mean: Did you mean gist or git?"],
    ["gits", "did_you_mean: Did you mean gist or git?"],
    ["build", "did_you_mean: Did you mean ./build.sh?"],
    ["build.sh", "did_you_mean: Did you mean ./build.sh?"],
    ["notes.py", "did_you_mean: Did you mean ./notes.py?"],
    ["run", "did_you_mean: Did you mean ./run?"],
    ["eslint", "did_you_mean: Did you mean node_modules/.bin/eslint?"],
    [
      "python",
      "use_alternative: Use python3 instead, which is installed.",
      "install_package: The Debian package python-is-python3 provides it: apt-get install python-is-python3",
    ],
    [
      "docker-compose",
      "use_alternative: Use docker compose instead, which is installed.",
      "install_package: The Debian package docker-compose provides it: apt-get install docker-compose",
    ],
    [
      "rg",
      "use_alternative: Use grep -rn instead, which is installed.",
      "install_package: The Debian package ripgrep provides it: apt-get install ripgrep",
    ],
    ["jq", "install_package: The Debian package jq provides it: apt-get install jq"],
    ["cd", "use_shell: cd is part of the shell; to have it run by the shell leave `args` out."],
    [
      "git status",
      "use_shell: Give the program and its arguments apart; to have it run by the shell leave `args` out.",
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
  assert.deepEqual(hints("git", { path: "/no/such" }), ["install_package: The Debian package git provides it"]);
});

test("a project's own programs are found from below", () => {
  const cwd = join(folder, "work/deep/er");
  assert.deepEqual(hints("eslint", { cwd }), ["did_you_mean: Did you mean ../../node_modules/.bin/eslint?"]);
  assert.equal(hints("pytest", { cwd })[0], "did_you_mean: Did you mean ../../.venv/bin/pytest?");
});

test("a new program on PATH is noticed", () => {
  assert.deepEqual(hints("frobnicat"), []);
  file("bin/frobnicate");
  assert.deepEqual(hints("frobnicat"), ["did_you_mean: Did you mean frobnicate?"]);
});

test("the system's own index of commands is asked before the built-in list", () => {
  const database = new DatabaseSync(indexes.commandsDatabase);
  database.exec(`
    CREATE TABLE commands (cmdID INTEGER PRIMARY KEY, pkgID INTEGER NOT NULL, command TEXT);
    CREATE TABLE packages (pkgID INTEGER PRIMARY KEY, name TEXT, version TEXT, component TEXT, priority INTEGER);
    INSERT INTO packages VALUES (1, 'jq-next', '1', 'universe', 100), (2, 'jq', '1', 'main', 120), (3, 'x; rm -rf', '1', 'main', 130);
    INSERT INTO commands (pkgID, command) VALUES (1, 'jq'), (2, 'jq'), (3, 'jq');
  `);
  database.close();
  const jq = "install_package: The Debian package jq provides it (also jq-next): apt-get install jq";
  assert.deepEqual(hints("jq"), [jq]);
  assert.deepEqual(debianPackages("rg", indexes), ["ripgrep"]);
  writeFileSync(indexes.commandsDatabase, "not a database");
  assert.deepEqual(debianPackages("jq", indexes), ["jq"]);
  rmSync(indexes.commandsDatabase);
});

test("an archive's Contents index of any size is searched by halving", () => {
  mkdirSync(indexes.aptLists);
  const paths = Array.from({ length: 30_000 }, (_, index) => `usr/bin/tool${String(index).padStart(5, "0")}`);
  const lines = [...paths, "usr/sbin/frob"].map(
    (path) => `${path}\tutils/${path.slice(8).replace("/", "")}-pkg,extra/second`,
  );
  writeFileSync(join(indexes.aptLists, "deb.example_dists_stable_main_Contents-amd64"), `${lines.join("\n")}\n`);
  writeFileSync(join(indexes.aptLists, "deb.example_dists_stable_main_Contents-amd64.lz4"), "compressed");
  for (const index of [0, 1, 2, 7, 4096, 14_999, 15_000, 29_998, 29_999]) {
    const name = `tool${String(index).padStart(5, "0")}`;
    assert.deepEqual(debianPackages(name, indexes), [`${name}-pkg`, "second"], name);
  }
  assert.deepEqual(debianPackages("frob", indexes), ["frob-pkg", "second"]);
  for (const name of ["tool", "tool0000", "tool000000", "aaa", "zzz"])
    assert.deepEqual(debianPackages(name, indexes), [], name);
});

test("odd names find nothing and break nothing", () => {
  for (const name of ["", "..", "/", "a/b", "\0", "-rf", "'; DROP TABLE commands", "x".repeat(1 << 20), "__proto__"]) {
    assert.doesNotThrow(() => suggestions(name, place), name.slice(0, 20));
    assert.deepEqual(debianPackages(name, indexes), []);
  }
});

test("the built-in list knows some 200 programs, each by one package", () => {
  assert.ok(debianPrograms().size > 200);
  for (const name of debianPrograms().values()) assert.match(name, /^[a-z0-9][a-z0-9+.-]+$/);
});
