/**
 * Arithmetic can run code: bash evaluates the text of every variable in it, and a subscript in that text may contain
 * `$(…)`. So each variable must be known to hold a number; otherwise the text is unanalyzable.
 */
import type { Span } from "../../core/facts.ts";
import type { TestExpression } from "../parse.ts";
import { type ArithmeticExpression, forEachChild, type SyntaxNode, type WordNode, type WordPart } from "../parse.ts";
import { isInteger, spanAt, type Value } from "../walk/state.ts";
import type { Walk } from "../walk/walk.ts";
import { markUnknown } from "../walk/walk.ts";
import type { Field } from "./field.ts";
import type { Expander } from "./substitution.ts";
import { addNested, isNumeric } from "./substitution.ts";

const NUMBER = /^(?:0[xX][0-9a-fA-F]+|\d+#[0-9a-zA-Z@_]+|\d+)$/;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const NUMBERED = new Set(
  "# ? $ ! RANDOM SRANDOM SECONDS LINENO UID EUID PPID BASHPID EPOCHSECONDS OPTIND SHLVL COLUMNS LINES BASH_SUBSHELL".split(
    " ",
  ),
);

const SETS = /^(?:[-+*/%&|^]|<<|>>)?=$/;

export function arithmetic(at: Expander, expression: ArithmeticExpression, span: Span): void {
  const pending: SyntaxNode[] = [expression];
  for (let node = pending.pop(); node; node = pending.pop()) {
    if (node.type === "ArithmeticWord") arithmeticWord(at, node.value, node.parts, span);
    else if (node.type === "ArithmeticCommandExpansion") {
      addNested(at, node.script, span);
      if (!isNumeric(at.walk, node.text))
        unsafe(at.walk, span, "bash evaluates the output of a command as arithmetic, which can run code");
    } else {
      if (
        node.type === "ArithmeticBinary" &&
        node.operator === "=" &&
        node.left.type === "ArithmeticWord" &&
        NAME.test(node.left.value)
      ) {
        // The right side may read the old value of the variable, so it is checked before the variable becomes a number.
        arithmetic(at, node.right, span);
        at.walk.state.variables.set(node.left.value, { kind: "integer", exported: false });
        continue;
      }
      if (node.type === "ArithmeticBinary" && SETS.test(node.operator)) assigns(at, node.left);
      if (node.type === "ArithmeticUnary" && /^(?:\+\+|--)$/.test(node.operator)) assigns(at, node.operand);
      forEachChild(node, (child) => {
        pending.push(child);
      });
    }
  }
}

function assigns(at: Expander, target: ArithmeticExpression): void {
  if (target.type !== "ArithmeticWord" || !NAME.test(target.value)) return;
  const before = at.walk.state.variables.get(target.value);
  if (isInteger(before)) at.walk.state.variables.set(target.value, { kind: "integer", exported: false });
}

