/** Expands `$x` and `${x…}` as far as the text or the context determines the value. */
import type { Span, Unknown } from "../../core/facts.ts";
import { compileGlob } from "../../text/glob.ts";
import type { ParameterExpansionPart, WordNode, WordPart } from "../parse.ts";
import type { Value } from "../walk/state.ts";
import { fieldValue } from "../walk/state.ts";
import { markUnknown } from "../walk/walk.ts";
import { arithmeticText, subscript } from "./arithmetic.ts";
import type { Field } from "./field.ts";
import type { Expander } from "./substitution.ts";

/** A part of the value of a parameter. `boundary` means that a new word starts here even inside quotes (`"$@"`). */
export type Piece =
  | { text: string; shape: string; glob: boolean; uncertain: Unknown | null; boundary: boolean; whole?: boolean }
  | { text: null; shape: string | null; uncertain: Unknown; boundary: boolean; many: boolean };

type Expansion = Extract<WordPart, { type: "SimpleExpansion" | "ParameterExpansion" }>;

export function parameter(at: Expander, part: Expansion, span: Span, quoted: boolean): Piece[] {
  if (part.type === "SimpleExpansion") {
    const found = pieces(value(at, part.text.slice(1)), part.text, span);
    return quoted && part.text === "$*" ? joinPieces(at, found, span) : found;
  }
  if (part.index) subscript(at, part.index);
  if (part.prefix === "#") return [integer(span)];
  const base = part.prefix === "!" ? indirect(at, part, span) : element(at, part);
  if (part.operation) return operate(at, part, base, span, quoted);
  const found = pieces(base, part.text, span);
  const star = part.index?.text === "*" || part.parameter === "*";
  return quoted && star ? joinPieces(at, found, span) : found;
}

/** Joins the parts of `"$*"` into one word, separated by the first character of IFS. */
function joinPieces(at: Expander, found: Piece[], span: Span): Piece[] {
  const texts = found.map((piece) => piece.text);
  if (at.walk.state.splitChanged || texts.some((text) => text === null)) return [unknown(span, "$*", false)];
  const text = texts.join(" ");
  return [
    {
      text,
      shape: text,
      glob: false,
      uncertain: found.find((piece) => piece.uncertain)?.uncertain ?? null,
      boundary: false,
    },
  ];
}

function operate(
  at: Expander,
  part: ParameterExpansionPart,
  base: Value | undefined,
  span: Span,
  quoted: boolean,
): Piece[] {
  const operation = part.operation;
  if (!operation) return pieces(base, part.text, span);
  const given = pieces(base, part.text, span);
  switch (operation.type) {
    case "Default": {
      const operand = operandPieces(at, operation.operand, quoted);
      const empty = base?.kind === "text" && base.text === "" && operation.operator.startsWith(":");
      if (operation.operator.endsWith("?")) return given;
      if (operation.operator.endsWith("+") && operation.operand.text === "") return operand;
      const unsure = base?.kind === "text" && base.uncertain !== null;
      if (operation.operator.endsWith("+") && unsure) return [unknown(span, part.text, true)];
      if (operation.operator.endsWith("+")) return base && !empty ? operand : [unknown(span, part.text, true)];
      if (operation.operator.endsWith("=") && !base) {
        at.walk.state.variables.set(part.parameter, fieldValue(at.expandValue(at, operation.operand), false));
      }
      if (empty) return operand;
      if (base) return given;
      return asUncertain(operand, span);
    }
    case "Remove":
    case "CaseModification": {
      const operand = operation.operand ? at.expandValue(at, operation.operand) : null;
      return modify(given, operation.type, operation.operator, operand, null, span);
    }
    case "Replace": {
      const pattern = at.expandValue(at, operation.pattern);
      return modify(given, "Replace", operation.operator, pattern, at.expandValue(at, operation.replacement), span);
    }
    case "Slice": {
      const offset = at.expandValue(at, operation.offset);
      const length = operation.length ? at.expandValue(at, operation.length) : null;
      arithmeticText(at.walk, offset.shape, span);
      if (length) arithmeticText(at.walk, length.shape, span);
      // For `$@` and arrays, a slice selects elements and not characters.
      if (base?.kind === "list" || /^[@*]$/.test(part.parameter)) {
        const items = base?.kind === "list" ? sliceItems(base.items, part, offset, length) : null;
        return items
          ? pieces({ kind: "list", items, exported: false }, part.text, span)
          : [unknown(span, part.text, true)];
      }
      return modify(given, "Slice", ":", offset, length, span);
    }
    case "Transform": {
      const how = at.expandValue(at, operation.operand).value;
      // `@P` expands the text as a prompt, including command substitutions.
      if (how === null || !/^[QULuAaKk]$/.test(how))
        markUnknown(at.walk, { span, why: "bash evaluates the value of a variable as code" });
      return [unknown(span, part.text, false)];
    }
    case "Names":
      return [unknown(span, part.text, true)];
    default:
      markUnknown(at.walk, { span, why: "bash has no such expansion" });
      return [unknown(span, part.text, true)];
  }
}

