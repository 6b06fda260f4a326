/**
 * Arithmetic runs code: bash evaluates the text of every variable in it, and a subscript in that text may hold `$(…)`.
 * So each variable in it must be known to hold a number, or nobody knows what runs.
 */
import type { Span } from "../../core/facts.ts";
import { type ArithmeticExpression, forEachChild, type SyntaxNode, type WordNode, type WordPart } from "../parse.ts";
import { isInteger, type Value } from "../walk/state.ts";
import { doubt, type Origin, place } from "../walk/walk.ts";
import type { Expander } from "./expand.ts";
import { expandValue } from "./expand.ts";
import { isNumeric } from "./substitution.ts";

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
      if (node.script)
        at.nested.push({ script: node.script, origin: nestedOrigin(at.origin, node.script.source, span) });
      if (!isNumeric(at.walk, node.text)) unsafe(at, span, "arithmetic on the output of a command");
    } else {
      if (
        node.type === "ArithmeticBinary" &&
        node.operator === "=" &&
        node.left.type === "ArithmeticWord" &&
        NAME.test(node.left.value)
      ) {
        // The right side may read the variable's old text, so it is looked at before the variable becomes a number.
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

function nestedOrigin(origin: Origin, source: string | undefined, span: Span): Origin {
  if (source === undefined) return { ...origin, nesting: origin.nesting + 1 };
  return { ...origin, source, base: null, span, nesting: origin.nesting + 1 };
}

function assigns(at: Expander, target: ArithmeticExpression): void {
  if (target.type !== "ArithmeticWord" || !NAME.test(target.value)) return;
  const before = at.walk.state.variables.get(target.value);
  if (isInteger(before)) at.walk.state.variables.set(target.value, { kind: "integer", exported: false });
}

function arithmeticWord(at: Expander, value: string, parts: readonly WordPart[] | undefined, span: Span): void {
  const text = value.trim();
  if (!parts) {
    if (!evaluates(at, text)) unsafe(at, span, `arithmetic evaluates the text in \`${text.slice(0, 40)}\``);
    return;
  }
  for (const part of parts) {
    if (part.type === "Literal") {
      if (/[$`]/.test(part.value)) unsafe(at, span, "arithmetic evaluates this text");
    } else if (part.type === "CommandExpansion") {
      if (part.script)
        at.nested.push({ script: part.script, origin: nestedOrigin(at.origin, part.script.source, span) });
      if (!isNumeric(at.walk, part.text)) unsafe(at, span, "arithmetic on the output of a command");
    } else if (part.type === "SimpleExpansion" || (part.type === "ParameterExpansion" && plainNumber(part))) {
      const name = part.type === "SimpleExpansion" ? part.text.slice(1) : part.parameter;
      if (part.type === "ParameterExpansion" && part.prefix === "#") continue;
      if (!holdsNumber(at, name)) unsafe(at, span, `arithmetic evaluates the text in \`${name}\``);
    } else {
      const word = {
        type: "Word",
        text: at.origin.source.slice(part.pos, part.end),
        value: "",
        pos: part.pos,
        end: part.end,
        parts: [part],
      };
      const field = expandValue(at, word as WordNode);
      if (field.shape === null || !NUMBER.test(field.shape)) unsafe(at, span, "arithmetic evaluates this text");
    }
  }
}

function plainNumber(part: { index: unknown; operation: unknown; prefix: string | undefined }): boolean {
  return !part.index && !part.operation && part.prefix !== "!";
}

/** True where the text is a number, a variable that holds one, or an element chosen by one of these. */
export function evaluates(at: Expander, text: string): boolean {
  if (text === "" || NUMBER.test(text)) return true;
  if (NAME.test(text)) return holdsNumber(at, text);
  const element = /^[A-Za-z_][A-Za-z0-9_]*\[([^[\]]*)\]$/.exec(text);
  return element?.[1] !== undefined && NAME.test(element[1])
    ? holdsNumber(at, element[1])
    : NUMBER.test(element?.[1] ?? "");
}

function holdsNumber(at: Expander, name: string): boolean {
  const value: Value | undefined = at.walk.state.variables.get(name);
  if (value) return isInteger(value);
  if (/^\d+$/.test(name)) return /^-?\d+$/.test(at.walk.state.positional?.[Number(name) - 1]?.value ?? "");
  return NUMBERED.has(name);
}

/** A subscript, offset or `let` argument: arithmetic given as a word. */
export function arithmeticText(at: Expander, text: string | null, span: Span): void {
  const words = text?.match(/[A-Za-z_][A-Za-z0-9_]*|\d[\w#]*/g) ?? [];
  const odd = text === null || /[^\w\s+\-*/%<>=!&|^~?:(),#.]/.test(text);
  if (odd || !words.every((word) => evaluates(at, word))) unsafe(at, span, "arithmetic evaluates this text");
  for (const match of (text ?? "").matchAll(/([A-Za-z_]\w*)\s*(?:[-+*/%]?=|\+\+|--)(?!=)/g)) {
    at.walk.state.variables.set(match[1] ?? "", { kind: "integer", exported: false });
  }
}

/** The word between the brackets of `a[…]`. Names of associative arrays' keys are text, and harmless as literals. */
export function subscript(at: Expander, index: WordNode): void {
  const field = expandValue(at, index);
  if (field.value !== null && /^[\w .:/-]*$/.test(field.value) && !NAME.test(field.value)) return;
  if (field.value === "@" || field.value === "*") return;
  if (field.shape !== null && NUMBER.test(field.shape)) return;
  arithmeticText(at, field.value, place(at.origin, index.pos, index.end));
}

function unsafe(at: Expander, span: Span, why: string): void {
  doubt(at.walk, { span, why });
}
