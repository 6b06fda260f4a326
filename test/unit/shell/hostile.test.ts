// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell texts contain ${...} on purpose
import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuMs } from "../text/cpu-time.ts";
import { analyze } from "./world.ts";

/** The limits in docs/policy.md. */
const LONGEST_TEXT = 32 * 1024;
const LONGEST_TEXT_WITH_COMMENTS = 128 * 1024;

/** CPU time limit. The target is 20 ms; slow machines get 20 times that. */
const TARGET_MS = 20;
const SLOWEST_FACTOR = 20;

const NOTHING = analyze("");

function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function timed(text: string): void {
  let analysis = NOTHING;
  const took = cpuMs(() => {
    analysis = analyze(text);
  });
  assert.ok(
    took < TARGET_MS * SLOWEST_FACTOR,
    `${took.toFixed(0)} ms for ${JSON.stringify(text.slice(0, 60))}, ${text.length} characters`,
  );
  assert.equal(typeof analysis.analyzable, "boolean");
  assert.ok(
    !analysis.unknowns.some(({ why }) => why.startsWith("the analysis failed")),
    JSON.stringify(analysis.unknowns.slice(0, 3)),
  );
  for (const { span } of [...analysis.unknowns, ...analysis.commands]) {
    assert.ok(
      span.start >= 0 && span.end <= text.length && span.start <= span.end,
      JSON.stringify([span, text.slice(0, 80)]),
    );
  }
}

/** Inputs on which parsers and walks take quadratic or exponential time, or nest deeply. */
const REPEATED = [
  "{",
  "}",
  "(",
  ")",
  "((",
  "$(",
  "$((",
  "${",
  "`",
  "\\`",
  "'",
  '"',
  "$'",
  '"$(',
  "<(",
  ">(",
  "[",
  "[[ ",
  "a[",
  "${a[",
  "${a:-",
  "${a/",
  "$[",
  "{a,",
  "{1..9}",
  "@(",
  "!(",
  "<<A ",
  "<<A\n",
  "<<<",
  "> f ",
  "2>&1 ",
  "a=",
  "a=(",
  "a[0]=",
  "A=1 ",
  "! ",
  "time ",
  "coproc ",
  "if ",
  "while :; do ",
  "for i in a b; do ",
  "case a in a) ",
  "f() { ",
  "f() { f; }; f\n",
  "{ ",
  "( ",
  "a;",
  "a|",
  "a&&",
  "a||",
  "a&",
  "a\n",
  "\\\n",
  "\t",
  "# \n",
  "*",
  "?",
  "~",
  "$x",
  "$x$x",
  "${x}",
  "eval ",
  "env ",
  "env -S ",
  "sudo nice ",
  "bash -c ",
  "xargs ",
  "find . -exec ",
  "x=a; ",
  "x=$x$x; ",
  "cd ..; ",
  "echo $(echo ",
  "echo `echo ",
  'echo "',
  "\u202e",
  "é",
  "\u{1f600}",
  "\r",
  "\0",
  "-",
  "--",
  "/",
  "/..",
  "//",
  "rm -rf / ; ",
  "trap ",
  "alias a=",
  "let ",
  "((a++));",
  "[[ -v ",
  "read x;",
  "unset x;",
  "export x=",
];

test("no input of any length exceeds the time limit or makes the analysis fail", () => {
  for (const piece of REPEATED) {
    for (const length of [20, 200, 2000, LONGEST_TEXT, LONGEST_TEXT + 1])
      timed(piece.repeat(Math.ceil(length / piece.length)).slice(0, length));
  }
});

test("no mixture of inputs exceeds the time limit or makes the analysis fail", () => {
  const pick = random(20261115);
  const until = performance.now() + 6000;
  for (let round = 0; round < 6000 && performance.now() < until; round++) {
    let text = "";
    const count = 1 + pick(round % 10 === 0 ? 3000 : 60);
    for (let i = 0; i < count; i++) text += REPEATED[pick(REPEATED.length)];
    timed(text);
  }
});

test("text that exceeds a limit is unanalyzable", () => {
  for (const text of [
    "a".repeat(LONGEST_TEXT + 1),
    `ls # ${"x".repeat(LONGEST_TEXT_WITH_COMMENTS)}`,
    `cat <<E\n${"$x\n".repeat(1501)}E`,
    `echo "${"a".repeat(LONGEST_TEXT)}"`,
    "$(".repeat(161),
    "<<A ".repeat(65),
    "`".repeat(1001),
    `echo ${"{".repeat(97)}`,
  ]) {
    assert.equal(analyze(text).analyzable, false, text.slice(0, 20));
  }
});

/** Text that does not count towards the limits, each of 100,000 characters or more. */
const PADDING = [
  `# ${"x".repeat(100_000)}\n`,
  "# don't `$(\n".repeat(9000),
  `: '${"$(rm); ".repeat(15_000)}'\n`,
  `cat > f <<'END'\n${"don't; `${x}` $(y) | {{{\n".repeat(5000)}END\n`,
  `cat > f <<-\\END\n${"\tif (a && b) { c; }\n".repeat(6000)}\tEND\n`,
  `cat > "it's" << "A" 2>/dev/null; cat << 'B' # 'c\n${"'\n".repeat(50_000)}A\n${"x;".repeat(10)}\nB\n`,
  " ".repeat(100_000),
  "\n".repeat(100_000),
];

test("comments, blanks and literal text of any kind do not hide a command", () => {
  for (const padding of PADDING) {
    const analysis = analyze(`${padding}$'\\x72m' -rf /`);
    assert.equal(analysis.analyzable, true, JSON.stringify([padding.slice(0, 30), analysis.unknowns]));
    const last = analysis.commands.at(-1);
    assert.equal(last?.executable.name, "rm", padding.slice(0, 30));
    assert.deepEqual(last?.deletes, ["/"]);
  }
});

test("text that only looks like padding counts towards the limits", () => {
  for (const start of [
    "echo $((1<<'E'\n",
    "echo `<<'E'\n",
    "x=${a#'",
    "echo \"$(cat <<'E'\n",
    "((1<<'E'\n",
    "echo a#",
  ]) {
    for (const piece of ["$(", "`", "{a,", "a[0]="])
      timed((start + piece.repeat(64 * 1024)).slice(0, LONGEST_TEXT_WITH_COMMENTS));
    assert.equal(analyze(start + "$(".repeat(64 * 1024)).analyzable, false, start);
  }
});

test("a long here-document of braces and backticks can be analyzed", () => {
  const body = "function f() { return `${a}` + { b: 1 }; }\n".repeat(200);
  assert.equal(analyze(`cat > f.js <<'END'\n${body}END`).analyzable, true);
});
