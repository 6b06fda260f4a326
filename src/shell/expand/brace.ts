/**
 * Brace expansion of the raw text of a word, as in bash: `{rm,-rf,/}` becomes three words before any other expansion.
 */
import { limits } from "../limits.ts";

const SEQUENCE = /^(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?$/;

/** Returns the raw words that a raw word expands to. Null when there are too many or a quote is not closed. */
export function expandBraces(raw: string): string[] | null {
  let done: string[] = [];
  let pending = [raw];
  for (let round = 0; pending.length > 0; round++) {
    if (round > limits.braceWords || pending.length + done.length > limits.braceWords) return null;
    const next: string[] = [];
    for (const text of pending) {
      const group = firstGroup(text);
      if (group === "open") return null;
      if (!group) done = [...done, text];
      else for (const middle of group.items) next.push(text.slice(0, group.start) + middle + text.slice(group.end));
      if (next.length + done.length > limits.braceWords) return null;
    }
    pending = next;
  }
  return done;
}

interface Group {
  start: number;
  end: number;
  items: string[];
}

/** Returns the first `{…}` that is an expansion, skipping quotes, escapes and substitutions. */
function firstGroup(text: string): Group | "open" | null {
  for (let i = 0; i < text.length; i++) {
    const next = stepOver(text, i);
    if (next < 0) return "open";
    if (next > i + 1 || text[i] !== "{" || text[i - 1] === "$") {
      i = next - 1;
      continue;
    }
    const group = readGroup(text, i);
    if (group === "open") return "open";
    if (group) return group;
  }
  return null;
}

function readGroup(text: string, start: number): Group | "open" | null {
  const commas: number[] = [];
  let depth = 0;
  for (let i = start; i < text.length; ) {
    const next = stepOver(text, i);
    if (next < 0) return "open";
    const char = next === i + 1 ? text[i] : "";
    if (char === "{") depth++;
    else if (char === "," && depth === 1) commas.push(i);
    else if (char === "}" && --depth === 0) {
      const items = commas.length > 0 ? split(text, start, i, commas) : sequence(text.slice(start + 1, i));
      return items ? { start, end: i + 1, items } : null;
    }
    i = next;
  }
  return null;
}

function split(text: string, start: number, end: number, commas: number[]): string[] {
  const edges = [start, ...commas, end];
  return edges.slice(1).map((edge, index) => text.slice((edges[index] ?? start) + 1, edge));
}

function sequence(body: string): string[] | null {
  const match = SEQUENCE.exec(body);
  if (!match?.[1] || !match[2]) return null;
  const numeric = /\d/.test(match[1]);
  if (numeric !== /\d/.test(match[2])) return null;
  const from = numeric ? Number(match[1]) : match[1].charCodeAt(0);
  const to = numeric ? Number(match[2]) : match[2].charCodeAt(0);
  const step = Math.abs(Number(match[3] ?? 1)) || 1;
  if (Math.abs(to - from) / step >= limits.braceWords) return Array<string>(limits.braceWords + 1).fill("");
  const width = numeric && /^-?0\d|^-?0\d/.test(`${match[1]}`) ? Math.max(match[1].length, match[2].length) : 0;
  const items: string[] = [];
  for (let at = from; from <= to ? at <= to : at >= to; at += from <= to ? step : -step) {
    items.push(numeric ? String(at).padStart(width, "0") : String.fromCharCode(at));
  }
  return items;
}

/**
 * Returns the index after the quoted, escaped or substituted part at `i`, `i + 1` for an ordinary character, or -1 when
 * the part is not closed.
 */
function stepOver(text: string, i: number): number {
  const char = text[i];
  if (char === "\\") return Math.min(i + 2, text.length);
  if (char === "'") return closeAt(text.indexOf("'", i + 1));
  if (char === "`") return closeAt(closing(text, i + 1, "`"));
  if (char === '"') return closeAt(closing(text, i + 1, '"'));
  if (char === "$" && text[i + 1] === "'") return closeAt(closing(text, i + 2, "'"));
  if (char === "$" && (text[i + 1] === "(" || text[i + 1] === "{")) return closeAt(balanced(text, i + 1));
  return i + 1;
}

function closeAt(index: number): number {
  return index < 0 ? -1 : index + 1;
}

function closing(text: string, from: number, quote: string): number {
  for (let i = from; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === quote) return i;
  }
  return -1;
}

/** Returns the index of the bracket that closes the one at `from`, or -1. */
export function balanced(text: string, from: number): number {
  const open = text[from];
  const close = open === "(" ? ")" : "}";
  let depth = 0;
  for (let i = from; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === "'") {
      const end = text.indexOf("'", i + 1);
      if (end < 0) return -1;
      i = end;
    } else if (text[i] === open) depth++;
    else if (text[i] === close && --depth === 0) return i;
  }
  return -1;
}
