/** One request for a person: the whole command first, then what they need to know about it. */
import { styleText } from "node:util";
import type {
  Approval,
  ApprovalRequest,
  CoveredFile,
  Grantable,
  GrantTarget,
  RecordedDecision,
  ShownText,
} from "../core/approval.ts";
import type { Span } from "../core/facts.ts";
import { quoteArgv } from "../shell/quote.ts";
import { formatDuration } from "../text/format.ts";
import { shownLine } from "../text/visible.ts";
import { displayWidth, wrap } from "../text/width.ts";

export interface TextStyle {
  color: boolean;
  columns: number;
}

/** A line of the text starts with one, a line that merely did not fit goes on with the other: no break can be faked. */
const LINE = "│ ";
const CONTINUED = "┆ ";

type Highlight = "plain" | "risky" | "mark";

/** `risky` spans are red (or underlined with `^` where there is no colour); what was written out is inverse. */
function textRows({ text, marks }: ShownText, risky: readonly Span[], style: TextStyle): string[] {
  const looks = highlightsOf(text.length, marks, risky);
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

const HIGHLIGHTS: Highlight[] = ["plain", "risky", "mark"];

function highlightsOf(length: number, marks: readonly Span[], risky: readonly Span[]): Uint8Array {
  const looks = new Uint8Array(length);
  for (const { start, end } of risky) looks.fill(HIGHLIGHTS.indexOf("risky"), start, end);
  for (const { start, end } of marks) looks.fill(HIGHLIGHTS.indexOf("mark"), start, end);
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
    const look = HIGHLIGHTS[looks[at] ?? 0];
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
    under += (looks[at] === HIGHLIGHTS.indexOf("risky") ? "^" : " ").repeat(displayWidth(character));
    at += character.length;
  }
  return under.trimEnd();
}

export interface ApprovalLines {
  /** The command, what it is given to read and what is added to its environment: all that can be code. Never cut. */
  command: string[];
  /** Everything else, never cut either. */
  rest: string[];
}

const LABEL = 13;

export function approvalLines(approval: Approval, style: TextStyle & { nowMs: number }): ApprovalLines {
  const { request } = approval;
  const risky = request.reasons.flatMap(({ span }) => (span ? [span] : []));
  const bold = (text: string) => (style.color ? styleText("bold", text, { validateStream: false }) : text);
  const fields: [string, string[]][] = [
    ["asked again", request.changed.map((what) => `it was approved, but since then ${what}`)],
    ["why", request.reasons.map(({ rule, message }) => `${message} (${rule})`)],
    [
      "would run",
      [...commandTexts(approval), ...(request.analyzable ? [] : ["and what cannot be known before it runs"])],
    ],
    ["in", [request.cwd]],
    ["under", [request.confinement]],
    ["bound to", request.covers.map(coveredText)],
    ["always", [alwaysText(request.always)]],
    ["decided", approval.decisions.map(decisionText)],
    [approval.status === "pending" ? "expires" : approval.status, [timeText(approval, style.nowMs)]],
    ["id", [approval.id]],
  ];
  return {
    command: [
      bold(`${request.agent} ${approval.status === "pending" ? "wants" : "wanted"} to run`),
      ...textRows(request.command, risky, style),
      ...(request.stdin ? ["with this input", ...textRows(request.stdin, [], style)] : []),
      ...(request.environment.length > 0 ? ["with these variables", ...textRows(added(request), [], style)] : []),
    ],
    rest: [
      ...(request.intent ? ["because, in its own words", ...textRows(request.intent, [], style)] : []),
      "",
      ...fields.flatMap(([label, values]) => fieldLines(label, values, style)),
    ],
  };
}

/** A variable a line, as a text of its own: none can pass for a field. */
function added({ environment }: ApprovalRequest): ShownText {
  return { text: environment.map(({ name, value }) => `${name}=${value}`).join("\n"), marks: [] };
}

export function approvalText(approval: Approval, style: TextStyle & { nowMs: number }): string {
  const { command, rest } = approvalLines(approval, style);
  return [...command, ...rest].map((line) => `${line}\n`).join("");
}

function fieldLines(label: string, values: readonly string[], { color, columns }: TextStyle): string[] {
  const lines = values.flatMap((value) => wrap(value, Math.max(20, columns - LABEL)));
  return lines.map((line, index) => {
    const name = (index === 0 ? label : "").padEnd(LABEL);
    return (color && index === 0 ? styleText("dim", name, { validateStream: false }) : name) + line;
  });
}

function commandTexts({ request }: Approval): string[] {
  return request.commands.map(({ text, program, cwd, via, notes }) => {
    const where = cwd === null ? "in a folder that cannot be known" : cwd === request.cwd ? "" : `in ${cwd}`;
    const through = via.length > 0 ? `through ${via.join(", ")}` : "";
    const more = [program, where, through, ...notes].filter((part) => part !== "");
    return `${text}  (${more.join("; ")})`;
  });
}

function coveredText({ path, role, sha256 }: CoveredFile): string {
  const what = role === "program" ? "" : `, ${role}`;
  return `${path}${what}${sha256 === null ? ", by its place and times: too large to read" : ""}`;
}

export function alwaysText(always: Grantable): string {
  if (!always.ok) return `cannot be offered: ${always.why}`;
  return `would allow ${always.commands.map(grantTargetText).join("; and ")}`;
}

function grantTargetText({ executable, args, cwd, piped }: GrantTarget): string {
  return `${shownLine(quoteArgv([executable, ...args]))} in ${shownLine(cwd)}${piped ? ", also in a pipe" : ""}`;
}

function decisionText({ decision, who, channel, reason, at }: RecordedDecision): string {
  const said = shownLine(`${decision} by ${who} (${channel}) at ${at}`);
  return reason ? `${said}: ${shownLine(reason)}` : said;
}

function timeText({ status, expiresAt, session }: Approval, nowMs: number): string {
  const left = Date.parse(expiresAt) - nowMs;
  if (status === "pending") return `in ${formatDuration(Math.max(0, left))}, then it is denied`;
  if (status === "approved") return `and not yet used; can be for ${formatDuration(Math.max(0, left))}`;
  if (status === "used") return `for session ${session}`;
  return status === "expired" ? `at ${expiresAt}` : "it did not run";
}
