import assert from "node:assert/strict";
import { test } from "node:test";
import { isInside, normalize } from "../../../src/shell/path.ts";
import { quoteArgv, splitWords } from "../../../src/shell/quote.ts";
import { analyze, argvs, CONTEXT } from "./world.ts";

test("normalizes paths as the kernel resolves them", () => {
  for (const [path, expected] of [
    ["/", "/"],
    ["//", "/"],
    ["/.", "/"],
    ["/..", "/"],
    ["/a/../..", "/"],
    ["/a//b/./c/", "/a/b/c"],
    ["a", "/w/a"],
    [".", "/w"],
    ["..", "/"],
    ["../../x", "/x"],
    ["/a/...", "/a/..."],
    ["", null],
  ] as const)
    assert.equal(normalize(path, "/w"), expected, path);
  assert.equal(normalize("a", null), null);
  assert.ok(isInside("/a/b", "/a") && isInside("/a", "/a") && isInside("/a", "/") && !isInside("/ab", "/a"));
});

test("parses options as getopt_long does", () => {
  for (const [text, ...run] of [
    ["timeout -s KILL 5 rm a", "rm a"],
    ["timeout -sKILL 5 rm a", "rm a"],
    ["timeout -fvs KILL 5 rm a", "rm a"],
    ["timeout --sig=KILL 5 rm a", "rm a"],
    ["timeout --kill-af 3 5 rm a", "rm a"],
    ["timeout --fore 5 rm -s KILL", "rm -s KILL"],
    ["nice -n 5 -- rm a", "rm a"],
    ["xargs -i rm {}", "rm ?"],
    ["xargs -iX rm X", "rm ?"],
  ] as const)
    assert.deepEqual(
      argvs(text)
        .slice(1)
        .map((words) => words.join(" ")),
      run,
      text,
    );
  for (const [text, deletes, writes] of [
    ["rm -rf -- -a", ["-a"], []],
    ["cp -t d a", [], ["d"]],
    ["cp -rtd a", [], ["d"]],
    ["cp --target-d=d a --verb", [], ["d"]],
    ["sort -o out in", [], ["out"]],
    ["sed -i.bak s/a/b/ f", [], ["f"]],
  ] as const) {
    const fact = analyze(text).commands[0];
    const inside = (paths: readonly string[] = []) => paths.map((path) => path.slice(CONTEXT.cwd.length + 1));
    assert.deepEqual([inside(fact?.deletes), inside(fact?.writes)], [deletes, writes], text);
  }
});

test("expands braces in raw words", () => {
  assert.deepEqual(argvs("echo a{b,c{d,e}}f"), [["echo", "abf", "acdf", "acef"]]);
  assert.deepEqual(argvs("echo {a,'b,c'}"), [["echo", "a", "b,c"]]);
  assert.deepEqual(argvs("echo {$(x y,z),z}"), [
    ["x", "y,z"],
    ["echo", "?", "z"],
  ]);
  for (const many of ["{1..1000000}", "{a,b}".repeat(20)]) {
    assert.deepEqual(argvs(`echo ${many}`), [["echo", "?"]]);
    assert.equal(analyze(`rm ${many}`).analyzable, false);
  }
});

test("finds characters that misrepresent a command, and no ordinary ones", () => {
  for (const text of [
    "a\u001bb",
    "a\rb",
    "a\0b",
    "a\u200bb",
    "a\u202eb",
    "a\u2066b",
    "a\u00a0b",
    "a\u3000b",
    "\ufeffa",
    "a\u00adb",
    "a\u{e0041}b",
    "a\ud800b",
    "a\u2028b",
    "a\ufe0fb",
  ]) {
    const found = analyze(`echo '${text}'`).unknowns.filter(({ why }) =>
      why.includes("can make the displayed command differ"),
    );
    assert.equal(found.length, 1, JSON.stringify(text));
  }
  for (const text of ["a\tb\nc", "café 你好 привет ✨ ❤️ 👩‍👩‍👧 🏳️‍🌈", "naïve “quotes” – dash", "修复：错误"])
    assert.equal(analyze(`echo '${text}'`).analyzable, true, text);
  for (const text of ["ѕudo x", "ｒｍ x", "echo a；b", "rm –rf x", "curl 'https://exаmple.com'"]) {
    const [unknown] = analyze(text).unknowns;
    assert.match(unknown?.why ?? "", /only look(s)? like/, text);
  }
});

test("splitting reverses quoting", () => {
  for (const argv of [
    ["a", "b c", "", "it's", "$(x)", "a\nb", "*", "A=1", '"', "\\"],
    ["é", "--x=y"],
  ])
    assert.deepEqual(splitWords(quoteArgv(argv)), argv);
  assert.deepEqual(splitWords(`a 'b c' "d \\" e" f\\ g`), ["a", "b c", 'd " e', "f g"]);
  assert.equal(splitWords("'a"), null);
});
