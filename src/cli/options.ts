import { constants } from "node:os";
import type { TerminalSize } from "../core/terminal.ts";
import { parseDuration } from "../text/format.ts";
import { nearest } from "../text/nearest.ts";
import { parseSize } from "../text/size.ts";
import type { Invocation } from "./command.ts";
import { UsageError } from "./usage-error.ts";

type Values = Invocation["values"];

export function textOption(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
}

export function textOptions(values: Values, name: string): string[] {
  const value = values[name];
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

/** Milliseconds. */
export function durationOption(values: Values, name: string): number | undefined {
  return convert(values, name, parseDuration, "a duration such as 90, 90s, 250ms, 5m or 1h30m");
}

/** Bytes. */
export function sizeOption(values: Values, name: string): number | undefined {
  return convert(values, name, parseSize, "a size such as 4096, 64K, 64M or 1G");
}

/** `120x30`: columns and rows. */
export function terminalSizeOption(values: Values, name: string): TerminalSize | undefined {
  const parse = (text: string) => {
    const [, columns, rows] = /^(\d{1,4})x(\d{1,4})$/i.exec(text) ?? [];
    const size = { columns: Number(columns), rows: Number(rows) };
    return size.columns >= 1 && size.rows >= 1 && size.columns <= 1000 && size.rows <= 1000 ? size : null;
  };
  return convert(values, name, parse, "columns and rows such as 120x30, 1000 of each at most");
}

export function countOption(values: Values, name: string): number | undefined {
  return convert(values, name, (text) => (/^\d{1,15}$/.test(text) ? Number(text) : null), "a whole number");
}

/** Above zero. */
export function amountOption(values: Values, name: string): number | undefined {
  const parse = (text: string) => (/^\d{1,6}(\.\d{1,6})?$/.test(text) && Number(text) > 0 ? Number(text) : null);
  return convert(values, name, parse, "a number above 0, such as 0.5 or 2");
}

export function choiceOption<Choice extends string>(
  values: Values,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const known = (text: string) => choices.find((choice) => choice === text) ?? null;
  return convert(values, name, known, `one of ${choices.join(", ")}`);
}

/** `TERM`, `sigterm`, `SIGTERM` or a number from 1 to 64 (the real-time ones have no names). */
export function signalOption(values: Values, name: string): string | undefined {
  const names = Object.keys(constants.signals);
  const full = (text: string) => `SIG${text.toUpperCase().replace(/^SIG/, "")}`;
  const known = (text: string) =>
    /^([1-9]|[1-5]\d|6[0-4])$/.test(text) ? text : (names.find((signal) => signal === full(text)) ?? null);
  const near = nearest(full(textOption(values, name) ?? ""), names);
  return convert(values, name, known, `a signal such as TERM, SIGINT or 9${near ? ` (\`${near}\`?)` : ""}`);
}

function convert<T>(values: Values, name: string, parse: (text: string) => T | null, expected: string): T | undefined {
  const text = textOption(values, name);
  if (text === undefined) return undefined;
  const value = parse(text);
  if (value === null) throw new UsageError(`\`--${name}\` must be ${expected}; received \`${text}\``);
  return value;
}
