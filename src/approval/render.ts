/** Renders an approval request for a terminal: the whole command first, then the details. */
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

const { styleText } = process.getBuiltinModule("node:util");

export interface TextStyle {
  color: boolean;
  columns: number;
}

/** Line prefixes. A wrapped line continues with a different one, so that a command cannot fake a line break. */
const LINE = "│ ";
const CONTINUED = "┆ ";

type Highlight = "plain" | "risky" | "mark";

/**
 * Renders text. `risky` spans are red, or underlined with `^` without color; escaped characters (`marks`) are shown in
 * reverse video.
 */
export function textRows({ text, marks }: ShownText, risky: readonly Span[], style: TextStyle): string[] {
  const looks = highlightsOf(text.length, marks, risky);
  const width = Math.max(20, style.columns - LINE.length);
  const rows: string[] = [];
  let at = 0;
  for (const line of text.split("\n")) {
    let gutter = LINE;
    for (const piece of pieces(line, width)) {
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

/**
 * Splits a line into pieces of at most `columns` cells and at least one character. An empty line is one empty piece.
 */
function* pieces(line: string, columns: number): Generator<string> {
  if (line === "") yield "";
  let piece = "";
  let cells = 0;
  for (const character of line) {
    const width = displayWidth(character);
    if (cells + width > columns && piece !== "") {
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
  /** The command, its stdin and its added environment variables: everything that can be code. Never truncated. */
  command: string[];
  /** The details. Never truncated. */
  rest: string[];
}

const LABEL = 13;

export function approvalLines(approval: Approval, style: TextStyle & { nowMs: number }): ApprovalLines {
  const { request } = approval;
  const risky = request.reasons.flatMap(({ span }) => (span ? [span] : []));
  const bold = (text: string) => (style.color ? styleText("bold", text, { validateStream: false }) : text);
  const fields: [string, string[]][] = [
    ["changed", request.changed.map((change) => `since it was last approved, ${change}`)],
    ["reason", request.reasons.map(({ rule, message }) => `${message} (${rule})`)],
    [
      "commands",
      [...commandTexts(approval), ...(request.analyzable ? [] : ["and commands that are not known in advance"])],
    ],
    ["directory", [request.cwd]],
    ["sandbox", [request.confinement]],
    ["files", coveredTexts(request.covers)],
    ["may change", unboundTexts(request.unbound)],
    ["always", [alwaysText(request.always)]],
    ["decisions", approval.decisions.map(decisionText)],
    [approval.status === "pending" ? "expires" : approval.status, [timeText(approval, style.nowMs)]],
    ["id", [approval.id]],
  ];
  return {
    command: [
      bold(`${request.agent} ${approval.status === "pending" ? "wants" : "wanted"} to run`),
      ...textRows(request.command, risky, style),
      ...(request.stdin ? ["with this text on stdin", ...textRows(request.stdin, [], style)] : []),
      ...(request.environment.length > 0
        ? ["with these environment variables", ...textRows(environmentText(request), [], style)]
        : []),
    ],
    rest: [
      ...(request.intent ? ["intent, as stated by the agent", ...textRows(request.intent, [], style)] : []),
      "",
      ...fields.flatMap(([label, values]) => fieldLines(label, values, style)),
    ],
  };
}

/**
 * Returns the added environment variables, one per line. They are rendered as text so that none can pass for a field.
 */
function environmentText({ environment }: ApprovalRequest): ShownText {
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
    const where = cwd === null ? "in an unknown directory" : cwd === request.cwd ? "" : `in ${cwd}`;
    const through = via.length > 0 ? `through ${via.join(", ")}` : "";
    const more = [program, where, through, ...notes].filter((part) => part !== "");
    return `${text}  (${more.join("; ")})`;
  });
}

/** More files than this are counted instead of listed. The console and the API list all of them. */
const MAX_LISTED_FILES = 40;

function coveredTexts(covers: readonly CoveredFile[]): string[] {
  const more = covers.length - MAX_LISTED_FILES;
  const listed = covers.slice(0, MAX_LISTED_FILES).map(coveredText);
  return more > 0 ? [...listed, `and ${more} more, listed by --json and in the console`] : listed;
}

function unboundTexts(unbound: readonly string[]): string[] {
  return unbound.length === 0 ? [] : ["It reads files that may change before it runs:", ...unbound];
}

function coveredText({ path, role, sha256 }: CoveredFile): string {
  const what = role === "program" ? "" : `, ${role}`;
  return `${path}${what}${sha256 === null ? ", checked by inode, size and timestamps" : ""}`;
}

export function alwaysText(always: Grantable): string {
  if (!always.ok) return `not available: ${always.why}`;
  return `would allow ${always.commands.map(grantTargetText).join("; and ")}`;
}

function grantTargetText({ executable, args, cwd, piped }: GrantTarget): string {
  return `${shownLine(quoteArgv([executable, ...args]))} in ${shownLine(cwd)}${piped ? ", including in a pipeline" : ""}`;
}

const DECIDED = { once: "approved once", always: "approved with a grant", deny: "denied" };

function decisionText({ decision, who, channel, reason, at }: RecordedDecision): string {
  const said = shownLine(`${DECIDED[decision]} by ${who} (${channel}) at ${at}`);
  return reason ? `${said}: ${shownLine(reason)}` : said;
}

function timeText({ status, expiresAt, session }: Approval, nowMs: number): string {
  const left = Date.parse(expiresAt) - nowMs;
  if (status === "pending") return `in ${formatDuration(Math.max(0, left))}, then it is denied`;
  if (status === "approved") return `not used yet; valid for ${formatDuration(Math.max(0, left))}`;
  if (status === "used") return `by session ${session}`;
  return status === "expired" ? `at ${expiresAt}` : "the command did not run";
}
