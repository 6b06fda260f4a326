/**
 * Models `read`, `mapfile`, `getopts` and `printf -v`, which set variables at run time. If their input is part of the
 * text, the variables get a likely value, which is checked but does not count as known.
 */
import { variableName } from "../expand/arithmetic.ts";
import { type Field, literal } from "../expand/field.ts";
import { limits } from "../limits.ts";
import { type Call, markCommandUnknown } from "../walk/call.ts";
import type { Value } from "../walk/state.ts";
import { setVariable } from "../walk/walk.ts";
import { printfOutput } from "./builtin-output.ts";
import { hasOption, type Options, optionValue, readOptions } from "./options.ts";

const UNKNOWN: Value = { kind: "unknown", exported: false };

const SHORT: Record<string, string> = { printf: "v:", read: "ersa:d:i:n:N:p:t:u:" };

export function readInto(call: Call): void {
  const options = readOptions(call.argv, { short: SHORT[call.name] ?? "d:n:O:s:tu:C:c:p:fn" });
  const named = options.list.filter(
    (option) => ["v", "a", "p"].includes(option.name) && option.value && !(call.name === "read" && option.name === "p"),
  );
  const fields = [
    ...named.flatMap((option) => (option.value ? [option.value] : [])),
    ...(call.name === "printf" ? [] : options.operands),
  ];
  for (const { name, value } of options.list) {
    if (name === "C" && call.name !== "read" && value)
      markCommandUnknown(call, value.span, "this command runs the text for every line it reads");
  }
  const values = likelyValues(call, options, fields.length);
  for (const [index, field] of (call.name === "getopts" ? fields.slice(1, 2) : fields).entries()) {
    variableName(call.walk, field);
    if (field.value) setVariable(call.walk, field.value.replace(/\[.*$/, ""), values[index] ?? UNKNOWN);
  }
  if (fields.length === 0) setVariable(call.walk, call.name === "read" ? "REPLY" : "MAPFILE", values[0] ?? UNKNOWN);
}

function likelyValues(call: Call, options: Options, count: number): Value[] {
  if (call.name === "printf") {
    const at = call.argv.findIndex((field) => field.value === "-v");
    const printed = printfOutput({ name: "printf", argv: [...call.argv.slice(0, at), ...call.argv.slice(at + 2)] });
    return printed.kind === "text" ? [textValue(call, printed.text)] : [];
  }
  const feed = call.stdin;
  if (feed.kind !== "text" || call.name === "getopts" || hasOption(options, "u")) return [];
  const lines = feed.text.replace(/\n$/, "").split("\n");
  if (call.name !== "read") return [list(call, lines)];
  const separators = separatorsOf(call);
  const words = (lines[0] ?? "").split(separators).filter((word) => word !== "");
  if (optionValue(options, "a")) return [list(call, words)];
  if (count <= 1) return [textValue(call, lines[0]?.trim() ?? "")];
  return words
    .slice(0, count - 1)
    .concat(words.slice(count - 1).join(" "))
    .map((word) => textValue(call, word));
}

/** Returns the characters that separate words: those of `IFS=, read a b`, or else whitespace. */
function separatorsOf(call: Call): RegExp | string {
  const given = call.assignments.find(({ name }) => name === "IFS")?.value.value;
  return given ? given.slice(0, 1) : /[ \t]+/;
}

function textValue(call: Call, text: string): Value {
  return { kind: "text", text, glob: false, uncertain: uncertain(call), exported: false };
}

function list(call: Call, texts: readonly string[]): Value {
  if (texts.length > limits.listItems) return UNKNOWN;
  const items: Field[] = texts.map((text) => ({ ...literal(text, "", call.fact.span), uncertain: uncertain(call) }));
  return { kind: "list", items, exported: false };
}

function uncertain(call: Call): NonNullable<Field["uncertain"]> {
  return { span: call.fact.span, why: `the value that \`${call.name}\` sets is known only at run time` };
}
