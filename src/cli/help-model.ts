/** The help of a command as data, for `--help`, the manual page, docs/cli.md and the completion scripts. */
import type { ParseArgsOptionsConfig } from "node:util";
import type { Command } from "./command.ts";
import { GLOBAL_HELP, GLOBAL_OPTIONS } from "./parse.ts";

/** One option as the help, the manual page and the completion scripts describe it. */
export interface OptionHelp {
  long: string;
  short: string | null;
  /** The placeholder of its value. Null when it takes none. */
  value: string | null;
  meaning: string;
  multiple: boolean;
}

export interface OptionGroup {
  title: string;
  options: OptionHelp[];
}

/**
 * Returns the options of a command by group, the global options last. A global option for which the command has its own
 * help text is listed with the command's options.
 */
export function optionGroups({ options, help = {}, groups = {} }: Command): OptionGroup[] {
  const isOwn = ([name]: [string, unknown]) => name in options || name in help;
  const globals = Object.entries(GLOBAL_OPTIONS);
  const own = describeOptions({ ...options, ...Object.fromEntries(globals.filter(isOwn)) }, help);
  const grouped = Object.entries(groups).map(([title, names]) => ({
    title,
    options: names.flatMap((name) => own.find(({ long }) => long === name) ?? []),
  }));
  const rest = own.filter(({ long }) => !grouped.some((group) => group.options.some((each) => each.long === long)));
  const others = Object.fromEntries(globals.filter((entry) => !isOwn(entry)));
  return [
    { title: "Options", options: rest },
    ...grouped,
    { title: "Global options", options: describeOptions(others, GLOBAL_HELP) },
  ].filter((group) => group.options.length > 0);
}

export function describeOptions(options: ParseArgsOptionsConfig, help: Record<string, string>): OptionHelp[] {
  return Object.entries(options).map(([long, { type, short = null, multiple = false }]) => {
    const text = help[long] ?? "";
    const [, value = "VALUE", meaning = ""] = /^(?:(\S+): )?(.*)$/.exec(text) ?? [];
    return type === "string"
      ? { long, short, value, meaning, multiple }
      : { long, short, value: null, meaning: text, multiple };
  });
}

/** Joins the lines of each paragraph. */
export function paragraphs(text: string): string[] {
  return text
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replaceAll(/\s*\n\s*/g, " ").trim())
    .filter((paragraph) => paragraph !== "");
}
