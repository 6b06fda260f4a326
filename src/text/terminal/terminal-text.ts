import { escapeAt } from "./escape.ts";
import { TextGrid } from "./text-grid.ts";

/** Tab and line feed aside, characters that act instead of being seen, and an escape's beginning in 7 and 8 bits. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
const ACTING = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
const PLAIN = /[^\x00-\x08\x0a-\x1f\x7f-\x9f]+/y;

// Overrides of the writing direction and tags: a person sees another text than a model reads.
const DECEIVING = /[\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/**
 * What a terminal would show of a command's output, for a reader that is not one: escape sequences are gone, a line
 * that was rewritten (a progress bar) is there in its last state, lines end in a line feed, and a control character
 * that is left is visible. Takes time in proportion to the text, whatever is in it.
 *
 * @example
 * terminalText("10%\r100%\r\n\u001b[31mfailed\u001b[0m\n"); // "100%\nfailed\n"
 */
export function terminalText(text: string): string {
  return (ACTING.test(text) ? render(text) : text).replace(DECEIVING, escaped);
}

function render(text: string): string {
  const grid = new TextGrid();
  let at = 0;
  while (at < text.length) {
    PLAIN.lastIndex = at;
    const run = PLAIN.exec(text)?.[0];
    if (run !== undefined) {
      grid.write(run);
      at += run.length;
      continue;
    }
    const sequence = escapeAt(text, at);
    if (sequence !== null) {
      grid.apply(sequence);
      at = sequence.end;
      continue;
    }
    grid.control(text.charCodeAt(at));
    at++;
  }
  return grid.finish();
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) as number).toString(16)}}`;
}
