const NAMED: Record<string, string> = { "\n": "\\n", "\t": "\\t", "\r": "\\r", "\u001b": "\\e" };

// Control characters can move the cursor or recolour the screen, and format characters (bidirectional overrides, zero
// widths, tags) can make a command look like another one.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** The text on one line with every character that would not be seen, or would act on a terminal, written out. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const code = character.codePointAt(0) as number;
    return NAMED[character] ?? (code < 256 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 4)}}`);
  });
}

/** The same of a text that may have several lines, and keeps them. */
export function visibleLines(text: string): string {
  return text.split("\n").map(visible).join("\n");
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}
