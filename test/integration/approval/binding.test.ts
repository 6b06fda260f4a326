import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { bindingOf, differences, fingerprint } from "../../../src/approval/binding.ts";
import { systemLookup } from "../../../src/shell/lookup.ts";
import { ApprovalFixture, type Asked } from "../../fixtures/approvals.ts";

const fixture = new ApprovalFixture();
after(() => fixture.remove());

/** Creates a new folder for each case. */
function place(): string {
  return mkdtempSync(join(fixture.workspace, "case-"));
}

/** Returns the reported changes between a request and its launch, and verifies them through a real approval. */
function said(asked: Asked, change: () => void, later: Partial<Asked> = {}): string[] {
  const approvals = fixture.approvals();
  const request = fixture.asked(asked);
  const { id } = approvals.request(request);
  approvals.decide(id, { decision: "once", who: "ann", channel: "cli" });
  change();
  const now = fixture.binding({ ...asked, ...later });
  const changed = differences(request.binding, now);
  const consumed = approvals.consume(id, now, { agent: "builder", session: "s" });
  assert.deepEqual(consumed, changed.length === 0 ? { ok: true } : { ok: false, status: "approved", changed });
  assert.equal(fingerprint(request.binding) === fingerprint(now), changed.length === 0);
  if (changed.length > 0) {
    const again = approvals.request(fixture.asked({ ...asked, ...later }));
    assert.notEqual(again.id, id, "no new approval was requested");
    if (!changed.includes("the command changed"))
      assert.deepEqual(again.request.changed, changed, "the new request does not name the change");
    assert.deepEqual(fixture.audited.findLast(({ outcome }) => outcome === "refused")?.detail.changed, changed);
  }
  return changed;
}

const file = (cwd: string, name: string, text = "echo hello\n") => {
  writeFileSync(join(cwd, name), text);
  return join(cwd, name);
};

test("reports no change when nothing changed", () => {
  const cwd = place();
  file(cwd, "x.sh");
  assert.deepEqual(
    said({ command: "bash x.sh | wc -l", cwd }, () => {}),
    [],
  );
});

test("touching a script does not invalidate an approval", () => {
  const cwd = place();
  const script = file(cwd, "x.sh");
  assert.deepEqual(
    said({ command: "bash x.sh", cwd }, () => utimesSync(script, 1, 1)),
    [],
  );
});

/** Commands that run code from a file, with the file. */
const SCRIPTS: [command: string, file: string][] = [
  ["bash x.sh", "x.sh"],
  ["sh -eu ./x.sh --fast", "x.sh"],
  ["bash < x.sh", "x.sh"],
  [". ./x.sh", "x.sh"],
  ["source ./x.sh", "x.sh"],
  ["python3 x.py", "x.py"],
  ["python3 -m tool", "tool.py"],
  ["python3 -u x.py a b", "x.py"],
  ["node x.js", "x.js"],
  ["node x", "x.js"],
  ["node .", "index.js"],
  ["node --require=./x.js y.js", "x.js"],
  ["perl x.pl", "x.pl"],
  ["ruby x.rb", "x.rb"],
  ["awk -f x.awk data", "x.awk"],
  ["sed -f x.sed data", "x.sed"],
  ["sqlite3 x.db < x.sql", "x.sql"],
  ["make", "Makefile"],
  ["make test", "Makefile"],
  ["make -f x.mk", "x.mk"],
  ["make -fx.mk", "x.mk"],
  ["npm run build", "package.json"],
  ["npm test", "package.json"],
  ["npx tool", "package.json"],
  ["cargo build", "build.rs"],
  ["pytest", "conftest.py"],
  ["env A=1 bash x.sh", "x.sh"],
  ["timeout 5 bash x.sh", "x.sh"],
  ["nice -n 5 python3 x.py", "x.py"],
  ["bash -c 'bash x.sh'", "x.sh"],
  ["true && bash x.sh", "x.sh"],
];

for (const [command, name] of SCRIPTS) {
  test(`${command}: detects a change to ${name}`, () => {
    const cwd = place();
    const script = file(cwd, name);
    const role = /^(Makefile|package\.json|build\.rs|conftest\.py)$/.test(name) ? "project file" : "script";
    const changed = said({ command, cwd }, () => appendFileSync(script, "rm -rf ~\n"));
    assert.deepEqual(changed, [`the content of the ${role} ${script} changed`]);
  });
}