/** Returns the elements that `${@:2}`, `${@: -1}` or `${a[@]:1:2}` selects. Null when the numbers are not known. */
function sliceItems(items: Field[], part: ParameterExpansionPart, offset: Field, length: Field | null): Field[] | null {
  const from = Number(offset.value?.trim() || Number.NaN);
  const count = length === null ? items.length : Number(length.value?.trim() || Number.NaN);
  // `$@` starts at 1, and `${@:0}` starts with the name of the shell.
  const first = /^[@*]$/.test(part.parameter) ? 1 : 0;
  if (!Number.isInteger(from) || !Number.isInteger(count) || count < 0 || (first === 1 && from === 0)) return null;
  const start = from < 0 ? items.length + from : from - first;
  return start < 0 ? [] : items.slice(start, start + count);
}

/** Expands the word after `:-`. Outside quotes it is split like other words, except for its own quoted parts. */
function operandPieces(at: Expander, operand: WordNode, quoted: boolean): Piece[] {
  if (quoted) return [fieldPiece(at.expandValue(at, operand))];
  if (!operand.parts) return operand.text === "" ? [] : [fieldPiece(at.expandValue(at, operand))];
  return operand.parts.map((part) => {
    const word = { type: "Word", text: part.text, value: "", pos: part.pos, end: part.end, parts: [part] } as WordNode;
    const split = part.type === "Literal" || part.type === "SimpleExpansion" || part.type === "Glob";
    return { ...fieldPiece(at.expandValue(at, word)), whole: !split };
  });
}

function indirect(at: Expander, part: ParameterExpansionPart, span: Span): Value | undefined {
  if (part.index || part.operation?.type === "Names") return undefined;
  // `${!#}` is the last positional parameter.
  const { positional } = at.walk.state;
  if (part.parameter === "#" && positional) return fromItem(positional.at(-1));
  const target = value(at, part.parameter);
  if (target?.kind === "text" && /^[A-Za-z_]\w*$|^\d+$/.test(target.text)) return value(at, target.text);
  markUnknown(at.walk, { span, why: "the name of the variable to read is known only at run time" });
  return undefined;
}

function element(at: Expander, part: ParameterExpansionPart): Value | undefined {
  const whole = value(at, part.parameter);
  if (/^[@*]$/.test(part.parameter)) return whole;
  if (!part.index) return whole?.kind === "list" ? fromItem(whole.items[0]) : whole;
  const index = part.index.text;
  if (whole?.kind !== "list") return index === "0" || index === "@" || index === "*" ? whole : undefined;
  if (index === "@" || index === "*") return whole;
  return /^\d+$/.test(index) ? fromItem(whole.items[Number(index)]) : { kind: "unknown", exported: false };
}

function fromItem(field: Field | undefined): Value | undefined {
  return field ? fieldValue(field, false) : undefined;
}

