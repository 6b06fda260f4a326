import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check } from "../../src/gateway/check.ts";
import { random } from "../../test/integration/shell/differential/random.ts";
import { shellText } from "../../test/integration/shell/differential/text.ts";
import type { BenchResult } from "../result.ts";
import { hostile } from "./hostile.ts";
import { regexBlocks } from "./regex-list.ts";
import { type Score, score } from "./score.ts";
import { percentile, timings } from "./timing.ts";
import { treeSitterBash } from "./tree-sitter.ts";
import { typical } from "./typical.ts";

const TYPICAL_US = 50;
const WORST_MS = 20;
const REGEX = "the common regex blocklist";
const TREE_SITTER = "tree-sitter-bash, bare parse";

/** Measures the speed and accuracy of a check, compared with a parser and with a list of regular expressions. */
export async function run({ quick }: { quick: boolean }): Promise<BenchResult[]> {
  const workspace = mkdtempSync(join(tmpdir(), "bench-check-"));
  const ours = (command: string) => check(command, { cwd: workspace, workspace });
  try {
    return [...(await costs(ours, quick ? 30 : 200)), worst(ours, quick), ...scores(ours)];
  } finally {
    rmSync(workspace, { recursive: true });
  }
}

type Check = (command: string) => ReturnType<typeof check>;

async function costs(ours: Check, rounds: number): Promise<BenchResult[]> {
  const parse = await treeSitterBash();
  const mine = timings(typical, ours, rounds);
  const parsed = parse && timings(typical, parse, rounds);
  const matched = timings(typical, regexBlocks, rounds);
  return [0.5, 0.95].flatMap((part) => {
    const value = percentile(mine, part);
    const label = `check, warm, p${part * 100}`;
    const target = part === 0.5 ? `at most ${TYPICAL_US} µs` : "";
    const pass = part === 0.5 ? value <= TYPICAL_US : null;
    const row = (peer: string, peerValue: number | null): BenchResult => ({
      name: label,
      ours: value,
      peer,
      peerValue,
      unit: "µs",
      ratio: peerValue === null ? null : value / peerValue,
      target,
      pass,
    });
    return [row(TREE_SITTER, parsed && percentile(parsed, part)), row(REGEX, percentile(matched, part))];
  });
}

function worst(ours: Check, quick: boolean): BenchResult {
  const generated = Array.from({ length: quick ? 300 : 3000 }, (_, seed) => shellText(random(seed), "any"));
  const texts = [...hostile(quick ? [50, 5000] : [10, 50, 100, 500, 5000, 60_000]), ...generated];
  let slowest = 0;
  let culprit = "";
  for (const text of texts) {
    // Slow texts are measured again, to rule out a pause of the machine.
    let taken = milliseconds(ours, text);
    for (let again = 0; again < 3 && taken > WORST_MS; again++) taken = Math.min(taken, milliseconds(ours, text));
    if (taken > slowest) [slowest, culprit] = [taken, text];
  }
  console.error(
    `slowest of ${texts.length} hostile texts: ${JSON.stringify(culprit.slice(0, 60))}, ${culprit.length} characters`,
  );
  return {
    name: "check, worst hostile text",
    ours: slowest,
    peer: "none",
    peerValue: null,
    unit: "ms",
    ratio: null,
    target: `at most ${WORST_MS} ms`,
    pass: slowest <= WORST_MS,
  };
}

function milliseconds(ours: Check, text: string): number {
  const start = performance.now();
  ours(text);
  return performance.now() - start;
}

function scores(ours: Check): BenchResult[] {
  const mine = score((command) => ["blocked", "deny"].includes(ours(command).verdict));
  const regex = score(regexBlocks);
  const row = (name: string, part: (score: Score) => number, target: string, pass: boolean): BenchResult => ({
    name,
    ours: part(mine),
    peer: REGEX,
    peerValue: part(regex),
    unit: "%",
    ratio: part(regex) === 0 ? null : part(mine) / part(regex),
    target,
    pass,
  });
  return [
    row("corpus, dangerous commands stopped", ({ caught }) => caught, "all of them", mine.caught === 100),
    row("corpus, harmless commands stopped", ({ wronged }) => wronged, "none of them", mine.wronged === 0),
  ];
}

if (import.meta.main) console.table(await run({ quick: process.argv.includes("--quick") }));
