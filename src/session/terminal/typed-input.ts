import { basename } from "node:path";
import type { InputState, TerminalProcess } from "../../executor/execution.ts";
import { type InputUse, inputUse } from "../../shell/inspect-input.ts";
import type { InspectContext } from "../../shell/lookup.ts";

/** The complete lines that a shell would run after these keys. */
interface CompletedLines {
  /** The lines with editing keys applied and, if different, with editing keys ignored. */
  readings: string[];
  /** False when a key may have put other text on the line, from the history or by completion. */
  knowable: boolean;
}

/* biome-ignore-start lint/suspicious/noControlCharactersInRegex: matches control keys */
/** Matches Return, line feed, and C-o, which also runs the line. */
const LINE_END = /[\r\n\u000f]/;
const PASTE_MARK = /\x1b\[20[01]~/g;
const ESCAPE_KEY = /\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~]|[^[O])?/g;
const EDITING_KEY = /[\x00-\x08\x0b-\x1f\x7f]/;
/** Matches C-c, C-d, C-z and C-\, which do not put text on the line. */
const SIGNALS = /[\x03\x04\x1a\x1c]/g;
/* biome-ignore-end lint/suspicious/noControlCharactersInRegex: matches control keys */

/** Reports whether any of these keys ends a line. */
export function endsLine(keys: Uint8Array): boolean {
  return keys.some((key) => key === 0x0d || key === 0x0a || key === 0x0f);
}

/** Returns the index of the first key that ends a line, or -1. */
export function firstLineEnd(keys: Uint8Array): number {
  return Buffer.from(keys).toString("latin1").search(LINE_END);
}

/**
 * Returns the lines that `keys` complete, given the keys `typed` before them; null when there are none. A tab in a
 * paste is whitespace; a typed tab triggers completion.
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

/** Reports whether none of the keys can put text on a line. */
function isSignalsOnly(keys: Uint8Array): boolean {
  return Buffer.from(keys).toString("latin1").replace(SIGNALS, "") === "";
}

function lastLineEnd(text: string): number {
  return Math.max(text.lastIndexOf("\r"), text.lastIndexOf("\n"), text.lastIndexOf("\u000f"));
}

function withoutKeys(line: string): string {
  return [...line.replace(ESCAPE_KEY, "")].filter((key) => key === "\t" || !EDITING_KEY.test(key)).join("");
}

/** Applies the erasing keys with the default bindings of shells. */
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

/** A text that a program may read as code. */
export interface InputText {
  text: string;
  /** The arguments of the program on the terminal that reads it. Null for the command of the session. */
  reader: readonly string[] | null;
  /** The program's working directory; null when unknown. */
  cwd: string | null;
  /** False when the text that the program reads cannot be derived from the input. */
  knowable: boolean;
  /** Set when the terminal does not show the text, which is probably a password. It is not recorded. */
  hidden?: true;
}

/** The maximum number of suffixes that are checked if another program may have read the first keys of a line. */
const MOST_TAILS = 512;

/** Nothing but the arguments is known about a process on the terminal. */
const UNKNOWN_PLACE: InspectContext = {
  cwd: "/",
  home: "/",
  workspace: "/",
  lookup: { which: () => null, realpath: () => null },
};

interface Reader extends InputUse {
  argv: string[];
}

/** Returns how a process reads its terminal as code. Null when it reads data. */
function readerOf({ program, argv }: TerminalProcess): Reader | null {
  const [called = "", ...args] = argv;
  // Reduces names such as `-bash`, `vim.basic` and `tmux: client` to the usual name.
  const name = basename(called).replace(/^-/, "");
  const names = [name, name.replace(/[.:\s].*$/, ""), ...(program ? [basename(program)] : [])];
  const found = [...new Set([...names, ...names.map((each) => each.replace(/\..*$/, ""))])].flatMap((each) => {
    const use = inputUse({ command: each, args }, UNKNOWN_PLACE);
    return use.language ? [{ ...use, argv: [each, ...args] }] : [];
  });
  return found.find(({ language }) => language === "shell") ?? found[0] ?? null;
}

/** Reports whether a process reads commands from its terminal: an interactive shell, a multiplexer, or `ssh`. */
export function isShell(process: TerminalProcess): boolean {
  return readerOf(process)?.language === "shell";
}

/**
 * Returns the texts that programs would read as code after these keys, as far as that can be observed. The foreground
 * program gets the keys if it is reading; otherwise any shell on this terminal may read them next.
 */
export function typedTexts(state: InputState, keys: Uint8Array, pasted = false): InputText[] {
  const completed = completedLines(state.typed, keys, pasted);
  if (!completed) return [];
  const front = state.foreground ? [state.foreground] : [];
  const processes = state.reading ? front : [...front, ...state.processes];
  const readers = processes.map((process) => ({ reader: readerOf(process), cwd: process.cwd }));
  const shell = readers.find(({ reader }) => reader?.language === "shell");
  const plain = completed.knowable && !state.typedOverlong;
  // Canonical mode without echo is a password prompt, such as `read -s`: a shell's prompt reads key by key, or echoes.
  const hidden = state.canonical && !state.echo ? { hidden: true as const } : {};
  if (shell?.reader) {
    const shared = state.typed.subarray(0, state.typedBefore);
    const knowable = plain && isSignalsOnly(shared);
    const texts = [...completed.readings, ...possibleTails(state, keys, pasted)];
    const { cwd } = shell;
    const { argv } = shell.reader;
    return [...new Set(texts)].map((text) => ({ text, reader: argv, cwd, knowable, ...hidden }));
  }
  const raw = Buffer.concat([state.typed, keys]).toString().replace(PASTE_MARK, "").replace(/\r/g, "\n");
  return readers.slice(0, front.length).flatMap(({ reader, cwd }) => {
    if (!reader) return [];
    // A program that draws a screen gives every key a meaning of its own, so the unmodified keys are searched.
    const texts = reader.unbuffered ? [raw] : [...new Set([...completed.readings, raw])];
    const knowable = reader.unbuffered || plain;
    return texts.map((text) => ({ text, reader: reader.argv, cwd, knowable, ...hidden }));
  });
}

/** Returns the texts that a shell may read if another program has read the first keys of the line. */
function possibleTails({ typed, typedBefore }: InputState, keys: Uint8Array, pasted: boolean): string[] {
  return Array.from({ length: Math.min(typedBefore, MOST_TAILS) }, (_, at) => at + 1).flatMap(
    (at) => completedLines(typed.subarray(at), keys, pasted)?.readings ?? [],
  );
}
