/**
 * Prints the share of lines in src/ that the tests run, one row per folder: `npm run coverage [-- TEST...]` (default: all
 * tests). Counts lines that run in the test processes and in the Node processes they start (command lines, gateways,
 * workers).
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

interface Range {
  startOffset: number;
  endOffset: number;
  count: number;
}

const ROOT = join(import.meta.dirname, "..");
const SOURCE = pathToFileURL(join(ROOT, "src")).href;

/** Returns for each file which characters ran in any process. Node replaces types with blanks, which keeps offsets. */
function ranIn(folder: string): Map<string, Uint8Array> {
  const ran = new Map<string, Uint8Array>();
  for (const name of readdirSync(folder)) {
    for (const { url, functions } of resultsOf(join(folder, name))) {
      if (!url.startsWith(SOURCE)) continue;
      const path = fileURLToPath(url);
      const all = ran.get(path) ?? new Uint8Array(readFileSync(path, "utf8").length);
      const own = new Uint8Array(all.length);
      // Inner ranges are more exact, so they are applied after the ranges that contain them.
      const ranges = functions.flatMap((each) => each.ranges) as Range[];
      ranges.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
      for (const { startOffset, endOffset, count } of ranges) own.fill(count > 0 ? 1 : 0, startOffset, endOffset);
      for (let at = 0; at < all.length; at++) all[at] = (all[at] ?? 0) | (own[at] ?? 0);
      ran.set(path, all);
    }
  }
  return ran;
}

function resultsOf(file: string): { url: string; functions: { ranges: Range[] }[] }[] {
  try {
    return JSON.parse(readFileSync(file, "utf8")).result;
  } catch {
    return []; // The process was killed while it wrote the report.
  }
}

interface Lines {
  lines: number;
  ran: number;
}

/** Counts lines with code. Blank lines, comments, imports, types and lone brackets do not count. */
function linesOf(path: string, ran: Uint8Array | undefined): Lines {
  const sum = { lines: 0, ran: 0 };
  let at = 0;
  let skipping: RegExp | null = null;
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const from = at + line.length - line.trimStart().length;
    at += line.length + 1;
    if (skipping) {
      if (skipping.test(line)) skipping = null;
      continue;
    }
    if (/^\s*\/\*\*?/.test(line) && !line.includes("*/")) skipping = /\*\//;
    else if (/^(import|export) (type )?\{?$/.test(line) || /^import [^;]*$/.test(line)) skipping = /;$/;
    else if (/^(export )?(interface|type) .*\{$/.test(line)) skipping = /^\}/;
    else if (/^(export )?type .*[^;]$/.test(line)) skipping = /^\S.*;$|^ {2}\S.*;$/;
    else if (
      /[\w$"'`]/.test(line) &&
      !/^\s*(\/\/|\/\*|\*|import |export (type )?\{|export \*|(export )?type )/.test(line)
    ) {
      sum.lines++;
      sum.ran += ran?.[from] ?? 0;
    }
  }
  return sum;
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));
}

const tests = process.argv.slice(2);
const reports = mkdtempSync(join(tmpdir(), "sallyport-coverage-"));
const args = [
  "--test",
  "--test-concurrency=2",
  "--test-reporter=dot",
  ...(tests.length > 0 ? tests : ["test/**/*.test.ts"]),
];
const { status } = spawnSync(process.execPath, args, {
  cwd: ROOT,
  env: { ...process.env, NODE_V8_COVERAGE: reports },
  stdio: ["ignore", "inherit", "inherit"],
});
const ran = ranIn(reports);
rmSync(reports, { recursive: true, force: true });
const folders = new Map<string, Lines>();
const files: [string, Lines][] = [];
for (const path of sources(join(ROOT, "src"))) {
  const lines = linesOf(path, ran.get(path));
  const name = relative(join(ROOT, "src"), path);
  files.push([name, lines]);
  const folder = name.includes(sep) ? (name.split(sep)[0] as string) : ".";
  const sum = folders.get(folder) ?? { lines: 0, ran: 0 };
  folders.set(folder, { lines: sum.lines + lines.lines, ran: sum.ran + lines.ran });
}
const share = ({ lines, ran: some }: Lines) => (lines === 0 ? 100 : (some * 100) / lines);
const row = ([name, sum]: [string, Lines]) => `| ${name} | ${sum.lines} | ${share(sum).toFixed(1)} % |`;
process.stdout.write(`\n| folder of src/ | lines | run by tests |\n| --- | --- | --- |\n`);
process.stdout.write(`${[...folders].sort().map(row).join("\n")}\n\nLeast of all:\n\n`);
const least = files.sort(([, a], [, b]) => b.lines - b.ran - (a.lines - a.ran)).slice(0, 15);
process.stdout.write(
  `${least.map(([name, sum]) => `${name}: ${sum.lines - sum.ran} of ${sum.lines} lines never ran`).join("\n")}\n`,
);
process.exit(status ?? 1);
