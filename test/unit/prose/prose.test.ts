/**
 * Keeps out the phrases that readers of the documentation stumbled over most often: words that hide who acts, clauses used
 * as subjects, and private vocabulary. It reads comments, messages, test names and documentation. Fenced blocks of the
 * documentation and words in backticks or quotes are literals and are not checked, so the user `nobody` can be named.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** A phrase to avoid, and what to write instead. */
const PATTERNS: [pattern: RegExp, instead: string][] = [
  [/\b([Ww]hoever|[Ww]homever|[Nn]obody|[Ss]omebody)\b/, "name the person, process or client"],
  [/\banew\b/i, "again"],
  [/\b(tells?|telling|told) of\b/i, "describes, lists or reports"],
  [/\bbesides\b/i, "in addition to, also, or other than"],
  [/\b(for|after|every|within) so (long|many|often)\b/i, "the duration or number"],
  [/\balso then\b|\bgoes by itself\b|\bto be had\b|\bas long as it wants\b/i, "the plain statement"],
  [/\bpromise \d/i, "invariant N, as docs/architecture.md numbers them"],
  [/(\/\*\*?|\/\/|^\s*\*|[.:;]) (Null|Undefined|True|False): /, "Null when ..., Returns true when ..."],
  [
    /\bWhat (is|was|has|are|were|comes|came)\b[^,.?:;]* (is|are|was|were|needs?|must|goes|gets|counts|stays)\b/,
    "a noun",
  ],
  [/\bguarded door\b|\bkeep(s|ing)? house\b|\bprotected spots?\b/i, "the word in the glossary of docs/architecture.md"],
];

const PROSE = /\.(ts|tsx|js|mjs|c|h|md|sh|html)$/;
/** Corpora are data, and this file names the patterns. */
const EXCLUDED = /(^|\/)(corpus|differential)\/|^test\/unit\/prose\//;

/** Removes literals: fenced blocks of Markdown, inline code, single words in quotes, and regular expressions. */
function withoutLiterals(path: string, text: string): string {
  const isMarkdown = path.endsWith(".md");
  const blocks = isMarkdown ? text.replace(/^(`{3,})[\s\S]*?^\1$/gm, (block) => block.replace(/[^\n]/g, "")) : text;
  const code = isMarkdown ? blocks.replace(/`[^`\n]*`/g, "") : blocks;
  return code.replace(/\\?`\w+\\?`|"[\w.-]*"|'[\w.-]*'|\/\^.*?\$\/|\$[\w.{}]+\.\w+/g, "");
}

/** Returns the lines of a file that contain a phrase to avoid. */
function faults(path: string): string[] {
  const lines = withoutLiterals(path, readFileSync(join(ROOT, path), "utf8")).split("\n");
  return lines.flatMap((line, index) =>
    PATTERNS.filter(([pattern]) => pattern.test(line)).map(
      ([, instead]) => `${path}:${index + 1}: ${line.trim().slice(0, 140)} (write ${instead})`,
    ),
  );
}

test("comments, messages and documentation avoid phrases that are hard to understand", () => {
  const listed = execFileSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" }).split("\n");
  const found = listed.filter((path) => PROSE.test(path) && !EXCLUDED.test(path)).flatMap(faults);
  assert.equal(found.length, 0, `${found.length} lines:\n${found.join("\n")}`);
});

test("the patterns match whole phrases and no literals", () => {
  const matches = (text: string) => PATTERNS.some(([pattern]) => pattern.test(withoutLiterals("a.ts", text)));
  const faulty = [
    "/** Null: it is gone. */",
    "// What is looser needs a person.",
    "Nobody asked for it",
    "for so long",
  ];
  const fine = ["the user `nobody`", 'run as "nobody"', "What is a session?", "so long as it runs", "reports whether"];
  assert.deepEqual(
    faulty.map(matches),
    faulty.map(() => true),
  );
  assert.deepEqual(
    fine.map(matches),
    fine.map(() => false),
  );
});
