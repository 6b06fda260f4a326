import type { ParseArgsOptionsConfig } from "node:util";
import { wrap } from "../text/width.ts";
import { CATALOG } from "./catalog.ts";
import type { Command } from "./command.ts";
import { GLOBAL_HELP, GLOBAL_OPTIONS } from "./parse.ts";

export function greeting(): string {
  return `Sallyport runs commands for AI agents: guarded, recorded, nothing left behind.

  sallyport run -- ls -l                 run a program
  sallyport run -c 'make 2>&1 | tail'    run shell text
  sallyport run -d -- npm run dev        run it in the background; prints its id
  sallyport ps                           see what is running
  sallyport mcp                          give an agent its tools
  sallyport approvals                    decide what waits for a person
  sallyport init                         settle what agents may do
  sallyport doctor                       check this machine

\`sallyport --help\` lists every command.
`;
}

export function overview(columns: number): string {
  const groups = Object.entries(CATALOG).map(([title, entries]) => {
    const lines = Object.entries(entries).map(([name, { summary }]) => `  ${name.padEnd(11)}${summary}`);
    return section(title, lines);
  });
  return [
    "Usage: sallyport [OPTIONS] COMMAND …\n",
    ...groups,
    section("Options", optionLines(GLOBAL_OPTIONS, GLOBAL_HELP, columns)),
    "A session is named by its id, the beginning of its id, or its name.\n`sallyport COMMAND --help` says more about one command.\n",
  ].join("\n");
}

export function commandHelp(command: Command, columns: number): string {
  const help = { ...GLOBAL_HELP, ...command.help };
  const own = optionLines(command.options, help, columns);
  const globals = Object.fromEntries(Object.entries(GLOBAL_OPTIONS).filter(([name]) => !(name in command.options)));
  const examples = command.examples.map((example) => `  ${example}`);
  const notes = wrap((command.notes ?? "").replaceAll("\n", " "), columns);
  return [
    `${command.summary}.\n`,
    `Usage: ${command.usage}\n`,
    ...(own.length > 0 ? [section("Options", own)] : []),
    section("Options of every command", optionLines(globals, help, columns)),
    section("Examples", examples),
    ...(command.notes ? [`${notes.join("\n")}\n`] : []),
  ].join("\n");
}

function section(title: string, lines: string[]): string {
  return `${title}:\n${lines.join("\n")}\n`;
}

const MEANING_COLUMN = 26;

function optionLines(options: ParseArgsOptionsConfig, help: Record<string, string>, columns: number): string[] {
  return Object.entries(options).map(([name, option]) => {
    const [, placeholder, meaning = ""] = /^(?:([A-Z][A-Z=:|]*): )?(.*)$/.exec(help[name] ?? "") ?? [];
    const value = option.type === "string" ? ` ${placeholder ?? "VALUE"}` : "";
    const flag = `  ${option.short ? `-${option.short}, ` : "    "}--${name}${value}`;
    const lines = wrap(meaning, columns - MEANING_COLUMN);
    if (flag.length > MEANING_COLUMN - 2) lines.unshift("");
    return flag.padEnd(MEANING_COLUMN) + lines.join(`\n${" ".repeat(MEANING_COLUMN)}`);
  });
}
