import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { inspectRepository } from "../../../src/sandbox/protected/git/inspect-repository.ts";

const folder = mkdtempSync(join(tmpdir(), "sallyport-config-"));
after(() => rmSync(folder, { recursive: true }));
const git = join(folder, ".git");
for (const name of ["objects", "refs"]) mkdirSync(join(git, name), { recursive: true });
writeFileSync(join(git, "HEAD"), "ref: refs/heads/main\n");

/** Returns the keys of a configuration that run programs. */
function found(text: string | Buffer): string[] {
  writeFileSync(join(git, "config"), text);
  return inspectRepository(git, () => true).map(({ what }) => what);
}

/** Returns the value that git itself reads, or null. */
function gitValue(key: string): string | null {
  try {
    return execFileSync("git", ["config", "-f", join(git, "config"), key], { encoding: "utf8", stdio: "pipe" });
  } catch {
    return null;
  }
}

const SPELLINGS = [
  "[core]\nfsmonitor = evil\n",
  "[core] fsmonitor = evil",
  "[core]fsmonitor=evil",
  "[CORE]\r\n\tFsMonitor\t=\tevil\r\n",
  "\uFEFF[core]\nfsmonitor = evil\n",
  "# comment\n; another\n[core] # comment\nfsmonitor = evil ; comment\n",
  "[core]\nbare\nfsmonitor = evil\n",
  "[core]\nbare = false \\\n \nfsmonitor = evil\n",
  '[core]\neditor = "a\\"\\\n# b"\nfsmonitor = evil\n',
  '[core]\nfsmonitor = "ev"il\n',
  "[core]\nfsmonitor = ev\\\nil\n",
  '[core]\nx = "a # b" # "c\nfsmonitor = evil\n',
  '[other "a]b"]\n x = 1\n[core]\nfsmonitor = evil\n',
  '[other "a\\"]\\n[x"]\n x = 1\n[core]\nfsmonitor = evil\n',
  "[other]\n x = 1\n[core]\n\n\n\n   fsmonitor = evil\n[last]\n",
  "[core]\nfsmonitor = true\n[core]\nfsmonitor = evil\n",
  "[core]\nx = \\\\\nfsmonitor = evil\n",
  "\n\n\t[core]\n\tfsmonitor =\tevil\f\n",
];

for (const [index, text] of SPELLINGS.entries()) {
  test(`finds a setting that git reads, spelling ${index + 1}`, () => {
    const keys = found(text);
    assert.match(gitValue("core.fsmonitor") ?? "", /evil/, "git does not read this spelling");
    assert.ok(keys.includes("core.fsmonitor"), keys.join());
  });
}

test("finds settings with a subsection in both syntaxes", () => {
  assert.deepEqual(found('[filter "A b"]\nclean = x\n[diff.PDF]\ntextconv = y\n'), [
    "filter.A b.clean",
    "diff.pdf.textconv",
  ]);
  assert.deepEqual(found('[url "ext::sh -c x"]\ninsteadOf = a\n'), ["url.ext::sh -c x.insteadof"]);
});

test("does not report the settings of an ordinary clone", () => {
  const text = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	logallrefupdates = true
	fsmonitor = true
[remote "origin"]
	url = git@example.com:a/b.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
	remote = origin
	merge = refs/heads/main
[user]
	name = x
[alias]
	st = status
[pager]
	log = false
[filter "lfs"]
	process = git-lfs filter-process
	clean = git-lfs clean -- %f
	required = true
[submodule "lib"]
	url = https://example.com/lib.git
	update = rebase
`;
  assert.deepEqual(found(text), []);
});

test("reports a configuration that cannot be inspected", () => {
  assert.deepEqual(found(Buffer.alloc(100_000, "#")), ["settings that cannot be inspected"]);
});
