// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell texts contain ${...} on purpose
import assert from "node:assert/strict";
import { test } from "node:test";
import { analyze, argvs } from "./world.ts";

/** Returns the arguments that `p` would receive. */
function given(text: string): string[] {
  return (
    argvs(text)
      .find(([name]) => name === "p")
      ?.slice(1) ?? []
  );
}

const KNOWN: [string, string[]][] = [
  [`p a 'b c' "d e" f\\ g`, ["a", "b c", "d e", "f g"]],
  [`p a'b'"c"\\d$'e'$"f"`, ["abcdef"]],
  [`p $'\\x41\\102\\u0043\\n\\''`, ["ABC\n'"]],
  ["p a\\\nb", ["ab"]],
  [`p "" ''`, ["", ""]],
  ["p {a,b}c x{1..3} {a,{b,c}}", ["ac", "bc", "x1", "x2", "x3", "a", "b", "c"]],
  [`p {a,"b,c"} '{a,b}' \\{a,b} {a} {} {a,b`, ["a", "b,c", "{a,b}", "{a,b}", "{a}", "{}", "{a,b"]],
  ["p {03..1} {c..a} {1..10..4}", ["03", "02", "01", "c", "b", "a", "1", "5", "9"]],
  ["p ~ ~/x ~root a~ '~' \\~ x=~/y", ["/home/user", "/home/user/x", "/root", "a~", "~", "~", "x=/home/user/y"]],
  ['p $HOME ${HOME}/x "$PWD"', ["/home/user", "/home/user/x", "/home/user/ws"]],
  ["v=a; p $v ${v}b \"$v c\" '$v' \\$v", ["a", "ab", "a c", "$v", "$v"]],
  ["v='a b'; p $v \"$v\"", ["a", "b", "a b"]],
  ['v=; p $v "$v" x', ["", "x"]],
  ["v=abc; p ${v#a} ${v%c} ${v/b/x} ${v:1:1} ${v^^} ${v:-d} ${v:+d}", ["bc", "ab", "axc", "b", "ABC", "abc", "d"]],
  ['a=(x \'y z\'); p "${a[@]}" ${a[1]} ${a[0]} "${a[*]}"', ["x", "y z", "y", "z", "x", "x y z"]],
  ['a=(x); a+=(y); p "${a[@]}"', ["x", "y"]],
  ["v=a; v+=b; p $v", ["ab"]],
  ['set -- x y; p $1 "$@" $2', ["x", "x", "y", "y"]],
  ['set -- x y; shift; p "$@"', ["y"]],
  ['p() { q "$1"; }; p x', ["x"]],
  ["export v=x; p $v", ["x"]],
  ["p $(pwd)", ["/home/user/ws"]],
  ["v=w; w=x; p ${!v}", ["x"]],
  [": ${v:=x}; p a", ["a"]],
];

for (const [text, expected] of KNOWN) test(`expands ${text}`, () => assert.deepEqual(given(text), expected));

const UNKNOWN: [string, string[]][] = [
  ["p $x", ["?"]],
  ['p "a$x"', ["?"]],
  ["p $(ls)", ["?"]],
  ["p `ls`", ["?"]],
  ["p $((1+1))", ["?"]],
  ["p <(ls)", ["?"]],
  ["read v; p $v", ["?"]],
  ["v=a; c && v=b; p $v", ["?"]],
  ["if c; then v=a; fi; p $v", ["?"]],
  ["v=a; while c; do p $v; v=b; done", ["?"]],
  ["v=a; unset v; p $v", ["?"]],
  ["p ${x:-y}", ["?"]],
  ["p {1..100000}", ["?"]],
  ["IFS=:; v=a:b; p $v", ["?"]],
];

for (const [text, expected] of UNKNOWN)
  test(`marks the argument as unknown in ${text}`, () => assert.deepEqual(given(text), expected));

test("an unknown word has a reason and a span", () => {
  const [fact] = analyze("p a$x").commands;
  assert.deepEqual(fact?.argv[1], { source: "a$x", value: null, prefix: "a", glob: false, span: { start: 2, end: 5 } });
  assert.deepEqual(fact?.unknowns, [
    { span: { start: 3, end: 5 }, why: "the value of `$x` is known only at run time" },
  ]);
});

test("the default of an unknown variable is its likely value", () => {
  const [fact] = analyze("p ${x:-y}").commands;
  assert.equal(fact?.argv[1]?.likely, "y");
});

test("globs are marked only where the shell would expand them", () => {
  const globs = (text: string) => analyze(text).commands[0]?.argv.map((word) => word.glob);
  assert.deepEqual(globs(`p * '*' "*" \\* a?b [ab] a`), [false, true, false, false, false, true, true, false]);
});
