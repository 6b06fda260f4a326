/** Renders a verdict: the command with the relevant parts underlined, the reasons, and suggestions. */
import { styleText } from "node:util";
import type { Span } from "../../../core/facts.ts";
import type { Decision, Reason, Verdict } from "../../../core/policy.ts";
import { notEnforcedText } from "../../../sandbox/not-enforced.ts";
import { visible } from "../../../text/visible.ts";
import { displayWidth, wrap } from "../../../text/width.ts";

interface VerdictStyle {
  color: boolean;
  columns: number;
}

const HUE = { blocked: "red", deny: "red", ask: "yellow", allow: "green" } as const;
const WORD: Record<Decision, string> = {
  blocked: "blocked",
  deny: "denied",
  ask: "requires approval",
  allow: "allowed",
};
const INDENT = "  ";
const MOST_REASONS = 8;

/** Returns a verdict as text. The command is shown in full, because a cut could hide the part that matters. */
export function renderVerdict(verdict: Verdict, { color, columns }: VerdictStyle): string {
  const paint = (hue: "red" | "yellow" | "green" | "bold" | "dim", text: string) =>
    color ? styleText(hue, text, { validateStream: false }) : text;
  const room = Math.max(20, columns - INDENT.length);
  const shown = verdict.reasons.slice(0, MOST_REASONS);
  const marks = shown.flatMap(({ span }) => (span && span.end > span.start ? [span] : []));
  const lines = [paint(HUE[verdict.verdict], WORD[verdict.verdict]), ""];
  for (const row of rows(verdict.command, marks, room)) {
    lines.push(INDENT + row.text);
    if (row.marks.trim() !== "") lines.push(INDENT + paint(HUE[verdict.verdict], row.marks));
  }
  lines.push("");
  for (const reason of shown) lines.push(...reasonLines(reason, room, paint));
  const more = verdict.reasons.length - shown.length;
  if (more > 0) lines.push(`${INDENT}and ${more} more`);
  if (verdict.reasons.length === 0) lines.push(`${INDENT}No rule applies to this command.`);
  if (verdict.sandbox?.level === "partial" && !verdict.reasons.some(({ rule }) => rule === "partial-sandbox"))
    lines.push(...wrap(notEnforcedLine(verdict.sandbox.notEnforced), room).map((line) => INDENT + line));
  return `${lines.join("\n")}\n`;
}

function notEnforcedLine(features: readonly string[]): string {
  return `The sandbox is partly enforced on this machine. Not enforced: ${notEnforcedText(features)}.`;
}

function reasonLines(
  { rule, message, suggestion }: Reason,
  room: number,
  paint: (hue: "bold" | "dim", text: string) => string,
): string[] {
  const name = visible(rule);
  const [first = "", ...rest] = wrap(`${name}: ${visible(message)}`, room);
  const lines = [
    INDENT + paint("bold", first.slice(0, name.length)) + first.slice(name.length),
    ...rest.map((line) => INDENT + line),
  ];
  if (suggestion)
    lines.push(...wrap(`Instead: ${visible(suggestion)}`, room).map((line) => INDENT + paint("dim", line)));
  return lines;
}

interface Row {
  text: string;
  marks: string;
}

/** Splits the text into rows of at most `room` cells, each with a row of marks under the spans. */
function rows(text: string, spans: readonly Span[], room: number): Row[] {
  const found: Row[] = [];
  let row: Row = { text: "", marks: "" };
  let cells = 0;
  const end = () => {
    found.push(row);
    row = { text: "", marks: "" };
    cells = 0;
  };
  let at = 0;
  for (const character of text) {
    const marked = spans.some(({ start, end: last }) => at >= start && at < last);
    // A line feed starts a new row. Other invisible characters are escaped.
    const shown = character === "\n" ? "" : visible(character);
    const width = displayWidth(shown);
    if (cells + width > room) end();
    row.text += shown;
    row.marks += (marked && character !== " " ? "^" : marked ? "~" : " ").repeat(width);
    cells += width;
    at += character.length;
    if (character === "\n") end();
  }
  if (row.text !== "" || found.length === 0) end();
  return found.map(({ text: line, marks }) => ({ text: line, marks: marks.trimEnd().replaceAll("~", "^") }));
}
