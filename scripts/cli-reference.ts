/**
 * Writes the generated part of docs/cli.md from the help of the commands: `node scripts/cli-reference.ts`. A test
 * compares the page with the help.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CATALOG, loadAll } from "../src/cli/catalog.ts";
import type { Command } from "../src/cli/command.ts";
import { describeOptions, type OptionHelp, optionGroups, paragraphs } from "../src/cli/help-model.ts";
import { GLOBAL_HELP, GLOBAL_OPTIONS } from "../src/cli/parse.ts";
import { wrap } from "../src/text/width.ts";

const FILE = join(import.meta.dirname, "../docs/cli.md");

/** Separates the hand-written beginning of the page from the generated rest. */
export const MARKER =
  "<!-- Everything below is generated from the help of the commands: node scripts/cli-reference.ts -->";

/** Returns the page with its generated part replaced. */
export async function cliPage(page: string): Promise<string> {
  const at = page.indexOf(MARKER);
  if (at < 0) throw new Error(`docs/cli.md has no line ${MARKER}`);
  return `${page.slice(0, at)}${MARKER}\n\n${await reference()}`;
}

async function reference(): Promise<string> {
  const loaded = await loadAll();
  const groups = Object.entries(CATALOG).flatMap(([title, entries]) => [
    `## ${title}`,
    ...loaded.filter(({ name }) => name in entries).flatMap(commandPart),
  ]);
  const globals = optionTable(describeOptions(GLOBAL_OPTIONS, GLOBAL_HELP));
  return `${["## Global options", "Every command accepts these options, before or after its name.", globals, ...groups].join("\n\n")}\n`;
}

function commandPart(command: Command): string[] {
  const { name, summary, usage, description = "", actions, sections = {}, examples } = command;
  const usageLines = usage.split("\n").map((line) => line.trim());
  return [
    `### ${name}`,
    `${summary}.`,
    fenced(usageLines),
    ...wrapped(description),
    ...(actions ? [table(["Command", "Description"], Object.entries(actions))] : []),
    ...optionGroups(command)
      .filter(({ title }) => title !== "Global options")
      .flatMap(({ title, options }) => [...(title === "Options" ? [] : [`${title}:`]), optionTable(options)]),
    ...Object.entries(sections).flatMap(([title, body]) =>
      typeof body === "string" ? wrapped(body) : [`${title}:`, table([TERM[title] ?? title, "Meaning"], body)],
    ),
    "Examples:",
    fenced(examples.flatMap(([comment, line], index) => [...(index > 0 ? [""] : []), `# ${comment}`, line])),
  ];
}

const WIDTH = 120;

function wrapped(text: string): string[] {
  return paragraphs(text).map((paragraph) => wrap(prose(paragraph), WIDTH).join("\n"));
}

/** Column titles of sections that consist of terms. */
const TERM: Record<string, string> = { "Exit status": "Code", Keys: "Key" };

function fenced(lines: string[]): string {
  return ["```shell", ...lines, "```"].join("\n");
}

function optionTable(options: OptionHelp[]): string {
  const rows = options.map(({ long, short, value, meaning }): [string, string] => {
    const names = [...(short ? [`-${short}`] : []), `--${long}`].join(", ");
    return [value === null ? names : `${names} ${value}`, meaning];
  });
  return table(["Option", "Description"], rows);
}

function table(titles: [string, string], rows: readonly (readonly [string, string])[]): string {
  const cell = (text: string) => text.replaceAll("|", "\\|");
  return [
    `| ${titles.join(" | ")} |`,
    "| --- | --- |",
    ...rows.map(([term, meaning]) => `| \`${cell(term)}\` | ${cell(prose(meaning))} |`),
  ].join("\n");
}

/** Marks options as code and escapes characters that Markdown interprets, except inside backticks. */
function prose(text: string): string {
  return text
    .split("`")
    .map((part, index) => (index % 2 === 1 ? `\`${part}\`` : markedUp(part)))
    .join("");
}

function markedUp(text: string): string {
  return text.replaceAll(/[*<]/g, "\\$&").replaceAll(/(?<![\w-])(--[a-z][a-z-]*[a-z]|-[a-z])(?![\w-])/g, "`$1`");
}

if (import.meta.main) writeFileSync(FILE, await cliPage(readFileSync(FILE, "utf8")));