test("detects a changed script in a folder that the command changes to", () => {
  const cwd = place();
  mkdirSync(join(cwd, "sub"));
  const script = file(join(cwd, "sub"), "x.sh");
  const changed = said({ command: "cd sub && bash x.sh", cwd }, () => appendFileSync(script, "x"));
  assert.deepEqual(changed, [`the content of the script ${script} changed`]);
});

test("detects removed and added scripts", () => {
  const cwd = place();
  const script = file(cwd, "x.sh");
  const gone = said({ command: "bash x.sh", cwd }, () => unlinkSync(script));
  assert.deepEqual(gone, [`the script ${script} no longer exists`]);
  const makefile = join(cwd, "GNUmakefile");
  const came = said({ command: "make", cwd }, () => file(cwd, "GNUmakefile"));
  assert.deepEqual(came, [`the project file ${makefile} was added`]);
});

test("detects a script that is replaced by a link", () => {
  const cwd = place();
  const script = file(cwd, "x.sh");
  const other = file(cwd, "other.sh");
  const changed = said({ command: "bash x.sh", cwd }, () => {
    unlinkSync(script);
    symlinkSync("other.sh", script);
  });
  assert.deepEqual(changed, [`the script ${script} now resolves to ${other} (previously ${script})`]);
});

test("a FIFO in place of a script does not block", () => {
  const cwd = place();
  const script = file(cwd, "x.sh");
  const changed = said({ command: "bash x.sh", cwd }, () => {
    unlinkSync(script);
    execFileSync("mkfifo", [script]);
  });
  assert.deepEqual(changed, [`the permissions or owner of the script ${script} changed`]);
});

test("detects a program that is overwritten or replaced by a rename", () => {
  const cwd = place();
  const tool = join(cwd, "tool");
  copyFileSync("/bin/true", tool);
  const asked = { command: "./tool --version", cwd };
  assert.deepEqual(
    said(asked, () => appendFileSync(tool, "x")),
    [`the content of the program ${tool} changed`],
  );
  copyFileSync("/bin/false", join(cwd, "new"));
  assert.deepEqual(
    said(asked, () => renameSync(join(cwd, "new"), tool)),
    [`the content of the program ${tool} changed`],
  );
  assert.deepEqual(
    said(asked, () => chmodSync(tool, 0o4755)),
    [`the permissions or owner of the program ${tool} changed`],
  );
});

test("binds a program that is too large to hash by inode and timestamps", () => {
  const cwd = place();
  const tool = file(cwd, "big", "#!/bin/sh\n");
  truncateSync(tool, 40 << 20);
  chmodSync(tool, 0o755);
  const asked = { command: "./big", cwd };
  const { covers } = fixture.approvals().request(fixture.asked(asked)).request;
  assert.deepEqual(
    covers.find(({ path }) => path === tool),
    { path: tool, role: "program", sha256: null },
  );
  const changed = said(asked, () => writeFileSync(tool, "y", { flag: "r+" }));
  assert.deepEqual(changed, [
    "the interpreter /bin/sh is no longer used",
    `the content of the program ${tool} changed`,
  ]);
});

test("detects a program that is placed earlier on PATH", () => {
  const cwd = place();
  const first = join(cwd, "bin");
  mkdirSync(first);
  const asked = { command: "uname -a", cwd, env: { PATH: `${first}:/usr/bin:/bin` } };
  const changed = said(asked, () => copyFileSync("/bin/true", join(first, "uname")));
  assert.deepEqual(changed, [`the program uname now resolves to ${join(first, "uname")} (previously /usr/bin/uname)`]);
});

test("detects a program placed earlier on PATH despite old facts and a cached lookup", () => {
  const cwd = place();
  const first = join(cwd, "bin");
  mkdirSync(first);
  const env = { PATH: `bin:/usr/bin:/bin` };
  const lookup = systemLookup(env.PATH);
  const facts = fixture.inspect("uname -a", cwd).commands;
  const take = () => bindingOf({ command: "uname -a", argv: ["bash"], file: "bash", cwd, env, facts, lookup });
  const before = take();
  copyFileSync("/bin/true", join(first, "uname"));
  assert.deepEqual(differences(before, take()), [
    `the program uname now resolves to ${join(first, "uname")} (previously /usr/bin/uname)`,
  ]);
});

