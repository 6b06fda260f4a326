import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { recognizeWrapper } from "../../../src/hosts/wrappers/index.ts";

const home = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-wrappers-")));
after(() => rmSync(home, { recursive: true }));
const workspace = join(home, "project");
const snapshots = join(home, ".claude/shell-snapshots");
const SNAPSHOT = join(snapshots, "snapshot-bash-1763580000000-a1b2c3.sh");
mkdirSync(workspace);
mkdirSync(snapshots, { recursive: true });
writeFileSync(SNAPSHOT, "true\n");

const env = { HOME: home, CLAUDECODE: "1", GEMINI_CLI: "1" };
const recognize = (text: string, own: Partial<Parameters<typeof recognizeWrapper>[1]> = {}) =>
  recognizeWrapper(text, { env, workspace, uid: 1000, ...own });

// As Claude Code 2.1 builds it.
const claude = (word: string, { source = SNAPSHOT, input = " < /dev/null", file = "/tmp/claude-a1b2-cwd" } = {}) =>
  `source ${source} 2>/dev/null || true && shopt -u extglob 2>/dev/null || true && eval ${word}${input} && pwd -P >| ${file}`;
// As Gemini CLI 0.61 builds it.
const gemini = (command: string, file = join(tmpdir(), "gemini-shell-AbCd12/bgpids.tmp")) =>
  `shopt -u promptvars nullglob extglob nocaseglob dotglob; _bgpids_file=${file}
(
  trap 'jobs -p > "$_bgpids_file"' EXIT
${command}
)
__code=$?
exit $__code`;

test("finds the command in the text of Claude Code, whatever its quotes", () => {
  const words: [word: string, command: string][] = [
    ["'ls -la'", "ls -la"],
    [`'echo '"'"'a'"'"''`, "echo 'a'"],
    ["'line 1\nline 2'", "line 1\nline 2"],
    ["ls", "ls"],
    ["'eval x && pwd -P >| /etc/passwd'", "eval x && pwd -P >| /etc/passwd"],
    ["$'x'", ""],
  ];
  for (const [word, command] of words) assert.equal(recognize(claude(word))?.command ?? "", command, word);
  const { sourced, directoryFile } = recognize(claude("'ls'")) ?? {};
  assert.deepEqual({ sourced, directoryFile }, { sourced: [SNAPSHOT], directoryFile: "/tmp/claude-a1b2-cwd" });
});

test("finds the command without a snapshot, without input, and with the options of other shells", () => {
  for (const text of [
    "eval 'ls' && pwd -P >| /tmp/claude-a1b2-cwd",
    "shopt -u extglob 2>/dev/null || true && eval 'ls' < /dev/null && pwd -P >| /tmp/claude-a1b2-cwd",
    "setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL 2>/dev/null || true && eval ls && pwd -P >| /tmp/claude-1000/claude-a1-cwd",
    "{ shopt -u extglob || setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL; } >/dev/null 2>&1 || true && eval ls && pwd -P >| /tmp/claude-a-cwd",
  ])
    assert.equal(recognize(text)?.command, "ls", text);
});

test("finds the command in the text of Claude Code 2.1.328", () => {
  const version =
    `{ case "\${BASH_VERSINFO-}" in '2'|'3') \\builtin printf '%s\\n' ` +
    `'__CLAUDE_CODE_DID_NOT_RUN_BASH_TOO_OLD='"\${BASH_VERSION-}" >&2; \\builtin exit 126; \\exit 126;; esac; } && `;
  const forget = (name: string) =>
    `{ \\builtin unalias -- '${name}'; \\builtin unset -f -- '${name}'; } >/dev/null 2>&1 || true && `;
  const text =
    `source ${SNAPSHOT} 2>/dev/null || true && \\builtin shopt -u extglob 2>/dev/null || true && ` +
    `${forget("which")}${forget("unsetenv")}eval 'pwd; false' < /dev/null && pwd -P >| /tmp/claude-72bd-cwd`;
  for (const whole of [text, version + text]) {
    const wrapper = recognize(whole);
    assert.equal(wrapper?.command, "pwd; false");
    assert.equal(wrapper.text("pwd -P >| /tmp/claude-72bd-cwd"), whole);
    execFileSync("bash", ["-n", "-c", whole]);
  }
});

