/** `${x#…}`, `${x/…/…}`, `${x:1:2}`, `${x^^}` of a known value by literal operands. Everything else stays unknown. */
import type { Span } from "../../core/facts.ts";
import type { Field } from "./field.ts";
import type { Piece } from "./parameter.ts";

type Kind = "Remove" | "CaseModification" | "Replace" | "Slice";

export function modify(
  given: Piece[],
  kind: Kind,
  operator: string,
  one: Field | null,
  two: Field | null,
  span: Span,
): Piece[] {
  const [piece] = given;
  const literal = (field: Field | null) =>
    !field || (field.value !== null && !field.glob && !/[*?[\\]/.test(field.value));
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
      if (operator.startsWith("#")) return text.startsWith(one ?? "") ? text.slice((one ?? "").length) : text;
      return one && text.endsWith(one) ? text.slice(0, -one.length) : text;
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

function lost(span: Span): Piece {
  return { text: null, shape: null, doubt: { span, why: "a changed variable" }, boundary: false, many: false };
}
