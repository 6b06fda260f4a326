import { escapeAt } from "./escape.ts";
import { TextGrid } from "./text-grid.ts";

/** Control characters other than tab and line feed, including those that start an escape sequence. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters
const ACTING = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters
const PLAIN = /[^\x00-\x08\x0a-\x1f\x7f-\x9f]+/y;

// Bidirectional overrides and tags, which can make a person see a different text from the one a model reads.
const DECEIVING = /[\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/**
 * Converts a command's output to the text that a terminal would show. Escape sequences are applied and removed, a
 * rewritten line (a progress bar) has its last state, lines end in a line feed, and remaining control characters are
 * made visible. Runs in linear time for any text.
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

/** Sequences that position the cursor absolutely, scroll, or switch to the alternate screen. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches escape sequences
const PAINTS_SCREEN = /\x1b\[(?:[\d;]*[HLMSTdfr]|\?(?:47|1047|1049)h)/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches escape sequences
const CLEARED_FIRST = /^\x1b\[H\x1b\[2?J(?:\x1b\[3J)?/;

/** Reports whether output draws a whole screen, so that its lines in order do not show what a terminal shows. */
export function paintsScreen(text: string): boolean {
  return PAINTS_SCREEN.test(text.replace(CLEARED_FIRST, ""));
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) as number).toString(16)}}`;
}
