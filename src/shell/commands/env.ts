/** `env`: options, assignments, then a command; with -S one of its words is split into several. */

import { type Field, literal, tail } from "../expand/field.ts";
import { normalise } from "../path.ts";
import type { Assigned, Call, Runner } from "../walk/call.ts";
import { unclear } from "../walk/call.ts";
import { environmentCode } from "../walk/environment.ts";
import { optionValue, readOptions } from "./options.ts";

const SPEC = {
  short: "iu:C:S:0vP:a:",
  long: "ignore-environment unset= chdir= split-string= null debug block-signal default-signal ignore-signal argv0=",
  stop: true,
};

export function env(call: Call, run: Runner): void {
  call.fact.wrapper = true;
  const options = readOptions(call.argv, SPEC);
  const splits = options.list.filter((option) => option.name === "S" || option.name === "split-string");
  if (splits.length > 4) {
    unclear(call, call.fact.span, "strings inside strings, too many to split");
    splits.length = 4;
  }
  let words = options.operands;
  for (const { value } of splits.reverse()) {
    if (!value) continue;
    const split = splitString(call, value);
    if (split) words = [...split, ...words];
  }
  if (splits.length > 0) {
    // The split words may begin with further options of env itself.
    const again = readOptions([call.argv[0] as Field, ...words], SPEC);
    words = again.operands;
  }
  if (words[0]?.value === "-") words = words.slice(1);
  const assignments: Assigned[] = [];
  let at = 0;
  for (; at < words.length; at++) {
    const field = words[at] as Field;
    const equals = field.prefix.indexOf("=");
    if (equals < 0) break;
    assignments.push({ name: field.prefix.slice(0, equals), value: tail(field, equals + 1) });
  }
  environmentCode(call.walk, assignments, call.origin);
  if (assignments.some(({ name }) => name === "PATH"))
    unclear(call, call.fact.span, "PATH was changed: which program runs is not known");
  const folder = optionValue(options, "C", "chdir");
  const cwd = folder ? (folder.shape === null ? null : normalise(folder.shape, call.cwd)) : undefined;
  const rest = words.slice(at);
  run.argv(call, rest, { assignments: [...call.assignments, ...assignments], ...(cwd === undefined ? {} : { cwd }) });
}

/** Guard and system have split -S differently before: anything but plain words and simple quotes is not followed. */
function splitString(call: Call, value: Field): Field[] | null {
  if (value.value === null || /[\\$#]/.test(value.value)) {
    unclear(call, value.span, "a string that env splits in ways that are not followed");
    if (value.value === null) return null;
  }
  const words = value.value.match(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g) ?? [];
  return words.map((word) =>
    literal(
      word.replace(/'([^']*)'|"([^"]*)"/g, (_, a, b) => a ?? b),
      value.source,
      value.span,
    ),
  );
}
