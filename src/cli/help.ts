import { wrap } from "../text/width.ts";
import { CATALOG } from "./catalog.ts";
import type { Command } from "./command.ts";
import { describeOptions, type OptionHelp, optionGroups, paragraphs } from "./help-model.ts";
import { GLOBAL_HELP, GLOBAL_OPTIONS } from "./parse.ts";

/** Aligns the summaries of all groups of the overview. */
const COMMAND_INDENT = 14;

export function greeting(): string {
  return `Sallyport runs commands for AI agents: checked, sandboxed and recorded.

  sallyport run -- ls -l                 Run a program
  sallyport run -c 'make 2>&1 | tail'    Run shell text
  sallyport run -d -- npm run dev        Run a command in the background
  sallyport ps                           List running sessions
  sallyport mcp                          Serve an agent over MCP
  sallyport approvals                    Review pending approval requests
  sallyport init                         Create a configuration file
  sallyport doctor                       Check this machine

Run \`sallyport --help\` for a list of all commands.
`;
}

export function overview(columns: number): string {
  const groups = Object.entries(CATALOG).map(([title, entries]) => {
    const rows = Object.entries(entries).map(([name, { summary }]): [string, string] => [name, summary]);
    return section(title, termLines(rows, columns, COMMAND_INDENT));
  });
  return [
    "Usage: sallyport [OPTIONS] COMMAND [ARG...]\n",
    "A gateway between AI agents and an operating system\n",
    ...groups,
    section("Global options", optionLines(describeOptions(GLOBAL_OPTIONS, GLOBAL_HELP), columns)),
    "A SESSION argument is a session's ID, the beginning of its ID, or its name.\n",
    "Run `sallyport COMMAND --help` for more information about a command.\n",
  ].join("\n");
}

export function commandHelp(command: Command, columns: number): string {
  const { usage, summary, description = "", actions, sections = {}, examples } = command;
  const groups = optionGroups(command).map(({ title, options }) => section(title, optionLines(options, columns)));
  return [
    `Usage: ${usage}\n`,
    `${summary}\n`,
    ...paragraphs(description).map((text) => `${wrap(text, columns).join("\n")}\n`),
    ...(actions ? [section("Commands", termLines(Object.entries(actions), columns))] : []),
    ...groups.slice(0, -1),
    ...Object.entries(sections).map(([title, body]) => section(title, sectionLines(body, columns))),
    ...groups.slice(-1),
    section(
      "Examples",
      examples
        .map(([comment, line]) => `  # ${comment}\n  ${line}`)
        .join("\n\n")
        .split("\n"),
    ),
  ].join("\n");
}

function section(title: string, lines: string[]): string {
  return `${title}:\n${lines.join("\n")}\n`;
}

function sectionLines(body: NonNullable<Command["sections"]>[string], columns: number): string[] {
  if (typeof body !== "string") return termLines(body, columns);
  return paragraphs(body).flatMap((text) => wrap(text, columns - 2).map((line) => `  ${line}`));
}

/** Returns lines with the terms on the left and their meanings aligned on the right. */
function termLines(rows: readonly (readonly [string, string])[], columns: number, least = 0): string[] {
  const indent = Math.max(least, ...rows.map(([term]) => term.length + 4));
  return rows.map(([term, meaning]) => {
    const lines = wrap(meaning, columns - indent);
    return `  ${term}`.padEnd(indent) + lines.join(`\n${" ".repeat(indent)}`);
  });
}

const MEANING_COLUMN = 26;

function optionLines(options: OptionHelp[], columns: number): string[] {
  return options.map(({ long, short, value, meaning }) => {
    const flag = `  ${short ? `-${short}, ` : "    "}--${long}${value === null ? "" : ` ${value}`}`;
    const lines = wrap(meaning, columns - MEANING_COLUMN);
    if (flag.length > MEANING_COLUMN - 2) lines.unshift("");
    const text = flag.padEnd(MEANING_COLUMN) + lines.join(`\n${" ".repeat(MEANING_COLUMN)}`);
    return text.replace(/ +$/gm, "");
  });
}
