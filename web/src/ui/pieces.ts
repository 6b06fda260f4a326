import { shownLine } from "../../../src/text/visible.ts";

interface Piece {
  text: string;
  hidden: boolean;
}

// Control, format and separator characters. HIDDEN_IN_LINE excludes line feeds and tabs, for text that keeps its lines.
const HIDDEN = /([\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+)/u;
const HIDDEN_IN_LINE = /((?:(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}])+)/u;

/**
 * Splits text into visible pieces and runs of invisible characters. The latter are shown as codes (`‹U+202E›`), as in
 * approval requests, because they could make the text look like a different one (invariant 2).
 */
export function piecesOf(text: string, keepLines = false): Piece[] {
  return text
    .split(keepLines ? HIDDEN_IN_LINE : HIDDEN)
    .map((part, index) => (index % 2 === 1 ? { text: shownLine(part), hidden: true } : { text: part, hidden: false }))
    .filter((piece) => piece.text !== "");
}
