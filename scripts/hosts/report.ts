import { readFileSync, writeFileSync } from "node:fs";
import type { Check } from "./scenario.ts";
import type { Trial } from "./trial.ts";

/** A host in a mode that could not be tried. */
export interface Failed {
  host: string;
  version: string;
  mode: string;
  error: string;
}

export type Outcome = Trial | Failed;

const COLUMNS: Check["name"][] = ["guarded", "asked", "blocked", "way around"];

/** The outcomes as a table in Markdown, which is also readable in a terminal. */
export function table(outcomes: Outcome[]): string {
  const rows = outcomes.map((outcome) => [
    outcome.host,
    outcome.version,
    outcome.mode,
    ...COLUMNS.map((name) => cell(outcome, name)),
  ]);
  const head = ["host", "version", "mode", "guarded", "asked", "blocked", "way around"];
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function cell(outcome: Outcome, name: Check["name"]): string {
  if ("error" in outcome) return "not run";
  const problems = outcome.checks.find((check) => check.name === name)?.problems ?? [];
  if (name === "way around")
    return problems.length === 0 ? "none" : problems.map((one) => one.split(":")[0]).join(", ");
  return problems.length === 0 ? "yes" : "no";
}

/** The problems of an outcome, one per line. */
export function problems(outcome: Outcome): string[] {
  if ("error" in outcome) return [outcome.error];
  return outcome.checks.flatMap((check) => check.problems.map((problem) => `${check.name}: ${problem}`));
}

const BEGIN = "<!-- npm run hosts: begin -->";
const END = "<!-- npm run hosts: end -->";

/** Replaces the table between the markers of a page. */
export function updatePage(file: string, outcomes: Outcome[]): void {
  const page = readFileSync(file, "utf8");
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`${file} has no section between \`${BEGIN}\` and \`${END}\``);
  const date = new Date().toISOString().slice(0, "2026-01-01".length);
  const section = `Result of ${date}:\n\n${table(outcomes)}`;
  writeFileSync(file, `${page.slice(0, begin + BEGIN.length)}\n${section}\n${page.slice(end)}`);
}