const NUMBERS = /^(?:[#?$!]|RANDOM|SRANDOM|SECONDS|LINENO|E?UID|PPID|BASHPID|EPOCHSECONDS)$/;

/** Returns the value of a variable. Undefined when neither the text nor the context sets it; the environment might. */
export function value(at: Expander, name: string): Value | undefined {
  const { state, context } = at.walk;
  const set = state.variables.get(name);
  if (set) return set;
  if (/^[1-9]\d*$/.test(name)) return state.positional ? fromItem(state.positional[Number(name) - 1]) : undefined;
  if (name === "@" || name === "*") {
    return state.positional ? { kind: "list", items: state.positional, exported: false } : undefined;
  }
  if (NUMBERS.test(name)) return { kind: "integer", exported: false };
  if (name === "HOME") return text(context.home);
  if (name === "PWD") {
    if (state.cwd === null) return undefined;
    if (state.fallbacks.length === 0) return text(state.cwd);
    return { ...text(state.cwd), uncertain: { span: at.origin.span, why: "an earlier `cd` may fail" } };
  }
  if (name === "OLDPWD") return state.previousCwd === null ? undefined : text(state.previousCwd);
  if (name === "IFS")
    return {
      ...text(" \t\n"),
      uncertain: { span: at.origin.span, why: "`$IFS` expands to whitespace, which can hide arguments" },
    };
  const known = context.env?.[name];
  return known === undefined ? undefined : text(known);
}

export function text(value: string): Extract<Value, { kind: "text" }> {
  return { kind: "text", text: value, glob: false, uncertain: null, exported: true };
}

function pieces(value: Value | undefined, source: string, span: Span): Piece[] {
  if (value?.kind === "text") {
    const uncertain = value.uncertain ? { ...value.uncertain, span } : null;
    return [{ text: value.text, shape: value.text, glob: value.glob, uncertain, boundary: false }];
  }
  if (value?.kind === "integer") return [integer(span)];
  if (value?.kind === "list") return value.items.map((item, index) => ({ ...fieldPiece(item), boundary: index > 0 }));
  const remote = value?.kind === "unknown" && value.remote === true;
  return [unknown(span, source, /@/.test(source), remote)];
}

function integer(span: Span): Piece {
  return {
    text: null,
    shape: "0",
    uncertain: { span, why: "a number is known only at run time" },
    boundary: false,
    many: false,
  };
}

function unknown(span: Span, source: string, many: boolean, remote = false): Piece {
  const why = `the value of \`${source.slice(0, 40)}\` is known only at run time`;
  return {
    text: null,
    shape: null,
    uncertain: remote ? { span, why, remote } : { span, why },
    boundary: false,
    many,
  };
}

function fieldPiece(field: Field): Piece {
  if (field.value !== null) {
    return { text: field.value, shape: field.value, glob: field.glob, uncertain: field.uncertain, boundary: false };
  }
  const why = field.uncertain ?? { span: field.span, why: "the value is known only at run time" };
  return { text: null, shape: field.shape, uncertain: why, boundary: false, many: field.many };
}

function asUncertain(list: Piece[], span: Span): Piece[] {
  const why = { span, why: "the default value applies only if the variable is not set" };
  return list.map((piece) => ({ ...piece, uncertain: piece.uncertain ?? why }));
}

/**
 * Operations (`${x#…}`, `${x/…/…}`, `${x:1:2}`, `${x^^}`) that are applied to known values with known operands. All
 * other results are unknown.
 */
type Kind = "Remove" | "CaseModification" | "Replace" | "Slice";

function modify(
  given: Piece[],
  kind: Kind,
  operator: string,
  one: Field | null,
  two: Field | null,
  span: Span,
): Piece[] {
  const [piece] = given;
  const pattern = kind === "Remove" ? /[[\\]/ : /[*?[\\]/;
  const literal = (field: Field | null) =>
    !field || (field.value !== null && (!field.glob || kind === "Remove") && !pattern.test(field.value));
  if (given.length !== 1 || piece?.text == null || !literal(one) || !literal(two)) return [lost(span)];
  const result = apply(piece.text, kind, operator, one?.value ?? null, two?.value ?? null);
  return result === null ? [lost(span)] : [{ ...piece, text: result, shape: result }];
}

function apply(text: string, kind: Kind, operator: string, one: string | null, two: string | null): string | null {
  switch (kind) {
    case "CaseModification":
      if (one !== null && one !== "") return null;
      if (operator === "^^") return text.toUpperCase();
      if (operator === ",,") return text.toLowerCase();
      return (operator === "^" ? text.charAt(0).toUpperCase() : text.charAt(0).toLowerCase()) + text.slice(1);
    case "Remove":
      return one === null ? text : remove(text, operator, one);
    case "Replace":
      if (!one) return text;
      if (operator === "/") return text.replace(one, () => two ?? "");
      if (operator === "//") return text.replaceAll(one, () => two ?? "");
      return null;
    case "Slice": {
      const from = Number(one?.trim());
      const length = two === null ? text.length : Number(two.trim());
      if (!Number.isInteger(from) || !Number.isInteger(length) || from < 0 || length < 0) return null;
      return text.slice(from, from + length);
    }
  }
}

const MAX_PATTERN_TEXT = 1024;

/** Removes what a pattern matches at the start (`#`, `##`) or the end (`%`, `%%`): the shortest or longest match. */
function remove(text: string, operator: string, pattern: string): string | null {
  if (text.length > MAX_PATTERN_TEXT) return null;
  const matches = compileGlob(pattern);
  const lengths = Array.from({ length: text.length + 1 }, (_, length) => length);
  if (operator.length > 1) lengths.reverse();
  const atStart = operator.startsWith("#");
  const found = lengths.find((length) => matches(atStart ? text.slice(0, length) : text.slice(text.length - length)));
  if (found === undefined) return text;
  return atStart ? text.slice(found) : text.slice(0, text.length - found);
}

function lost(span: Span): Piece {
  return {
    text: null,
    shape: null,
    uncertain: { span, why: "the modified value of a variable cannot be determined" },
    boundary: false,
    many: false,
  };
}
