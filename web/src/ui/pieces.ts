import { visible } from "../../../src/text/visible.ts";

interface Piece {
  text: string;
  hidden: boolean;
}

// The characters `visible` writes out, but line feeds where the text keeps its lines.
const HIDDEN = /([\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+)/u;
const HIDDEN_IN_LINE = /((?:(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}])+)/u;

/** The text in pieces: as it is, and what nobody would see or what would turn the line round, written out (promise 2). */
export function piecesOf(text: string, keepLines = false): Piece[] {
  return text
    .split(keepLines ? HIDDEN_IN_LINE : HIDDEN)
    .map((part, index) => (index % 2 === 1 ? { text: visible(part), hidden: true } : { text: part, hidden: false }))
    .filter((piece) => piece.text !== "");
}