const FORGED: [what: string, text: string][] = [
  ["more after it", `${claude("'ls'")}; id`],
  ["a line after it", `${claude("'ls'")}\nid`],
  ["more before it", `id; ${claude("'ls'")}`],
  ["a second eval", claude("'ls' && eval 'id'")],
  ["a second word for eval", claude("'ls' id")],
  ["an expansion in the word", claude('"$(id)"')],
  ["a backquote in the word", claude('"`id`"')],
  ["an unclosed quote", claude("'ls")],
  ["a snapshot elsewhere", claude("'ls'", { source: "/tmp/snapshot-bash-1-a.sh" })],
  ["a snapshot above its folder", claude("'ls'", { source: `${snapshots}/../evil.sh` })],
  ["a snapshot with another name", claude("'ls'", { source: `${snapshots}/evil.sh` })],
  ["a snapshot with an expansion", claude("'ls'", { source: `${snapshots}/$(id).sh` })],
  ["another file for the directory", claude("'ls'", { file: "/etc/passwd" })],
  ["a file above the folder", claude("'ls'", { file: "/tmp/claude-a-cwd/../x-cwd" })],
  ["a folder in the name", claude("'ls'", { file: "/tmp/x/claude-a-cwd" })],
  ["an expansion in the file", claude("'ls'", { file: "/tmp/claude-$(id)-cwd" })],
  ["a file with a line break", claude("'ls'", { file: "'/tmp/claude-a\n-cwd'" })],
  ["a brace expansion in the file", claude("'ls'", { file: "/tmp/claude-{a,b}-cwd" })],
  ["other input", claude("'ls'", { input: " < /etc/passwd" })],
  ["two spaces", claude("'ls'").replace("eval ", "eval  ")],
  ["a tab", claude("'ls'").replace("eval ", "eval\t")],
  ["a carriage return", `${claude("'ls'")}\r`],
  ["a file of Gemini elsewhere", gemini("ls", "/etc/bgpids.tmp")],
  ["a file of Gemini above its folder", gemini("ls", join(tmpdir(), "gemini-shell-AbCd12/../bgpids.tmp"))],
  ["more after the text of Gemini", `${gemini("ls")}; id`],
  ["another exit of Gemini", gemini("ls").replace("exit $__code", "exit 0")],
  ["no command of Gemini", gemini("")],
];

for (const [what, text] of FORGED) {
  test(`judges as a whole a text with ${what}`, () => assert.equal(recognize(text), null));
}

test("judges as a whole the text of a host that is not running", () => {
  for (const text of [claude("'ls'"), gemini("ls")])
    for (const own of [{ HOME: home }, { HOME: home, CLAUDECODE: "0", GEMINI_CLI: "" }])
      assert.equal(recognize(text, { env: own }), null);
});

test("judges as a whole a text whose snapshot the agent could write", () => {
  assert.equal(recognize(claude("'ls'"), { workspace: home }), null);
  assert.equal(recognize(claude("'ls'"), { workspace: "/" }), null);
  // Neither does the file have to exist yet, nor the folder to be the one that its path names.
  const missing = join(snapshots, "snapshot-bash-2-b.sh");
  assert.equal(recognize(claude("'ls'", { source: missing }))?.command, "ls");
  assert.equal(recognize(claude("'ls'", { source: missing }), { workspace: home }), null);
  const config = join(home, "config");
  symlinkSync(workspace, config);
  const linked = join(config, "shell-snapshots/snapshot-bash-1-a.sh");
  assert.equal(recognize(claude("'ls'", { source: linked }), { env: { ...env, CLAUDE_CONFIG_DIR: config } }), null);
});

test("what is found in the text of Gemini is all that runs, wherever it ends the subshell", () => {
  const command = "echo a\n)\n__code=$?\nexit $__code\n(\necho b";
  assert.equal(recognize(gemini(command))?.command, command);
  assert.ok(!recognize(gemini("ls"))?.text("").includes("trap"));
});

test("the rebuilt text does in bash what the text of the host does", () => {
  const file = join(home, "directory");
  for (const command of [
    "cd /usr; echo 'a \"b\"' $((1+1))",
    "cat <<'EOF'\n$HOME `x`\nEOF",
    "false",
    "exit 3",
    "echo \\\\ a\\ b",
    "cd /usr | cat",
    "echo unclosed '",
  ]) {
    const quoted = `'${command.replaceAll("'", `'"'"'`)}'`;
    const text = recognize(claude(quoted))?.text(`pwd -P >| ${file}`) ?? "";
    const [own, original] = [text, claude(quoted, { file })].map((each) => {
      rmSync(file, { force: true });
      const script = `bash -c "$1" 2>/dev/null; echo "exit $?"; cat "$2" 2>/dev/null; true`;
      return execFileSync("bash", ["-c", script, "bash", each, file], { cwd: workspace, encoding: "utf8" });
    });
    assert.equal(own, original, command);
  }
});
