/** Writes the manual page into the package: node scripts/man.ts FILE */
import { writeFileSync } from "node:fs";
import { CATALOG, loadAll } from "../src/cli/catalog.ts";
import type { Command } from "../src/cli/command.ts";
import { type CompletedOption, completions } from "../src/cli/completion/model.ts";
import { packageVersion } from "../src/core/version.ts";

const EXIT_CODES = [
  ["the command's own", "It ended by itself."],
  ["128 + n", "Signal n ended it."],
  ["124", "It ran longer than its deadline."],
  ["125", "Sallyport itself failed, or the command line was wrong."],
  ["126", "It is not executable, or may not run."],
  ["127", "It was not found."],
] as const;

/** The manual page `sallyport(1)`, in the man macros of troff. */
async function manPage(): Promise<string> {
  const loaded = await loadAll();
  const { options, commands } = completions(loaded);
  const groups = Object.entries(CATALOG).flatMap(([title, entries]) => [
    `.SH ${title.toUpperCase()}`,
    ...loaded
      .filter(({ name }) => name in entries)
      .flatMap((command) => {
        const own = commands.find(({ name }) => name === command.name)?.options ?? [];
        return commandPart(
          command,
          own.filter(({ long }) => long in command.options),
        );
      }),
  ]);
  return `${[
    `.TH SALLYPORT 1 "" "sallyport ${packageVersion()}"`,
    ".SH NAME",
    "sallyport \\- the one guarded door between AI agents and an operating system",
    ".SH SYNOPSIS",
    ".B sallyport",
    "[OPTIONS] COMMAND \\&...",
    ".SH DESCRIPTION",
    "Runs commands for AI agents: understood, judged, confined, recorded, and nothing left behind.",
    "A session is named by its id, the beginning of its id, or its name.",
    ".SH OPTIONS",
    ...options.flatMap(optionPart),
    ...groups,
    ".SH EXIT STATUS",
    ...EXIT_CODES.flatMap(([code, meaning]) => [".TP", `.B ${text(code)}`, text(meaning)]),
    ".SH ENVIRONMENT",
    ".TP",
    ".B SALLYPORT_STATE",
    "The state folder, where \\-\\-state does not name one.",
    ".TP",
    ".B NO_COLOR",
    "No colours.",
    ".SH FILES",
    ".TP",
    ".I ~/.local/state/sallyport",
    "The state folder: database, sockets, and the logs of sessions.",
    ".TP",
    ".I ~/.config/sallyport/sallyport.json",
    "The operator's configuration.",
  ].join("\n")}\n`;
}

function commandPart({ name, usage, summary, examples, notes }: Command, options: CompletedOption[]): string[] {
  return [
    `.SS ${text(name)}`,
    `${text(summary)}.`,
    ".PP",
    ".nf",
    ...usage.split("\n").map((line) => text(line.trim())),
    ".fi",
    ...options.flatMap(optionPart),
    ...(notes ? [".PP", text(notes.replaceAll("\n", " "))] : []),
    ".PP",
    ".RS 4",
    ".nf",
    ...examples.map(text),
    ".fi",
    ".RE",
  ];
}

function optionPart({ long, short, meaning, choices }: CompletedOption): string[] {
  const names = [...(short ? [`-${short}`] : []), `--${long}`].join(", ");
  return [".TP", `.B ${text(names)}${choices === null ? "" : " \\fIVALUE\\fR"}`, text(meaning)];
}

/** As it is: a backslash, a leading dot or quote, and a hyphen mean something else to troff. */
function text(plain: string): string {
  return plain
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/, "\\&$1");
}

const [, , file] = process.argv;
if (file === undefined) throw new Error("usage: node scripts/man.ts FILE");
writeFileSync(file, await manPage());
