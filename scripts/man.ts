/** Writes the manual page into the package: node scripts/man.ts FILE */
import { writeFileSync } from "node:fs";
import { CATALOG, loadAll } from "../src/cli/catalog.ts";
import type { Command } from "../src/cli/command.ts";
import { describeOptions, type OptionHelp, optionGroups, paragraphs } from "../src/cli/help-model.ts";
import { GLOBAL_HELP, GLOBAL_OPTIONS } from "../src/cli/parse.ts";
import { packageVersion } from "../src/core/version.ts";

const EXIT_CODES = [
  ["0", "Success."],
  ["124", "The command exceeded its timeout."],
  ["125", "Sallyport failed, or the command line is invalid."],
  ["126", "The command is blocked, denied, pending approval, or not executable."],
  ["127", "The command was not found."],
  ["128+N", "The command was ended by signal N."],
  ["other", "The exit code of the command."],
] as const;

/** Returns the manual page `sallyport(1)`, in the man macros of troff. */
async function manPage(): Promise<string> {
  const loaded = await loadAll();
  const groups = Object.entries(CATALOG).flatMap(([title, entries]) => [
    `.SH ${title.toUpperCase()}`,
    ...loaded.filter(({ name }) => name in entries).flatMap(commandPart),
  ]);
  return `${[
    `.TH SALLYPORT 1 "" "sallyport ${packageVersion()}"`,
    ".SH NAME",
    "sallyport \\- gateway between AI agents and an operating system",
    ".SH SYNOPSIS",
    ".B sallyport",
    "[OPTIONS] COMMAND [ARG...]",
    ".SH DESCRIPTION",
    "Sallyport runs commands for AI agents.",
    "Each command is parsed, checked against policy, approved by a person where required, sandboxed and recorded.",
    ".PP",
    "A SESSION argument is a session's ID, the beginning of its ID, or its name.",
    ".SH OPTIONS",
    ...describeOptions(GLOBAL_OPTIONS, GLOBAL_HELP).flatMap(optionPart),
    ...groups,
    ".SH EXIT STATUS",
    ...EXIT_CODES.flatMap(([code, meaning]) => term(code, meaning)),
    ".SH ENVIRONMENT",
    ...term("SALLYPORT_STATE", "State folder, unless --state is given."),
    ...term("SALLYPORT_FLEET", "Servers of the fleet, unless --fleet is given."),
    ...term("SALLYPORT_EXECUTOR", "Executor to use: native or portable."),
    ...term("SALLYPORT_RESIDENT", "If set to off, no resident gateway is used."),
    ...term("SALLYPORT_DEBUG", "If set, unexpected errors are printed with a stack trace."),
    ...term("NO_COLOR", "If set, output has no colors."),
    ...term("FORCE_COLOR", "If set, output has colors even without a terminal; 0 disables them."),
    ".SH FILES",
    ...term("~/.local/state/sallyport", "State folder: database, sockets and session logs."),
    ...term("~/.config/sallyport/sallyport.json", "Configuration of the operator."),
  ].join("\n")}\n`;
}

function commandPart(command: Command): string[] {
  const { name, usage, summary, description = "", actions = {}, sections = {}, examples } = command;
  return [
    `.SS ${text(name)}`,
    `${text(summary)}.`,
    ".PP",
    ".nf",
    ...usage.split("\n").map((line) => text(line.trim())),
    ".fi",
    ...paragraphs(description).flatMap((paragraph) => [".PP", text(paragraph)]),
    ...(command.actions ? heading("Commands") : []),
    ...Object.entries(actions).flatMap(([action, meaning]) => term(action, `${meaning}.`)),
    ...optionGroups(command)
      .filter(({ title }) => title !== "Global options")
      .flatMap(({ title, options }) => [...heading(title), ...options.flatMap(optionPart)]),
    ...Object.entries(sections).flatMap(([title, body]) => [
      ...heading(title),
      ...(typeof body === "string"
        ? paragraphs(body).map(text)
        : body.flatMap(([word, meaning]) => term(word, meaning))),
    ]),
    ...heading("Examples"),
    ".RS 4",
    ".nf",
    ...examples.flatMap(([comment, line]) => [text(`# ${comment}`), text(line)]),
    ".fi",
    ".RE",
  ];
}

function heading(title: string): string[] {
  return [".PP", `${text(title)}:`];
}

function term(word: string, meaning: string): string[] {
  return [".TP", `.B ${text(word)}`, text(meaning)];
}

function optionPart({ long, short, value, meaning }: OptionHelp): string[] {
  const names = [...(short ? [`-${short}`] : []), `--${long}`].join(", ");
  return [".TP", `.B ${text(names)}${value === null ? "" : ` \\fI${text(value)}\\fR`}`, text(meaning)];
}

/** Escapes the characters that troff interprets: backslashes, hyphens, and a leading dot or quote. */
function text(plain: string): string {
  return plain
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/, "\\&$1");
}

const [, , file] = process.argv;
if (file === undefined) throw new Error("usage: node scripts/man.ts FILE");
writeFileSync(file, await manPage());
