import { constants } from "node:os";
import { callerPath } from "../core/caller.ts";
import type { RunRequest } from "../core/request.ts";
import type { TerminalSize } from "../core/terminal.ts";
import { parseDuration, parseSize } from "../text/format.ts";
import { nearest } from "../text/nearest.ts";
import { type Command, type Invocation, UsageError } from "./command.ts";

type Values = Invocation["values"];

export function textOption(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
}

export function textOptions(values: Values, name: string): string[] {
  const value = values[name];
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

/** Returns the value of a duration option, in milliseconds. */
export function durationOption(values: Values, name: string): number | undefined {
  return convert(values, name, parseDuration, "a duration such as 90, 90s, 250ms, 5m or 1h30m");
}

/** Returns the value of a size option, in bytes. */
export function sizeOption(values: Values, name: string): number | undefined {
  return convert(values, name, parseSize, "a size such as 4096, 64K, 64M or 1G");
}

/** Parses columns and rows, for example `120x30`. */
export function terminalSizeOption(values: Values, name: string): TerminalSize | undefined {
  const parse = (text: string) => {
    const [, columns, rows] = /^(\d{1,4})x(\d{1,4})$/i.exec(text) ?? [];
    const size = { columns: Number(columns), rows: Number(rows) };
    return size.columns >= 1 && size.rows >= 1 && size.columns <= 1000 && size.rows <= 1000 ? size : null;
  };
  return convert(values, name, parse, "columns and rows such as 120x30, at most 1000x1000");
}

export function countOption(values: Values, name: string): number | undefined {
  return convert(values, name, (text) => (/^\d{1,15}$/.test(text) ? Number(text) : null), "a whole number");
}

/** Returns the value of an option that takes a number greater than 0. */
export function amountOption(values: Values, name: string): number | undefined {
  const parse = (text: string) => (/^\d{1,6}(\.\d{1,6})?$/.test(text) && Number(text) > 0 ? Number(text) : null);
  return convert(values, name, parse, "a number greater than 0, such as 0.5 or 2");
}

export function choiceOption<Choice extends string>(
  values: Values,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const known = (text: string) => choices.find((choice) => choice === text) ?? null;
  return convert(values, name, known, `one of ${choices.join(", ")}`);
}

/** Parses `TERM`, `sigterm`, `SIGTERM` or a number from 1 to 64. Real-time signals have no names. */
export function signalOption(values: Values, name: string): string | undefined {
  const names = Object.keys(constants.signals);
  const full = (text: string) => `SIG${text.toUpperCase().replace(/^SIG/, "")}`;
  const known = (text: string) =>
    /^([1-9]|[1-5]\d|6[0-4])$/.test(text) ? text : (names.find((signal) => signal === full(text)) ?? null);
  const near = nearest(full(textOption(values, name) ?? ""), names);
  return convert(
    values,
    name,
    known,
    `a signal such as TERM, SIGINT or 9${near ? ` (did you mean \`${near}\`?)` : ""}`,
  );
}

function convert<T>(values: Values, name: string, parse: (text: string) => T | null, expected: string): T | undefined {
  const text = textOption(values, name);
  if (text === undefined) return undefined;
  const value = parse(text);
  if (value === null) throw new UsageError(`\`--${name}\` must be ${expected}; received \`${text}\``);
  return value;
}

export const TOOLSETS = ["runner", "process", "exec", "shell", "bash"] as const;

/** Parses a list such as `bash,process`. */
export function toolsetsOf(text: string): (typeof TOOLSETS)[number][] {
  return text.split(",").map((given) => {
    const name = TOOLSETS.find((known) => known === given.trim());
    if (!name) throw new UsageError(`\`--tools\` must be a list of ${TOOLSETS.join(", ")}; received \`${given}\``);
    return name;
  });
}

/** The sandbox options of `run` and `check`. */
export const SANDBOX_OPTIONS = {
  sandbox: { type: "string" },
  network: { type: "string" },
  writable: { type: "string", multiple: true },
} as const satisfies Command["options"];

export const SANDBOX_HELP = {
  sandbox: "PROFILE: Sandbox profile: read-only, workspace-write, isolated or off (default: as configured)",
  network: "MODE: Network access: on, off, or a list of TCP ports such as 80,443 (default: as configured)",
  writable: "DIR: Make DIR writable; repeatable",
};

type Asked = Pick<RunRequest, "sandbox" | "network" | "writable">;

export function sandboxRequest({ values }: Pick<Invocation, "values">): Asked {
  const sandbox = choiceOption(values, "sandbox", ["off", "read-only", "workspace-write", "isolated"]);
  const network = networkOf(textOption(values, "network"));
  const writable = textOptions(values, "writable").map((path) => callerPath(path));
  return {
    ...(sandbox ? { sandbox } : {}),
    ...(network ? { network } : {}),
    ...(writable.length > 0 ? { writable } : {}),
  };
}

function networkOf(text: string | undefined): Asked["network"] {
  if (text === undefined || text === "on" || text === "off") return text;
  const ports = text.split(",").map((port) => (/^\d{1,5}$/.test(port) ? Number(port) : 0));
  if (ports.every((port) => port >= 1 && port <= 65_535)) return { ports };
  throw new UsageError(`\`--network\` must be on, off or TCP ports such as 80,443; received \`${text}\``);
}
