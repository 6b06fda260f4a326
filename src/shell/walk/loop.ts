/** Loops: a `for` over known words is walked once per word; what a loop body changes is not known inside it. */
import type { Field } from "../expand/field.ts";
import { fromField } from "../expand/parameter.ts";
import { limits } from "../limits.ts";
import { isInteger, type Value } from "./state.ts";
import type { Walk } from "./walk.ts";

const UNKNOWN: Value = { kind: "unknown", exported: false };

/** One step per round, each setting the variable. */
export function unroll(walk: Walk, name: string, fields: Field[] | null): (() => void)[] {
  const set = (value: Value) => () => {
    walk.state.variables.set(name, value);
  };
  if (!fields || fields.some((field) => field.many)) return [set(UNKNOWN)];
  if (fields.length > 1 && fields.every((field) => /^-?\d+$/.test(field.value ?? ""))) {
    return [set({ kind: "integer", exported: false })];
  }
  if (fields.length > limits.loopValues) return [set(UNKNOWN)];
  return fields.map((field) => set(fromField(field, false)));
}

/** Forgets the variables that the loop's text sets, since the second round starts with what the first one left. */
export function unsettle(walk: Walk, source: string, except: string | undefined): void {
  const { variables, functions } = walk.state;
  const text = functions.size > 0 ? [source, ...[...functions.values()].map((body) => body.source)].join("\n") : source;
  for (const [name, value] of variables) {
    if (name === except || !new RegExp(`(?:^|[^$\\w{])${name}(?!\\w)`).test(text)) continue;
    const numeric =
      isInteger(value) &&
      !new RegExp(`(?:^|[^$\\w{])${name}(?:\\[[^\\]]*\\])?\\+?=(?!\\$\\(\\(|-?\\d+(?![\\w$.]))`).test(text);
    variables.set(
      name,
      numeric && !/\b(?:read|mapfile|printf|eval|source|declare|local|export)\b/.test(text)
        ? { kind: "integer", exported: value.exported }
        : UNKNOWN,
    );
  }
  if (/(?:^|[^\w-])(?:cd|pushd|popd)(?!\w)/.test(text)) {
    walk.state.cwd = null;
    walk.state.folders = [];
  }
}
