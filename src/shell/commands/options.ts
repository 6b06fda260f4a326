/** Parses options as getopt_long does, including abbreviations: `--compress-prog=x` is `--compress-program=x`. */
import { type Field, tail } from "../expand/field.ts";

/**
 * The options of a command. `short` lists letters, each followed by `:` if the option takes a value, or `::` if the
 * value is optional. `long` lists names separated by spaces, each ending in `=` if the option takes a value.
 */
export interface OptionSpec {
  short?: string;
  long?: string;
  /** Options end at the first operand, as in commands that run another command. */
  stop?: boolean;
  /** Long options start with one dash (`-name value`), as in java and openssl. */
  wordy?: boolean;
}

interface Option {
  /** The letter, or the full long name. */
  name: string;
  value: Field | null;
  field: Field;
  /** Whether the option is in the specification. If not, the next argument may be its value. */
  known: boolean;
}

export interface Options {
  list: Option[];
  operands: Field[];
  /** Index of the first operand in argv. */
  rest: number;
}

export function readOptions(argv: readonly Field[], spec: OptionSpec, from = 1): Options {
  const list: Option[] = [];
  const operands: Field[] = [];
  let rest = argv.length;
  let i = from;
  for (; i < argv.length; i++) {
    const field = argv[i] as Field;
    const text = field.value ?? field.prefix;
    if (text === "--" && field.value !== null) {
      i++;
      break;
    }
    if (text.length < 2 || text[0] !== "-") {
      if (spec.stop) break;
      if (operands.length === 0) rest = i;
      operands.push(field);
    } else if (text[1] === "-" || spec.wordy) i += readLong(argv, i, spec, list);
    else i += readShort(argv, i, spec, list);
  }
  if (i < argv.length && operands.length === 0) rest = i;
  for (; i < argv.length; i++) operands.push(argv[i] as Field);
  return { list, operands, rest };
}

function readLong(argv: readonly Field[], i: number, spec: OptionSpec, list: Option[]): number {
  const field = argv[i] as Field;
  const text = field.value ?? field.prefix;
  const dashes = text[1] === "-" ? 2 : 1;
  const equals = text.indexOf("=");
  const given = equals < 0 ? text.slice(dashes) : text.slice(dashes, equals);
  const found = complete(given, longNames(spec.long ?? ""));
  const takes = found?.endsWith("=") ?? false;
  const name = found?.replace(/=$/, "") ?? given;
  if (equals >= 0) {
    list.push({ name, value: tail(field, equals + 1), field, known: found !== null });
    return 0;
  }
  const value = takes ? (argv[i + 1] ?? null) : null;
  list.push({ name, value, field, known: found !== null });
  return value ? 1 : 0;
}

const split = new Map<string, readonly string[]>();

function longNames(text: string): readonly string[] {
  const known = split.get(text);
  if (known) return known;
  const names = text === "" ? [] : text.split(/\s+/);
  split.set(text, names);
  return names;
}

function complete(given: string, names: readonly string[]): string | null {
  const exact = names.find((name) => name === given || name === `${given}=`);
  if (exact) return exact;
  const matches = names.filter((name) => name.startsWith(given));
  return matches.length > 0 ? (matches[0] ?? null) : null;
}

function readShort(argv: readonly Field[], i: number, spec: OptionSpec, list: Option[]): number {
  const field = argv[i] as Field;
  const text = field.value ?? field.prefix;
  const letters = spec.short ?? "";
  for (let at = 1; at < text.length; at++) {
    const name = text[at] as string;
    const index = letters.indexOf(name);
    const known = index >= 0 && name !== ":";
    if (!known || letters[index + 1] !== ":") {
      list.push({ name, value: null, field, known });
      continue;
    }
    if (at + 1 < text.length || field.value === null) {
      list.push({ name, value: tail(field, at + 1), field, known });
      return 0;
    }
    const value = letters[index + 2] === ":" ? null : (argv[i + 1] ?? null);
    list.push({ name, value, field, known });
    return value ? 1 : 0;
  }
  return 0;
}

export function hasOption(options: Options, ...names: string[]): boolean {
  return options.list.some((option) => names.includes(option.name));
}

export function optionValue(options: Options, ...names: string[]): Field | null {
  return options.list.findLast((option) => names.includes(option.name) && option.value)?.value ?? null;
}

export function optionValues(options: Options, ...names: string[]): Field[] {
  return options.list.flatMap((option) => (names.includes(option.name) && option.value ? [option.value] : []));
}
