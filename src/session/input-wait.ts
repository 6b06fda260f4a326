/** Descriptions of programs that wait for input: what they wait for, and how to avoid that. */

import type { Recovery } from "../core/error.ts";
import type { InputWait } from "../executor/execution.ts";
import { lastLine } from "../text/model-output.ts";

/** A program that waits for input. */
export interface PromptedWait extends InputWait {
  /** The incomplete last line of the output. */
  prompt: string;
  /** Whether the program draws a screen, such as a menu. */
  paints: boolean;
}

type Kind = "editor" | "pager" | "screen" | "password" | "question" | "input";

/** Includes the names under which Debian installs the default editor and pager. */
const EDITORS =
  /^(?:(?:sensible-)?editor|r?(?:g|n)?vim?(?:diff)?|view|ex|nano|pico|emacs(?:client)?|joe|jed|jove|mg|ne|nvi|mcedit|micro|helix|hx|kak|ed)(?:[.-]|$)/;
const PAGERS = /^(?:(?:sensible-)?pager|less|more|most|pg|bat|batcat|delta|moar|ov|man)$/;
const PASSWORD = /pass(?:word|phrase|code)|\bPIN\b/i;
const QUESTION = /\[y(?:es)?\/n|\(y(?:es)?\/n|yes\/no|\?\s*$/i;

/** Matches the sequences that switch to and from the alternate screen, as a full-screen program does. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches escape sequences
const SCREEN = /\x1b\[\?(?:47|1047|1049)([hl])/g;

/** Node gives its main thread a name, which the kernel reports as that of the program. */
const MAIN_THREAD = /^(?:node-)?MainThread$/;

/**
 * Returns the wait with its prompt, or null when the program probably does not wait for this caller: one that also
 * waits for other events and shows no prompt, such as a server that watches its stdin. `tail` is the end of the output.
 */
export function promptedWait(wait: InputWait | null | undefined, tail: string): PromptedWait | null {
  if (!wait) return null;
  const paints = [...tail.matchAll(SCREEN)].at(-1)?.[1] === "h";
  const prompt = paints || /\n\s*$/.test(tail) ? "" : lastLine(tail);
  const found = { ...wait, prompt, paints, program: MAIN_THREAD.test(wait.program) ? "node" : wait.program };
  return wait.events && prompt === "" && !isFullScreen(found) ? null : found;
}

function kindOf({ program, hidden, prompt, paints }: PromptedWait): Kind {
  if (EDITORS.test(program)) return "editor";
  if (PAGERS.test(program)) return "pager";
  if (paints) return "screen";
  if (hidden || PASSWORD.test(prompt)) return "password";
  return QUESTION.test(prompt) ? "question" : "input";
}

/** Reports whether the program gives every key a meaning of its own and shows a screen instead of a prompt. */
export function isFullScreen(wait: PromptedWait): boolean {
  const kind = kindOf(wait);
  return kind === "editor" || kind === "pager" || kind === "screen";
}

const SUBJECT: Record<Kind, string> = {
  editor: "keys in an editor",
  pager: "keys in a pager",
  screen: "keys",
  password: "a password",
  question: "an answer",
  input: "input",
};

/** Returns what the program waits for, such as "`apt` is waiting for an answer: "Continue? [Y/n]"". */
export function waitText(wait: PromptedWait, verb: "is" | "was" = "is"): string {
  const program = wait.program === "" ? (verb === "was" ? "a program" : "A program") : `\`${wait.program}\``;
  const prompt = wait.prompt.trim() === "" || isFullScreen(wait) ? "" : `: ${JSON.stringify(wait.prompt.trim())}`;
  return `${program} ${verb} waiting for ${SUBJECT[kindOf(wait)]}${prompt}`;
}

const AVOID: Record<Kind, string> = {
  editor: "pass the text in the command, such as `git commit -m TEXT`, or write the file with a command",
  pager: "append `| cat` to the command or set `PAGER=cat`",
  screen: "use an option that makes it work without a screen, or another program",
  password: "use credentials that need no prompt, such as a key or a token that the user has set up",
  question: "use an option that answers it, such as `--yes`, or pipe the answer to the command",
  input: "pass the input in the command, such as `printf 'TEXT\\n' | COMMAND`",
};

/** Returns how to run the command so that it does not wait. */
export function avoidText(wait: PromptedWait): string {
  return AVOID[kindOf(wait)];
}

/** The action of hints on how to run a command so that it does not wait for input. */
export const AVOID_INPUT = "avoid_input";

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Returns the hint for a command that timed out while a program waited for input. */
export function timedOutHint(wait: PromptedWait): Recovery {
  const hint = `When the time was over, ${waitText(wait, "was")}. ${capitalized(avoidText(wait))}.`;
  return { action: AVOID_INPUT, hint };
}

interface Starved {
  type: "InputRequired";
  message: string;
  recovery: Recovery[];
}

/** Returns the error of a command that was ended because its input can never arrive. */
export function inputRequired(wait: InputWait): Starved {
  const shown = { ...wait, prompt: "", paints: false };
  return {
    type: "InputRequired",
    message: `${capitalized(waitText(shown, "was"))}, but the command has no terminal, so it was ended.`,
    recovery: [{ action: AVOID_INPUT, hint: `${capitalized(avoidText(shown))}.` }],
  };
}
