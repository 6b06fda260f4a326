// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell texts contain ${...} on purpose
import assert from "node:assert/strict";
import { test } from "node:test";
import { analyze, argvs, find } from "./world.ts";

/** Every position in which a command can be hidden. `x` must be found in each. */
const HIDING = [
  "x",
  "a; x",
  "a\nx",
  "a & x",
  "a && x",
  "a || x",
  "a | x",
  "a |& x",
  "! x",
  "time x",
  "time -p x",
  "(x)",
  "((1)); x",
  "( (x) )",
  "(( x ) )",
  "{ x; }",
  "if x; then a; fi",
  "if a; then x; fi",
  "if a; then b; else x; fi",
  "if a; then b; elif x; then c; fi",
  "if a; then b; elif c; then x; fi",
  "while x; do a; done",
  "while a; do x; done",
  "until x; do a; done",
  "for i in a; do x; done",
  "for i in $(x); do a; done",
  "for ((i=0; i<1; i++)); do x; done",
  "for ((i=$(x); i<1; i++)); do a; done",
  "select i in a; do x; done",
  "case a in b) x;; esac",
  "case $(x) in b) a;; esac",
  "case a in $(x)) b;; esac",
  "case a in b) c;& d) x;; esac",
  "f() { x; }",
  "f() { x; }; f",
  "function f { x; }",
  "f() (x)",
  "coproc x",
  "coproc N { x; }",
  "[[ -n $(x) ]]",
  "[[ a == $(x) ]]",
  "[[ a =~ $(x) ]]",
  "(( $(x) ))",
  "echo $(( $(x) + 1 ))",
  "echo $[ `x` ]",
  "echo $(x)",
  "echo `x`",
  'echo "$(x)"',
  'echo "`x`"',
  "echo a$(x)b",
  "echo $(echo $(x))",
  "echo `echo \\`x\\``",
  "cat <(x)",
  "tee >(x)",
  "a < <(x)",
  "a > >(x)",
  "a > $(x)",
  "a < `x`",
  "v=$(x)",
  "v=$(x) a",
  "v=(a $(x))",
  "v[$(x)]=1",
  "v+=$(x)",
  "echo ${v:-$(x)}",
  "echo ${v:=`x`}",
  'echo "${v:+$(x)}"',
  "echo ${v:?$(x)}",
  "echo ${v#$(x)}",
  "echo ${v%%$(x)}",
  "echo ${v/$(x)/b}",
  "echo ${v/a/$(x)}",
  "echo ${v:$(x)}",
  "echo ${v:1:$(x)}",
  "echo ${v[$(x)]}",
  "echo ${#v[$(x)]}",
  "echo ${v^$(x)}",
  "echo {a,$(x)}",
  "echo *$(x)",
  "echo [$(x)]",
  "export v=$(x)",
  "declare -A v=([a]=$(x))",
  "local v=`x`",
  "cat <<E\n$(x)\nE",
  "cat <<E\n`x`\nE",
  "cat <<E\n${v:-$(x)}\nE",
  "cat <<-E\n\t$(x)\n\tE",
  'cat <<< "$(x)"',
  "cat <<A <<B\n$(x)\nA\nB",
  "a <<E; x\ntext\nE",
  "a \\\n; x",
  "r() { :; }; x",
  "echo $\\\n(x)",
  'echo "$\\\n(x)"',
  "x>f",
  ">f x",
  "v=1 x",
  "2>&1 x",
  "{ a; x; } > f",
  "a && { b || (x); }",
  "eval x",
  "eval 'a; x'",
  "trap x EXIT",
  "alias a=x",
  "bash -c x",
  "sh <<< x",
  "echo x | bash",
  "if :; then :; fi; x",
  ": ${v:=1}; x",
  "#c\nx",
  "a #c\nx",
];

for (const text of HIDING) {
  test(`finds the command in ${JSON.stringify(text)}`, () => {
    assert.ok(
      argvs(text).some(([name]) => name === "x"),
      JSON.stringify(argvs(text)),
    );
  });
}

/** Texts in which `x` is data and does not run. */
const DATA = [
  "echo x",
  "echo '$(x)'",
  "echo \\$\\(x\\)",
  "cat <<'E'\n$(x)\nE",
  "cat <<\\E\n`x`\nE",
  "# x",
  "a # ; x",
  'echo "\\$(x)"',
  "echo \\`x\\`",
  "v='$(x)'",
  ": x",
  "case x in x) a;; esac",
  "[[ x == x ]]",
  "for x in a; do b; done",
];
for (const text of DATA)
  test(`finds no command in ${JSON.stringify(text)}`, () => assert.ok(!argvs(text).some(([name]) => name === "x")));

