/**
 * Models `read`, `mapfile`, `getopts` and `printf -v`, which set variables at run time. If their input is part of the
 * text, the variables get a likely value, which is checked but does not count as known.
 */
import type { Unknown } from "../../core/facts.ts";
import { variableName } from "../expand/arithmetic.ts";
import { type Field, literal } from "../expand/field.ts";
import { limits } from "../limits.ts";
import { type Call, markCommandUnknown } from "../walk/call.ts";
import type { StreamContent, Value } from "../walk/state.ts";
import { isRemote, readContent } from "../walk/streams.ts";
import { setVariable } from "../walk/walk.ts";
import { printfOutput } from "./builtin-output.ts";
import { type Options, optionValue, readOptions } from "./options.ts";
import { noteInputReader } from "./stdin-code.ts";

const UNKNOWN: Value = { kind: "unknown", exported: false };
const REMOTE: Value = { kind: "unknown", exported: false, remote: true };

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
    return printed.kind === "text" ? [textValue(printed.text, uncertainty(call, printed))] : [];
  }
  const feed = readContent(call.walk, descriptorOf(call, options));
  if (call.name === "getopts") return [];
  if (feed.kind !== "text") return isRemote(feed) ? Array(Math.max(count, 1)).fill(REMOTE) : [];
  if (feed.input) noteInputReader(call, "shell");
  const uncertain = uncertainty(call, feed);
  const lines = feed.text.replace(/\n$/, "").split("\n");
  if (call.name !== "read") return [list(lines, uncertain)];
  const separators = separatorsOf(call);
  const words = (lines[0] ?? "").split(separators).filter((word) => word !== "");
  if (optionValue(options, "a")) return [list(words, uncertain)];
  // In a loop, the variable holds each of the lines in turn.
  if (count <= 1) return [textValue(lines.join("\n").trim(), uncertain)];
  return words
    .slice(0, count - 1)
    .concat(words.slice(count - 1).join(" "))
    .map((word) => textValue(word, uncertain));
}

/** Returns the characters that separate words: those of `IFS=, read a b`, or else whitespace. */
function separatorsOf(call: Call): RegExp | string {
  const given = call.assignments.find(({ name }) => name === "IFS")?.value.value;
  return given ? given.slice(0, 1) : /[ \t]+/;
}

function textValue(text: string, uncertain: Unknown): Value {
  return { kind: "text", text, glob: false, uncertain, exported: false };
}

function list(texts: readonly string[], uncertain: Unknown): Value {
  if (texts.length > limits.listItems) return UNKNOWN;
  const items: Field[] = texts.map((text) => ({ ...literal(text, "", uncertain.span), uncertain }));
  return { kind: "list", items, exported: false };
}

/** Returns the content of the descriptor that `read -u 3` names, or else of standard input. */
function descriptorOf(call: Call, options: Options): StreamContent {
  const named = optionValue(options, "u")?.value;
  if (named === undefined || named === null) return call.stdin;
  return call.descriptors.get(Number(named)) ?? { kind: "unknown", why: "a descriptor that is opened elsewhere" };
}

function uncertainty(call: Call, feed: StreamContent): Unknown {
  return {
    span: call.fact.span,
    why: `the value that \`${call.name}\` sets is known only at run time`,
    ...(isRemote(feed) ? { remote: true } : {}),
    ...(feed.kind !== "none" && feed.input ? { input: true } : {}),
  };
}
