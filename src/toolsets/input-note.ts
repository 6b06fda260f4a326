import type { Gateway } from "../gateway/gateway.ts";
import { avoidText, isFullScreen, type PromptedWait, waitText } from "../session/input-wait.ts";

/** How to answer a program that waits for input, in the terms of a toolset. */
export interface AnswerWords {
  /** On a terminal, for a program that asks for a line. */
  line: string;
  /** On a terminal, for an editor or a pager. */
  screen: string;
  /** On pipes. */
  stdin: string;
}

/**
 * Returns what a program of the session waits for and how to answer and, with `avoid`, how to avoid that. Null when none
 * waits, or the caller may not read the output. `words` is null for a toolset that cannot send input.
 */
export async function inputNote(
  root: Gateway,
  id: string,
  words: AnswerWords | null,
  { avoid = false }: { avoid?: boolean } = {},
): Promise<string | null> {
  try {
    const wait = await root.scoped().session(id).inputWait();
    return wait && noteText(wait, words, avoid);
  } catch {
    return null; // Best effort: the session was removed, its keeper does not respond, or reading is not permitted.
  }
}

function noteText(wait: PromptedWait, words: AnswerWords | null, avoid: boolean): string {
  const avoiding = `To avoid this, ${avoidText(wait)}.`;
  if (words === null || wait.source === "output") return `${waitText(wait)}. ${avoiding}`;
  const answer = wait.source === "stdin" ? words.stdin : isFullScreen(wait) ? words.screen : words.line;
  return `${waitText(wait)}. ${answer}${avoid ? ` ${avoiding}` : ""}`;
}
