/**
 * docs/conformance.md lists the requirements of the five toolset designs, each with the tests that show it. These tests
 * keep the page true: every row has a test that exists, or states why Sallyport departs, and no number is missing.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PAGE = "docs/conformance.md";
const ANY = "…";

/** Each table: its heading, the letter of its numbers, and the smallest number of rows, so that no row is lost unnoticed. */
const TABLES: [heading: string, letter: string, least: number][] = [
  ["All toolsets", "A", 13],
  ["`bash`", "B", 40],
  ["`exec`", "E", 58],
  ["`process`", "P", 94],
  ["`runner`", "R", 58],
  ["`shell`", "S", 62],
];

interface Row {
  number: string;
  requirement: string;
  status: string;
  tests: { title: string; file: string }[];
}

/** Returns the rows of the table below a heading. */
function rows(page: string, heading: string): Row[] {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  return section
    .split("\n")
    .filter((line) => /^\| [A-Z]\d+ \|/.test(line))
    .map((line) => {
      const [, number = "", requirement = "", status = "", shown = ""] = line.split(/ ?(?<!\\)\| ?/);
      const links = [...shown.matchAll(/\[((?:\\.|[^\\])*?)\]\(\.\.\/([^)]+)\)/g)];
      const tests = links.map(([, title = "", file = ""]) => ({ title: title.replaceAll(/\\(.)/g, "$1"), file }));
      return { number, requirement, status, tests };
    });
}

/** Returns what is wrong with a row, apart from the tests that it names. */
function faults({ number, requirement, status, tests }: Row): string[] {
  return [
    ...(requirement === "" ? [`${number} states no requirement`] : []),
    ...(/^(holds|departs: \S.*)$/.test(status) ? [] : [`${number} must say "holds" or "departs: REASON"`]),
    ...(tests.length > 0 || status.startsWith("departs") ? [] : [`${number} names no test: link one, or write one`]),
  ];
}

/** Returns the titles of a test file, as written: `test("…")`, or `says: "…"` of a statement. */
function titles(file: string): string[] {
  const source = readFileSync(join(ROOT, file), "utf8");
  const literals = source.matchAll(/\b(?:test(?:\.\w+)?\(|says:)\s*("(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)/g);
  return [...literals].map(([, literal = ""]) =>
    literal.startsWith('"') ? JSON.parse(literal) : literal.slice(1, -1).replaceAll(/\\(.)/g, "$1"),
  );
}

/** Returns a pattern for the titles that a template produces. It also matches the placeholder that the page may use. */
function pattern(title: string): RegExp {
  const parts = title.split(/\$\{[^{}]*\}/).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${parts.join("(.*)")}$`, "s");
}

/** Returns the text of a test file and of what it imports, directly or through another file: values of templates. */
function sources(file: string, depth = 2): string {
  const text = readFileSync(file, "utf8");
  const imported = [...text.matchAll(/from "(\.[^"]+)"/g)].map(([, path = ""]) => join(dirname(file), path));
  const below = depth === 0 ? [] : imported.filter((path) => existsSync(path));
  return [text, ...below.map((path) => sources(path, depth - 1))].join("\n");
}

/** Reports whether a test file has a test with this title. The words that fill a template must be in its sources. */
function hasTest(file: string, title: string): boolean {
  return titles(file).some((each) => {
    const filled = pattern(each).exec(title)?.slice(1);
    const words = filled?.flatMap((text) => text.split(/[\s("]+/)).filter((word) => word !== "" && word !== ANY);
    return words?.every((word) => sources(join(ROOT, file)).includes(word)) ?? false;
  });
}

/** Returns the title of a file that shares most words with a title, as a suggestion. */
function nearest(file: string, title: string): string {
  const words = new Set(title.split(/\W+/));
  const common = (each: string) => each.split(/\W+/).filter((word) => words.has(word)).length / each.length ** 0.5;
  const [best = ""] = titles(file).sort((a, b) => common(b) - common(a));
  return best.replaceAll(/\$\{[^{}]*\}/g, ANY);
}

/** Returns what to do about a test that the page names and that does not exist. */
function missing({ number, tests }: Row): string[] {
  return tests.flatMap(({ file, title }) => {
    if (!existsSync(join(ROOT, file))) {
      return [`${number}: ${file} does not exist. If you moved it, correct the link in ${PAGE}.`];
    }
    if (hasTest(file, title)) return [];
    return [
      `${number}: ${file} has no test "${title}". If you renamed it, write the new title in row ${number} of ${PAGE} ` +
        `(the most similar one is "${nearest(file, title)}"). If you removed it, link another test that shows the requirement.`,
    ];
  });
}

const page = readFileSync(join(ROOT, PAGE), "utf8");

for (const [heading, letter, least] of TABLES) {
  const table = rows(page, heading);

  test(`the requirements of ${heading} are numbered without gaps, and each has a status and a test`, () => {
    assert.ok(table.length >= least, `${PAGE} lists ${table.length} requirements of ${heading}, fewer than ${least}`);
    const expected = table.map((_, index) => `${letter}${index + 1}`);
    assert.deepEqual(
      table.map(({ number }) => number),
      expected,
      `number the rows of ${heading} in ${PAGE} from ${letter}1 without gaps`,
    );
    assert.deepEqual(table.flatMap(faults), []);
  });

  test(`the tests that show the requirements of ${heading} exist`, () => {
    const found = table.flatMap(missing);
    assert.equal(found.length, 0, `\n${found.join("\n")}`);
  });
}

test("a row without a test, with an unknown test or without a reason is found", () => {
  const file = "test/unit/prose/conformance.test.ts";
  const here = (title: string) => `[${title}](../${file})`;
  const exists = here("the tests that show the requirements of bash exist");
  const text = [
    "## `bash`",
    "",
    `| B1 | a \\| b | holds | ${exists} |`,
    "| B2 | c | holds | |",
    `| B3 | d | departs | ${exists} |`,
    `| B4 | e | departs: f | ${here(`the tests that show the requirements of ${"x".repeat(9)} exist`)} |`,
  ].join("\n");
  const [first, second, third, fourth] = rows(`# Title\n\n${text}\n`, "`bash`");
  assert.ok(first && second && third && fourth);
  assert.deepEqual([faults(first), missing(first)], [[], []]);
  assert.match(faults(second).join(), /^B2 names no test/);
  assert.match(faults(third).join(), /^B3 must say/);
  assert.deepEqual(faults(fourth), []);
  assert.equal(missing(fourth).length, 1);
});
