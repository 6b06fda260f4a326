/** A shown text on a terminal: every character of it, with what matters picked out. */
import { styleText } from "node:util";
import type { ShownText } from "../core/approval.ts";
import type { Span } from "../core/facts.ts";
import { displayWidth } from "../text/width.ts";

export interface TextStyle {
  color: boolean;
  columns: number;
}

/** A line of the text starts with one, a line that merely did not fit goes on with the other: no break can be faked. */
const LINE = "│ ";
const CONTINUED = "┆ ";

type Look = "plain" | "risky" | "mark";

/** `risky` spans are red (or underlined with `^` where there is no colour); what was written out is inverse. */
export function textRows({ text, marks }: ShownText, risky: readonly Span[], style: TextStyle): string[] {
  const looks = looksOf(text.length, marks, risky);
  const room = Math.max(20, style.columns - LINE.length);
  const rows: string[] = [];
  let at = 0;
  for (const line of text.split("\n")) {
    let gutter = LINE;
    for (const piece of pieces(line, room)) {
      rows.push(gutter + paint(piece, looks.subarray(at, at + piece.length), style.color));
      const under = style.color ? "" : underline(piece, looks.subarray(at, at + piece.length));
      if (under !== "") rows.push(" ".repeat(LINE.length) + under);
      at += piece.length;
      gutter = CONTINUED;
    }
    at += 1; // the line break
  }
  return rows;
}

const LOOKS: Look[] = ["plain", "risky", "mark"];

function looksOf(length: number, marks: readonly Span[], risky: readonly Span[]): Uint8Array {
  const looks = new Uint8Array(length);
  for (const { start, end } of risky) looks.fill(LOOKS.indexOf("risky"), start, end);
  for (const { start, end } of marks) looks.fill(LOOKS.indexOf("mark"), start, end);
  return looks;
}

/** As wide as fits; at least one character each, and an empty line is one empty piece. */
function* pieces(line: string, room: number): Generator<string> {
  if (line === "") yield "";
  let piece = "";
  let cells = 0;
  for (const character of line) {
    const width = displayWidth(character);
    if (cells + width > room && piece !== "") {
      yield piece;
      piece = "";
      cells = 0;
    }
    piece += character;
    cells += width;
  }
  if (piece !== "") yield piece;
}

function paint(piece: string, looks: Uint8Array, color: boolean): string {
  if (!color) return piece;
  let out = "";
  for (let at = 0; at < piece.length; ) {
    let end = at + 1;
    while (end < piece.length && looks[end] === looks[at]) end++;
    const part = piece.slice(at, end);
    const look = LOOKS[looks[at] ?? 0];
    const formats = look === "risky" ? (["bold", "red"] as const) : look === "mark" ? (["inverse"] as const) : null;
    out += formats ? styleText([...formats], part, { validateStream: false }) : part;
    at = end;
  }
  return out;
}

function underline(piece: string, looks: Uint8Array): string {
  let under = "";
  let at = 0;
  for (const character of piece) {
    under += (looks[at] === LOOKS.indexOf("risky") ? "^" : " ").repeat(displayWidth(character));
    at += character.length;
  }
  return under.trimEnd();
}
