/** `[[ … ]]` and `test`: comparisons of numbers and `-v` evaluate text, the rest only reads words. */

import { forEachChild, type SyntaxNode, type TestExpression } from "../parse.ts";
import { doubt, place } from "../walk/walk.ts";
import { arithmeticText } from "./arithmetic.ts";
import { type Expander, expandValue } from "./expand.ts";
import type { Field } from "./field.ts";

const NUMERIC = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"]);

export function testExpression(at: Expander, expression: TestExpression): void {
  const pending: SyntaxNode[] = [expression];
  for (let node = pending.pop(); node; node = pending.pop()) {
    if (node.type === "TestUnary") {
      const operand = expandValue(at, node.operand);
      if (node.operator === "-v" || node.operator === "-R") variableName(at, operand);
    } else if (node.type === "TestBinary") {
      for (const side of [node.left, node.right]) {
        const field = expandValue(at, side);
        if (NUMERIC.has(node.operator)) arithmeticText(at, field.shape, place(at.origin, side.pos, side.end));
      }
    } else {
      forEachChild(node, (child) => {
        pending.push(child);
      });
    }
  }
}

/** A word that bash takes as the name of a variable: a subscript in it is evaluated, command substitutions included. */
export function variableName(at: Expander, field: Field): void {
  const name = field.value?.split("=", 1)[0] ?? null;
  if (name !== null && !field.doubt && /^-?[\w+]*(?:\[(?:[\w .@*-]*)\])?\+?$/.test(name)) return;
  if (name !== null && !name.includes("[") && !field.doubt) return;
  doubt(at.walk, { span: field.span, why: "evaluates the subscript in a variable's name" });
}
