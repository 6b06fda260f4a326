import type { InputState } from "../../executor/execution.ts";
import { anyShellEscape, readsCommands, shellEscape } from "./command-readers.ts";

/** What a shell that gets these keys would be given to run. */
interface CompletedLines {
  /** With the keys that edit the line obeyed and, where that makes a difference, as if they did nothing. */
  readings: string[];
  /** No key was among it that may put something else on the line: from the history, or by completion. */
  knowable: boolean;
}

/* biome-ignore-start lint/suspicious/noControlCharactersInRegex: they are what it is about */
/** Return, line feed, and C-o, which also runs the line. */
const LINE_END = /[\r\n\u000f]/;
const PASTE_MARK = /\x1b\[20[01]~/g;
const ESCAPE_KEY = /\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~]|[^[O])?/g;
const EDITING_KEY = /[\x00-\x08\x0b-\x1f\x7f]/;
/** C-c, C-d, C-z and C-\: they end or stop something, but put nothing on the line. */
const SIGNALS = /[\x03\x04\x1a\x1c]/g;
/* biome-ignore-end lint/suspicious/noControlCharactersInRegex: they are what it is about */

/** Whether any of these keys is one. */
export function endsLine(keys: Uint8Array): boolean {
  return keys.some((key) => key === 0x0d || key === 0x0a || key === 0x0f);
}

/** The index of the first key that ends a line; -1: none. */
export function firstLineEnd(keys: Uint8Array): number {
  return Buffer.from(keys).toString("latin1").search(LINE_END);
}

/**
 * The lines that are complete once `keys` have followed what was `typed` before; null when none is. Within a paste a tab
 * is a blank, otherwise it completes.
 */
function completedLines(typed: Uint8Array, keys: Uint8Array, pasted = false): CompletedLines | null {
  const text = Buffer.concat([typed, keys]).toString();
  const end = lastLineEnd(Buffer.from(keys).toString());
  if (end < 0) return null;
  const whole = text.slice(0, lastLineEnd(text)).replace(PASTE_MARK, "");
  const lines = whole.split(LINE_END);
  const edits = lines.some((line) => EDITING_KEY.test(line.replace(SIGNALS, ""))) || (!pasted && whole.includes("\t"));
  const plain = lines.map(withoutKeys).join("\n");
  const edited = lines.map(afterEditing).join("\n");
  return { readings: edited === plain ? [plain] : [edited, plain], knowable: !edits };
}

/** Nothing of it can end up on a line. */
function isSignalsOnly(keys: Uint8Array): boolean {
  return Buffer.from(keys).toString("latin1").replace(SIGNALS, "") === "";
}

function lastLineEnd(text: string): number {
  return Math.max(text.lastIndexOf("\r"), text.lastIndexOf("\n"), text.lastIndexOf("\u000f"));
}

function withoutKeys(line: string): string {
  return [...line.replace(ESCAPE_KEY, "")].filter((key) => key === "\t" || !EDITING_KEY.test(key)).join("");
}

/** Erasing keys as shells have them out of the box. */
function afterEditing(line: string): string {
  let kept: string[] = [];
  for (const key of line.replace(ESCAPE_KEY, "")) {
    if (key === "\u007f" || key === "\b") kept.pop();
    else if (key === "\u0015" || key === "\u0003") kept = [];
    else if (key === "\u0017") kept = [...kept.join("").replace(/\S*\s*$/, "")];
    else if (key === "\t" || !EDITING_KEY.test(key)) kept.push(key);
  }
  return kept.join("");
}

/** A text that somebody's keys would have a shell run. */
export interface TypedCommand {
  text: string;
  /** Where that shell is; null: unknown. */
  cwd: string | null;
  knowable: boolean;
}

/** Of a line whose first keys another program took, so many beginnings are tried. */
const MOST_TAILS = 512;

/**
 * What these keys would have a shell run, as far as that can be told from outside. Where the program in front waits for
 * input, it gets them; where it does not, whichever shell of this terminal reads next may get them.
 */
export function typedCommands(state: InputState, keys: Uint8Array, pasted = false): TypedCommand[] {
  const completed = completedLines(state.typed, keys, pasted);
  if (!completed) return [];
  const front = state.foreground ? [state.foreground] : [];
  const readers = state.reading ? front : [...front, ...state.processes];
  const shell = readers.find(readsCommands);
  // A password, for `read -s` in a shell: with a prompt of its own a shell takes key by key, or shows what is typed.
  const hidden = state.canonical && !state.echo;
  if (shell && !hidden) {
    const shared = state.typed.subarray(0, state.typedBefore);
    const knowable = completed.knowable && !state.typedOverlong && isSignalsOnly(shared);
    const later = anyShellEscape(completed.readings[0]?.split("\n").slice(1).join("\n") ?? "");
    const texts = [...completed.readings, ...possibleTails(state, keys, pasted), ...(later === null ? [] : [later])];
    return [...new Set(texts)].map((text) => ({ text, cwd: shell.cwd, knowable }));
  }
  // Keys that act are part of how a program is driven: its escapes are looked for in the keys as they are.
  const raw = Buffer.concat([state.typed, keys]).toString().replace(/\r/g, "\n");
  return front.flatMap((process) => {
    const text = shellEscape(process, raw);
    return text === null ? [] : [{ text, cwd: process.cwd, knowable: true }];
  });
}

/** What is left for the shell of a line whose first keys may have gone to another program. */
function possibleTails({ typed, typedBefore }: InputState, keys: Uint8Array, pasted: boolean): string[] {
  return Array.from({ length: Math.min(typedBefore, MOST_TAILS) }, (_, at) => at + 1).flatMap(
    (at) => completedLines(typed.subarray(at), keys, pasted)?.readings ?? [],
  );
}
