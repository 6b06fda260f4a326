import { escapeAt } from "../../../../../src/text/terminal/escape.ts";
import { shownLine } from "../../../../../src/text/visible.ts";
import { displayWidth } from "../../../../../src/text/width.ts";
import { afterSgr, type Pen } from "./sgr.ts";

/** A part of a line with one style. */
export interface Run {
  text: string;
  pen: Pen;
  /** Whether `text` is the visible form of invisible or control characters. */
  hidden: boolean;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it searches for escape sequences
const BEGINNING = /[\u001b\u009b]/g;
const SGR = /^[0-9:;]*$/;
const HIDDEN = /([\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+)/u;
const TAB = 8;

export interface Rendering {
  runs: Run[];
  /** The style at the start of the next line. */
  pen: Pen;
}

/**
 * Renders a line of output. Colors are applied; other escape sequences are removed or, with `raw`, made visible. For a
 * line that was overwritten with carriage returns, shows the last state and the number of earlier ones.
 */
export function renderLine(line: string, pen: Pen, raw: boolean): Rendering {
  const runs: Run[] = [];
  let now = pen;
  let at = 0;
  const { text, rewritten } = raw ? { text: line, rewritten: 0 } : lastState(line);
  if (rewritten > 0) runs.push({ text: `⟲${rewritten} `, pen, hidden: true });
  for (const { start, end, sgr } of sequencesOf(text)) {
    pushText(runs, text.slice(at, start), now);
    at = end;
    if (sgr !== null) now = afterSgr(now, sgr);
    if (raw) runs.push({ text: shownLine(text.slice(start, end)), pen: now, hidden: true });
  }
  pushText(runs, text.slice(at), now);
  return { runs: withTabs(runs), pen: now };
}

/**
 * Yields complete escape sequences, with the parameters of SGR sequences. CSI (U+009B) is the only 8-bit introducer
 * that is recognized.
 */
function* sequencesOf(text: string): Generator<{ start: number; end: number; sgr: string | null }> {
  BEGINNING.lastIndex = 0;
  for (let match = BEGINNING.exec(text); match !== null; match = BEGINNING.exec(text)) {
    const start = match.index;
    const sequence = escapeAt(text, start);
    if (!sequence?.complete) continue;
    const { end, kind } = sequence;
    BEGINNING.lastIndex = end;
    const parameters = text.slice(start + (match[0] === "\u001b" ? 2 : 1), end - 1);
    const isSgr = kind === "csi" && text[end - 1] === "m" && SGR.test(parameters);
    yield { start, end, sgr: isSgr ? parameters : null };
  }
}

/** Returns the text after the last carriage return: progress bars overwrite one line many times. */
function lastState(line: string): { text: string; rewritten: number } {
  if (!line.includes("\r")) return { text: line, rewritten: 0 };
  const states = line.split("\r").filter((state) => state !== "");
  return { text: states.at(-1) ?? "", rewritten: Math.max(0, states.length - 1) };
}

function pushText(runs: Run[], text: string, pen: Pen): void {
  if (text === "") return;
  for (const [index, part] of text.split(HIDDEN).entries()) {
    if (part === "") continue;
    if (index % 2 === 0) runs.push({ text: part, pen, hidden: false });
    else for (const piece of part.split(/(\t+)/)) pushHidden(runs, piece, pen);
  }
}

function pushHidden(runs: Run[], piece: string, pen: Pen): void {
  if (piece !== "")
    runs.push({ text: piece.startsWith("\t") ? piece : shownLine(piece), pen, hidden: !piece.startsWith("\t") });
}

function withTabs(runs: Run[]): Run[] {
  let column = 0;
  for (const run of runs) {
    if (run.text.startsWith("\t") && !run.hidden) {
      const first = TAB - (column % TAB);
      run.text = " ".repeat(first + (run.text.length - 1) * TAB);
    }
    column += displayWidth(run.text);
  }
  return runs;
}

/** Returns the style at the end of a line. */
export function penAfter(line: string, pen: Pen): Pen {
  if (!line.includes("\u001b") && !line.includes("\u009b")) return pen;
  return renderLine(line, pen, false).pen;
}

/** Wraps runs into rows of at most `columns` cells. An empty line becomes one empty row. */
export function wrapRuns(runs: readonly Run[], columns: number): Run[][] {
  const rows: Run[][] = [[]];
  let used = 0;
  for (const run of runs) {
    for (let text = run.text; text !== ""; ) {
      const { kept, width } = prefix(text, columns - used);
      if (kept === "" && used > 0) {
        rows.push([]);
        used = 0;
        continue;
      }
      const taken = kept === "" ? ([...text][0] as string) : kept;
      rows.at(-1)?.push({ ...run, text: taken });
      used += width;
      text = text.slice(taken.length);
      if (used >= columns && text !== "") {
        rows.push([]);
        used = 0;
      }
    }
  }
  return rows;
}

function prefix(text: string, cells: number): { kept: string; width: number } {
  const whole = displayWidth(text);
  if (whole <= cells) return { kept: text, width: whole };
  if (whole === text.length) return { kept: text.slice(0, Math.max(0, cells)), width: Math.max(0, cells) };
  let kept = "";
  let width = 0;
  for (const character of text) {
    const more = displayWidth(character);
    if (width + more > cells) break;
    kept += character;
    width += more;
  }
  return { kept, width };
}
