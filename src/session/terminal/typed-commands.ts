import type { InputState } from "../../executor/executor.ts";
import { escapedByAny, escapedCommand, readsCommands } from "./command-readers.ts";
import { completedText } from "./typed-text.ts";

/** A text that somebody's keys would have a shell run. */
export interface TypedCommand {
  text: string;
  /** Where that shell is; null: unknown. */
  cwd: string | null;
  knowable: boolean;
}

/** Of a line whose first keys another program took, so many beginnings are tried. */
const MOST_BEGINNINGS = 512;

/**
 * What these keys would have a shell run, as far as that can be told from outside. Where the program in front waits for
 * input, it gets them; where it does not, whichever shell of this terminal reads next may get them.
 */
export function typedCommands(state: InputState, keys: Uint8Array, pasted = false): TypedCommand[] {
  const completed = completedText(state.typed, keys, pasted);
  if (!completed) return [];
  const front = state.foreground ? [state.foreground] : [];
  const readers = state.reading ? front : [...front, ...state.processes];
  const shell = readers.find(readsCommands);
  // A password, for `read -s` in a shell: with a prompt of its own a shell takes key by key, or shows what is typed.
  const hidden = state.canonical && !state.echo;
  if (shell && !hidden) {
    const knowable = completed.knowable && !state.typedOverlong && !state.typedMixed;
    return readings(completed.readings, state).map((text) => ({ text, cwd: shell.cwd, knowable }));
  }
  // Keys that act are part of how a program is driven: its escapes are looked for in the keys as they are.
  const raw = Buffer.concat([state.typed, keys]).toString().replace(/\r/g, "\n");
  return front.flatMap((process) => {
    const text = escapedCommand(process, raw);
    return text === null ? [] : [{ text, cwd: process.cwd, knowable: true }];
  });
}

/** Everything a shell may make of the keys: also with the first of them gone to another program, or the last ones. */
function readings(texts: string[], { typedMixed }: InputState): string[] {
  const [first = ""] = texts;
  const later = escapedByAny(first.split("\n").slice(1).join("\n"));
  const beginnings = typedMixed ? suffixes(first) : [];
  return [...texts, ...beginnings, ...(later === null ? [] : [later])];
}

function suffixes(text: string): string[] {
  return Array.from({ length: Math.min(text.length, MOST_BEGINNINGS) }, (_, at) => text.slice(at + 1)).filter(Boolean);
}
