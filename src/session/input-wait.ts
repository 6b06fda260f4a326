/** Descriptions of programs that wait for input: what they wait for, and how to avoid that. */

import type { Recovery } from "../core/error.ts";
import type { InputWait } from "../executor/execution.ts";
import { lastLine } from "../text/model-output.ts";

/** A program that waits for input, and its prompt: the incomplete last line of the output. */
export interface PromptedWait extends InputWait {
  prompt: string;
}

type Kind = "editor" | "pager" | "password" | "question" | "input";

const EDITORS = /^(?:r?(?:g|n)?vim?(?:diff)?|view|ex|nano|pico|emacs|joe|mcedit|micro|hx|kak|ed)(?:[.-]|$)/;
const PAGERS = /^(?:less|more|most|pg|bat|man)$/;
const PASSWORD = /pass(?:word|phrase|code)|\bPIN\b/i;
const QUESTION = /\[y(?:es)?\/n|\(y(?:es)?\/n|yes\/no|\?\s*$/i;

/** Matches the start of a sequence that switches to the alternate screen, as a full-screen program does. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches escape sequences
const SCREEN = /\x1b\[\?(?:47|1047|1049)h/;

/**
 * Returns the wait with its prompt, or null when the program probably does not wait for this caller: one that also
 * waits for other events and shows no prompt, such as a server that watches its stdin. `tail` is the end of the output.
 */
export function promptedWait(wait: InputWait | null | undefined, tail: string): PromptedWait | null {
  if (!wait) return null;
  const prompt = SCREEN.test(tail) || /\n\s*$/.test(tail) ? "" : lastLine(tail);
  const found = { ...wait, prompt };
  return wait.events && prompt === "" && !isFullScreen(found) ? null : found;
}

function kindOf({ program, hidden, prompt }: PromptedWait): Kind {
  if (EDITORS.test(program)) return "editor";
  if (PAGERS.test(program)) return "pager";
  if (hidden || PASSWORD.test(prompt)) return "password";
  return QUESTION.test(prompt) ? "question" : "input";
}

/** Reports whether the program gives every key a meaning of its own and shows a screen instead of a prompt. */
export function isFullScreen(wait: PromptedWait): boolean {
  const kind = kindOf(wait);
  return kind === "editor" || kind === "pager";
}

const SUBJECT: Record<Kind, string> = {
  editor: "keys in an editor",
  pager: "keys in a pager",
  password: "a password",
  question: "an answer",
  input: "input",
};

/** Returns what the program waits for, such as "`apt` is waiting for an answer: "Continue? [Y/n]"". */
export function waitText(wait: PromptedWait, verb: "is" | "was" = "is"): string {
  const program = wait.program === "" ? "A program" : `\`${wait.program}\``;
  const prompt = wait.prompt.trim() === "" || isFullScreen(wait) ? "" : `: ${JSON.stringify(wait.prompt.trim())}`;
  return `${program} ${verb} waiting for ${SUBJECT[kindOf(wait)]}${prompt}`;
}

const AVOID: Record<Kind, string> = {
  editor: "pass the text in the command, such as `git commit -m TEXT`, or write the file with a command",
  pager: "append `| cat` to the command or set `PAGER=cat`",
  password: "use credentials that need no prompt, such as a key or a token that the user has set up",
  question: "use an option that answers it, such as `--yes`, or pipe the answer to the command",
  input: "pass the input in the command, such as `printf 'TEXT\\n' | COMMAND`",
};

/** Returns how to run the command so that it does not wait. */
export function avoidText(wait: PromptedWait): string {
  return AVOID[kindOf(wait)];
}

/** Returns the hint for a command that timed out while a program waited for input. */
export function timedOutHint(wait: PromptedWait): Recovery {
  const hint = `${waitText(wait, "was")} when the time was over; ${avoidText(wait)}.`;
  return { action: "avoid_input", hint };
}

interface Starved {
  type: "InputRequired";
  message: string;
  recovery: Recovery[];
}

/** Returns the error of a command that was ended because its input can never arrive. */
export function inputRequired(wait: InputWait): Starved {
  const shown = { ...wait, prompt: "" };
  const avoid = avoidText(shown);
  const hint = `${avoid[0]?.toUpperCase()}${avoid.slice(1)}.`;
  return {
    type: "InputRequired",
    message: `${waitText(shown, "was")}, but the command has no terminal, so it was ended.`,
    recovery: [{ action: "avoid_input", hint }],
  };
}
