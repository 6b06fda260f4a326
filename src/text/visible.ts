import type { ShownText } from "../core/approval.ts";
import type { Span } from "../core/facts.ts";
import { lookAlikes } from "./look-alikes.ts";

const ESCAPES: Record<string, string> = { "\n": "\\n", "\t": "\\t", "\r": "\\r", "\u001b": "\\e" };

// Control characters can move the cursor or change colors, and format characters (bidirectional overrides, zero-width
// characters, tags) can make a command look like another one.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Returns the text on one line, with invisible characters and those that affect a terminal escaped. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const code = character.codePointAt(0) as number;
    return ESCAPES[character] ?? (code < 256 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 4)}}`);
  });
}

/** Like `visible`, but keeps line breaks. */
export function visibleLines(text: string): string {
  return text.split("\n").map(visible).join("\n");
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}

const NAMED: Record<string, string> = {
  "\t": "tab",
  "\r": "return",
  "\u001b": "escape",
  "\0": "NUL",
  "\u00a0": "no-break space",
};

// Characters that a terminal or browser interprets, hides or shows as a blank.
const UNSEEN = String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]`;
// Runs of blanks or empty lines long enough to push the rest of a command out of view.
const PADDING = String.raw` {41,}|(?:[ \t]*\n){4,}`;
const STRANGE = new RegExp(`${PADDING}|(?!\\n)${UNSEEN}|\\p{M}{3,}`, "gu");

/** Returns the text made safe to display. `locate` maps a span of the original to the displayed text. */
export function shownText(text: string): ShownText & { locate(span: Span): Span } {
  let out = "";
  let at = 0;
  const marks: Span[] = [];
  const moved: { from: Span; to: Span }[] = [];
  for (const run of runs(text)) {
    out += text.slice(at, run.start);
    const to = { start: out.length, end: out.length + run.written.length };
    marks.push(to);
    moved.push({ from: run, to });
    out += run.written;
    at = run.end;
  }
  out += text.slice(at);
  return {
    text: out,
    marks,
    locate: (span) => ({ start: move(moved, span.start, "start"), end: move(moved, span.end, "end") }),
  };
}

/** Like `shownText`, on one line, for a table or a sentence. */
export function shownLine(text: string): string {
  return shownText(text).text.replaceAll("\n", "‹line break›");
}

interface Run extends Span {
  written: string;
}

/** Yields the characters to replace. Equal adjacent characters are one run: a thousand tabs are `‹1000 × tab›`. */
function* runs(text: string): Generator<Run> {
  let last: (Span & { what: string; count: number }) | null = null;
  for (const { found, index } of strange(text)) {
    const what = nameOf(found);
    if (last && last.end === index && last.what === what && found.length <= 2) {
      last.end = index + found.length;
      last.count++;
      continue;
    }
    if (last) yield runText(last);
    last = { start: index, end: index + found.length, what, count: 1 };
  }
  if (last) yield runText(last);
}

/** Returns the characters and runs to replace, in order and without overlaps. */
function strange(text: string): { found: string; index: number }[] {
  const all = [...text.matchAll(STRANGE)].map(({ 0: found, index }) => ({ found, index }));
  const similar = lookAlikes(text);
  if (similar.length === 0) return all;
  all.push(...similar.map(({ index, length }) => ({ found: text.slice(index, index + length), index })));
  all.sort((one, other) => one.index - other.index || other.found.length - one.found.length);
  let end = 0;
  return all.filter(({ found, index }) => {
    if (index < end) return false;
    end = index + found.length;
    return true;
  });
}

function runText({ start, end, what, count }: Span & { what: string; count: number }): Run {
  return { start, end, written: count === 1 ? `‹${what}›` : `‹${count} × ${what}›` };
}

function nameOf(found: string): string {
  const breaks = found.split("\n").length - 1;
  if (breaks > 0) return `${breaks} line breaks`;
  if (found.startsWith(" ")) return `${found.length} spaces`;
  if (/^\p{M}{2}/u.test(found)) return `${[...found].length} combining marks`;
  const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return NAMED[found] ?? `U+${code}`;
}

/** Maps an offset of the original. An offset inside a run is mapped to the start or end of that run, as `side` says. */
function move(moved: readonly { from: Span; to: Span }[], offset: number, side: "start" | "end"): number {
  let shift = 0;
  for (const { from, to } of moved) {
    if (offset <= from.start) break;
    if (offset < from.end) return to[side];
    shift = to.end - from.end;
  }
  return offset + shift;
}