const FOLDERS: [string, string | null][] = [
  ["x", "/home/user/ws"],
  ["cd a; x", "/home/user/ws/a"],
  ["cd /; x", "/"],
  ["cd ..; x", "/home/user"],
  ["cd; x", "/home/user"],
  ["cd ~/b && x", "/home/user/b"],
  ["cd a; cd -; x", "/home/user/ws"],
  ["(cd /); x", "/home/user/ws"],
  ["cd / | a; x", "/home/user/ws"],
  ["cd / & x", "/home/user/ws"],
  ["echo $(cd /); x", "/home/user/ws"],
  ["{ cd /; }; x", "/"],
  ["pushd /; x", "/"],
  ["pushd /; popd; x", "/home/user/ws"],
  ["cd $D; x", null],
  ["if a; then cd /; fi; x", null],
  ["a && cd /; x", null],
  ["cd a && x", "/home/user/ws/a"],
  ["while a; do cd ..; x; done", null],
  ["f() { cd /; }; f; x", "/"],
  ["cd / || exit; x", "/"],
  ["env -C /tmp x", "/tmp"],
  ["builtin cd /; x", "/"],
  ["command cd /; x", "/"],
  ["env cd /; x", "/home/user/ws"],
  ["CDPATH=/z; cd a; x", "/z/a"],
  ["cd -P -- /; x", "/"],
  ["ssh h x", null],
];
for (const [text, cwd] of FOLDERS)
  test(`x runs in ${cwd ?? "an unknown directory"}: ${text}`, () => assert.equal(find(text, "x").cwd, cwd));

test("distinguishes background commands, pipes and substitutions", () => {
  assert.equal(find("x &", "x").background, true);
  assert.equal(find("(a; x) &", "x").background, true);
  assert.equal(find("a | x", "x").piped, true);
  assert.equal(find("x", "x").piped, false);
});

test("redirections have normalized paths", () => {
  const { redirects, targets } = find("x > a/../b 2>> /e//f < in 2>&1 &> g <> h >| ~/i", "x");
  assert.deepEqual(
    redirects.map(({ kind, fd, path }) => [kind, fd, path]),
    [
      ["write", null, "/home/user/ws/b"],
      ["append", 2, "/e/f"],
      ["read", null, "/home/user/ws/in"],
      ["duplicate", 2, null],
      ["write", null, "/home/user/ws/g"],
      ["read-write", null, "/home/user/ws/h"],
      ["write", null, "/home/user/i"],
    ],
  );
  assert.deepEqual(
    targets.map(({ path }) => path),
    ["/home/user/ws/b", "/e/f", "/home/user/ws/g", "/home/user/ws/h", "/home/user/i"],
  );
});

test("lists the paths that a command deletes and writes", () => {
  assert.deepEqual(find("rm -r a ../b", "rm").deletes, ["/home/user/ws/a", "/home/user/b"]);
  assert.deepEqual(find("cp a /tmp", "cp").writes, ["/tmp", "/tmp/a"]);
  assert.deepEqual(find("curl -o f https://u:p@h.example/x", "curl").network, ["h.example"]);
  assert.deepEqual(find("git -C sub clean -f", "git").deletes, ["/home/user/ws/sub"]);
});

test("classifies commands by kind", () => {
  const kind = (text: string, name: string) => find(text, name).executable.kind;
  assert.equal(kind("cd x", "cd"), "builtin");
  assert.equal(kind("ls", "ls"), "external");
  assert.equal(kind("f() { :; }; f", "f"), "function");
  assert.equal(analyze("$X").commands[0]?.executable.kind, "unknown");
  assert.equal(find("/bin/../bin/ls", "ls").executable.written, "/bin/../bin/ls");
});

test("spans point into the given text, even for nested command strings", () => {
  for (const text of ["a; x y", "bash -c 'a; x y'", 'sh -c "x y"', "eval 'x y'", "echo $(x y)", "echo `x y`"]) {
    const { span } = find(text, "x");
    assert.equal(text.slice(span.start, span.end), "x y", text);
  }
});

test("a loop over known words is walked once per word", () => {
  assert.deepEqual(argvs("for i in a b; do x $i; done"), [
    ["x", "a"],
    ["x", "b"],
  ]);
});

test("a text with too many commands is unanalyzable", () => {
  const text = `${"a;".repeat(2000)}x`;
  assert.equal(analyze(text).analyzable, false);
  assert.equal(analyze("a;".repeat(100)).analyzable, true);
});
