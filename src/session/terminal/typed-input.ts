import type { InputState } from "../../executor/executor.ts";
import { escapedByAny, escapedCommand, readsCommands } from "./command-readers.ts";
import { completedText, isSignalsOnly } from "./typed-text.ts";

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
    const shared = state.typed.subarray(0, state.typedBefore);
    const knowable = completed.knowable && !state.typedOverlong && isSignalsOnly(shared);
    const later = escapedByAny(completed.readings[0]?.split("\n").slice(1).join("\n") ?? "");
    const texts = [...completed.readings, ...beginnings(state, keys, pasted), ...(later === null ? [] : [later])];
    return [...new Set(texts)].map((text) => ({ text, cwd: shell.cwd, knowable }));
  }
  // Keys that act are part of how a program is driven: its escapes are looked for in the keys as they are.
  const raw = Buffer.concat([state.typed, keys]).toString().replace(/\r/g, "\n");
  return front.flatMap((process) => {
    const text = escapedCommand(process, raw);
    return text === null ? [] : [{ text, cwd: process.cwd, knowable: true }];
  });
}

/** What is left for the shell of a line whose first keys may have gone to another program. */
function beginnings({ typed, typedBefore }: InputState, keys: Uint8Array, pasted: boolean): string[] {
  return Array.from({ length: Math.min(typedBefore, MOST_BEGINNINGS) }, (_, at) => at + 1).flatMap(
    (at) => completedText(typed.subarray(at), keys, pasted)?.readings ?? [],
  );
}
