/** `export`, `declare`, `unset`, `read` and their kin: they set variables, by names that may themselves be evaluated. */
import { arithmeticText } from "../expand/arithmetic.ts";
import { tail } from "../expand/field.ts";
import { fromField } from "../expand/parameter.ts";
import { variableName } from "../expand/test-expression.ts";
import { type Call, unclear } from "../walk/call.ts";
import { setVariable } from "../walk/command.ts";
import { environmentCode } from "../walk/environment.ts";
import { hasOption, readOptions } from "./options.ts";

export function declare(call: Call): void {
  const options = readOptions(call.argv, { short: "aAfFgiIlnprtuxU" });
  const { walk } = call;
  const at = { walk, origin: call.origin, nested: [] };
  const exported = call.name === "export" || hasOption(options, "x");
  if (hasOption(options, "n") && call.name !== "export")
    unclear(call, call.fact.span, "makes one variable stand for another");
  if (exported && hasOption(options, "f")) unclear(call, call.fact.span, "hands functions to other shells");
  for (const field of options.operands) {
    variableName(at, {
      ...field,
      value: field.value ?? (field.prefix.includes("=") ? field.prefix : null),
      doubt: null,
    });
    const equals = field.prefix.indexOf("=");
    if (equals > 0 && hasOption(options, "i")) arithmeticText(at, tail(field, equals + 1).shape, field.span);
    // Outside a function `local` fails and sets nothing.
    if (call.name === "local" && !walk.state.hidden) continue;
    const name = (equals < 0 ? field.prefix : field.prefix.slice(0, equals)).replace(/\+$|\[.*$/, "");
    if (call.name !== "export" && call.name !== "readonly" && !hasOption(options, "g")) hide(call, name);
    if (hasOption(options, "i")) walk.state.integers.add(name);
    if (equals < 0) {
      const before = walk.state.variables.get(name);
      if (before && exported) walk.state.variables.set(name, { ...before, exported: true });
      continue;
    }
    const value = tail(field, equals + 1);
    const plain = !/[+\]]$/.test(field.prefix.slice(0, equals)) && !hasOption(options, "l", "u", "a", "A");
    setVariable(walk, name, plain ? fromField(value, exported) : { kind: "unknown", exported });
    environmentCode(walk, [{ name, value }], call.origin);
  }
}

function hide(call: Call, name: string): void {
  const { hidden, variables } = call.walk.state;
  if (hidden && !hidden.has(name)) hidden.set(name, variables.get(name));
}

export function forget(call: Call): void {
  const { operands, list } = readOptions(call.argv, { short: "fvn" });
  const at = { walk: call.walk, origin: call.origin, nested: [] };
  for (const field of operands) {
    variableName(at, field);
    if (field.value === null) continue;
    if (field.value.includes("["))
      setVariable(call.walk, field.value.replace(/\[.*$/, ""), { kind: "unknown", exported: false });
    else if (!list.some((option) => option.name === "f")) call.walk.state.variables.delete(field.value);
    else call.walk.state.functions.delete(field.value);
    if (field.value === "IFS" || field.value === "PATH")
      setVariable(call.walk, field.value, { kind: "unknown", exported: false });
  }
}

/** The last words are names of variables that get a value nobody knows yet. */
export function readInto(call: Call): void {
  const short = call.name === "printf" ? "v:" : call.name === "read" ? "ersa:d:i:n:N:p:t:u:" : "d:n:O:s:tu:C:c:p:fn";
  const options = readOptions(call.argv, { short });
  const at = { walk: call.walk, origin: call.origin, nested: [] };
  const named = options.list.filter(
    (option) => ["v", "a", "p"].includes(option.name) && option.value && !(call.name === "read" && option.name === "p"),
  );
  const fields = [
    ...named.flatMap((option) => (option.value ? [option.value] : [])),
    ...(call.name === "printf" ? [] : options.operands),
  ];
  for (const { name, value } of options.list) {
    if (name === "C" && call.name !== "read" && value)
      unclear(call, value.span, "runs this text for every line it reads");
  }
  for (const field of call.name === "getopts" ? fields.slice(1, 2) : fields) {
    variableName(at, field);
    if (field.value) setVariable(call.walk, field.value.replace(/\[.*$/, ""), { kind: "unknown", exported: false });
  }
  if (fields.length === 0)
    setVariable(call.walk, call.name === "read" ? "REPLY" : "MAPFILE", { kind: "unknown", exported: false });
}