function arithmeticWord(at: Expander, value: string, parts: readonly WordPart[] | undefined, span: Span): void {
  const text = value.trim();
  if (!parts) {
    if (!evaluates(at.walk, text))
      unsafe(at.walk, span, `bash evaluates \`${text.slice(0, 40)}\` as arithmetic, which can run code`);
    return;
  }
  for (const part of parts) {
    if (part.type === "Literal") {
      if (/[$`]/.test(part.value)) unsafe(at.walk, span, "bash evaluates this text as arithmetic, which can run code");
    } else if (part.type === "CommandExpansion") {
      addNested(at, part.script, span);
      if (!isNumeric(at.walk, part.text))
        unsafe(at.walk, span, "bash evaluates the output of a command as arithmetic, which can run code");
    } else if (part.type === "SimpleExpansion" || (part.type === "ParameterExpansion" && plainNumber(part))) {
      const name = part.type === "SimpleExpansion" ? part.text.slice(1) : part.parameter;
      if (part.type === "ParameterExpansion" && part.prefix === "#") continue;
      if (!holdsNumber(at.walk, name))
        unsafe(at.walk, span, `bash evaluates the value of \`${name}\` as arithmetic, which can run code`);
    } else {
      const word = {
        type: "Word",
        text: at.origin.source.slice(part.pos, part.end),
        value: "",
        pos: part.pos,
        end: part.end,
        parts: [part],
      };
      const field = at.expandValue(at, word as WordNode);
      if (field.shape === null || !NUMBER.test(field.shape))
        unsafe(at.walk, span, "bash evaluates this text as arithmetic, which can run code");
    }
  }
}

function plainNumber(part: { index: unknown; operation: unknown; prefix: string | undefined }): boolean {
  return !part.index && !part.operation && part.prefix !== "!";
}

/** Reports whether the text is a number, a variable that holds a number, or an array element with such a subscript. */
export function evaluates(walk: Walk, text: string): boolean {
  if (text === "" || NUMBER.test(text)) return true;
  if (NAME.test(text)) return holdsNumber(walk, text);
  const element = /^[A-Za-z_][A-Za-z0-9_]*\[([^[\]]*)\]$/.exec(text);
  return element?.[1] !== undefined && NAME.test(element[1])
    ? holdsNumber(walk, element[1])
    : NUMBER.test(element?.[1] ?? "");
}

function holdsNumber(walk: Walk, name: string): boolean {
  const value: Value | undefined = walk.state.variables.get(name);
  if (value) return isInteger(value);
  if (/^\d+$/.test(name)) return /^-?\d+$/.test(walk.state.positional?.[Number(name) - 1]?.value ?? "");
  return NUMBERED.has(name);
}

/** Checks arithmetic that is given as a word: a subscript, an offset or an argument of `let`. */
export function arithmeticText(walk: Walk, text: string | null, span: Span): void {
  const words = text?.match(/[A-Za-z_][A-Za-z0-9_]*|\d[\w#]*/g) ?? [];
  const odd = text === null || /[^\w\s+\-*/%<>=!&|^~?:(),#.]/.test(text);
  if (odd || !words.every((word) => evaluates(walk, word)))
    unsafe(walk, span, "bash evaluates this text as arithmetic, which can run code");
  for (const match of (text ?? "").matchAll(/([A-Za-z_]\w*)\s*(?:[-+*/%]?=|\+\+|--)(?!=)/g)) {
    walk.state.variables.set(match[1] ?? "", { kind: "integer", exported: false });
  }
}

/** Checks the subscript of `a[…]`. Keys of associative arrays are text, which is harmless if it is literal. */
export function subscript(at: Expander, index: WordNode): void {
  const field = at.expandValue(at, index);
  if (field.value !== null && /^[\w .:/-]*$/.test(field.value) && !NAME.test(field.value)) return;
  if (field.value === "@" || field.value === "*") return;
  if (field.shape !== null && NUMBER.test(field.shape)) return;
  arithmeticText(at.walk, field.value, spanAt(at.origin, index.pos, index.end));
}

function unsafe(walk: Walk, span: Span, why: string): void {
  markUnknown(walk, { span, why });
}

const NUMERIC = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"]);

export function testExpression(at: Expander, expression: TestExpression): void {
  const pending: SyntaxNode[] = [expression];
  for (let node = pending.pop(); node; node = pending.pop()) {
    if (node.type === "TestUnary") {
      const operand = at.expandValue(at, node.operand);
      if (node.operator === "-v" || node.operator === "-R") variableName(at.walk, operand);
    } else if (node.type === "TestBinary") {
      for (const side of [node.left, node.right]) {
        const field = at.expandValue(at, side);
        if (NUMERIC.has(node.operator)) arithmeticText(at.walk, field.shape, spanAt(at.origin, side.pos, side.end));
      }
    } else {
      forEachChild(node, (child) => {
        pending.push(child);
      });
    }
  }
}

/**
 * Checks a word that bash uses as a variable name. Bash evaluates a subscript in it, including command substitutions.
 */
export function variableName(walk: Walk, field: Field): void {
  const name = field.value?.split("=", 1)[0] ?? null;
  if (name !== null && !field.uncertain && /^-?[\w+]*(?:\[(?:[\w .@*-]*)\])?\+?$/.test(name)) return;
  if (name !== null && !name.includes("[") && !field.uncertain) return;
  markUnknown(walk, { span: field.span, why: "bash evaluates the subscript in a variable name, which can run code" });
}