test("detects a changed interpreter of a #! line", () => {
  const cwd = place();
  const interpreter = join(cwd, "interpreter");
  copyFileSync("/bin/true", interpreter);
  const tool = file(cwd, "tool", `#!${interpreter}\n`);
  chmodSync(tool, 0o755);
  const changed = said({ command: "./tool", cwd }, () => copyFileSync("/bin/false", interpreter));
  assert.deepEqual(changed, [`the content of the interpreter ${interpreter} changed`]);
});

test("distinguishes two programs with the same name", () => {
  const cwd = place();
  for (const folder of ["a", "b"]) {
    mkdirSync(join(cwd, folder));
    copyFileSync("/bin/true", join(cwd, folder, "tool"));
  }
  const command = "(cd a && ./tool); (cd b && ./tool)";
  for (const folder of ["a", "b"]) {
    const tool = join(cwd, folder, "tool");
    const changed = said({ command, cwd }, () => appendFileSync(tool, "x"));
    assert.deepEqual(changed, [`the content of the program ${tool} changed`]);
  }
});

test("detects a working directory that is relinked, replaced or removed", () => {
  const cwd = place();
  for (const folder of ["one", "two", "three"]) mkdirSync(join(cwd, folder));
  const link = join(cwd, "link");
  symlinkSync("one", link);
  const swapped = said({ command: "ls -l", cwd: link }, () => {
    unlinkSync(link);
    symlinkSync("two", link);
  });
  assert.deepEqual(swapped, [`the working directory ${link} now resolves to ${join(cwd, "two")}`]);
  const one = join(cwd, "one");
  const replaced = said({ command: "ls -l", cwd: one }, () => {
    renameSync(one, join(cwd, "old"));
    renameSync(join(cwd, "three"), one);
  });
  assert.deepEqual(replaced, [`the working directory ${one} was replaced by another folder`]);
  const gone = said({ command: "ls -l", cwd: one }, () => rmSync(one, { recursive: true }));
  assert.deepEqual(gone, [`the working directory ${one} no longer exists`]);
});

test("detects changed, added and removed environment variables", () => {
  const inherited = { LANG: "C", TERM: "xterm" };
  const changes: [Record<string, string>, string][] = [
    [{ LANG: "C", TERM: "dumb" }, "the environment variable TERM changed"],
    [{ LANG: "C" }, "the environment variable TERM was removed"],
    [{ LANG: "C", TERM: "xterm", PAGER: "sh" }, "the environment variable PAGER was added"],
  ];
  for (const [index, [later, words]] of changes.entries()) {
    assert.deepEqual(
      said({ command: `ls -a ${index}`, inherited }, () => {}, { inherited: later }),
      [words],
    );
  }
});

test("detects a changed stdin, sandbox, command and working directory", () => {
  const none = () => {};
  assert.deepEqual(said({ command: "bash -s", stdin: "ls" }, none, { stdin: "rm -rf ~" }), [
    "the text for stdin changed",
  ]);
  assert.deepEqual(said({ command: "id -u" }, none, { confinement: "none" }), [
    "the sandbox changed from workspace-write to none",
  ]);
  assert.deepEqual(said({ command: "id -g" }, none, { command: "id -G" }), ["the command changed"]);
  assert.deepEqual(said({ command: "id -n" }, none, { cwd: fixture.folder }), [
    `the working directory changed from ${fixture.workspace} to ${fixture.folder}`,
  ]);
});

test("beyond the read limit, binds programs by inode and timestamps", () => {
  const cwd = place();
  const names = Array.from({ length: 7 }, (_, index) => `tool-${index}`);
  for (const name of names) {
    file(cwd, name, "#!/bin/sh\n");
    truncateSync(join(cwd, name), 10 << 20);
    chmodSync(join(cwd, name), 0o755);
  }
  const command = names.map((name) => `./${name}`).join("; ");
  const last = join(cwd, "tool-6");
  const { files } = fixture.binding({ command, cwd });
  assert.deepEqual(
    files.filter(({ identity }) => identity?.sha256 === null).map(({ path }) => path),
    [last],
  );
  const changed = said({ command, cwd }, () => writeFileSync(last, "y", { flag: "r+" }));
  assert.deepEqual(changed, [`the content of the program ${last} changed`]);
});

test("does not store the values of environment variables", () => {
  const binding = fixture.binding({ command: "ls", env: { API_TOKEN: "hunter2-hunter2" } });
  assert.doesNotMatch(JSON.stringify(binding), /hunter2/);
});
