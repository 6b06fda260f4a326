/**
 * Finds characters that make a command look different from the one that runs (invariant 2: the analyzed command is the
 * one that is shown): control characters, direction changes, invisible characters, non-ASCII spaces.
 */
import type { Unknown } from "../core/facts.ts";

const ANY = /[^\t\n\x20-\x7e]/;

/** Builds the patterns on first use: compiling Unicode properties takes longer than checking a plain command. */
const patterns = () => ({
  // A variation selector or joiner after an emoji hides nothing.
  emojiGlue: /\p{Extended_Pictographic}[\u{1F3FB}-\u{1F3FF}]?[\uFE0F\u200D]+/gu,
  invisible: /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu,
  blank: /(?! )\p{Zs}/gu,
});

let made: ReturnType<typeof patterns> | null = null;

export function invisibleCharacters(text: string): Unknown[] {
  if (!ANY.test(text)) return [];
  made ??= patterns();
  const found: Unknown[] = [];
  const plain = text.replace(made.emojiGlue, (match) => "x".repeat(match.length));
  for (const [pattern, what] of [
    [made.invisible, "an invisible or control character"],
    [made.blank, "a space character that is not ASCII"],
  ] as const) {
    for (const match of plain.matchAll(pattern)) {
      const code = (match[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      found.push({
        span: { start: match.index, end: match.index + match[0].length },
        why: `${what} (U+${code}) can make the displayed command differ from the one that runs`,
      });
      if (found.length >= 8) return found;
    }
  }
  return found;
}

/**
 * Reports whether a word contains characters that look like shell syntax (`；`, `⁄`, `–`) outside quotes, or mixes
 * alphabets to look Latin.
 */
export function hasConfusables(value: string, source: string): boolean {
  if (!ANY.test(value)) return false;
  const bare = !/['"]/.test(source);
  if (bare && /[\uff01-\uff5e\u037e\u2044\u2215\u29f8\u2010-\u2015\u2212\ufe58\ufe63\u2018-\u201f]/.test(value))
    return true;
  return (
    (bare || value.includes("://")) &&
    /[A-Za-z][\p{sc=Cyrillic}\p{sc=Greek}]|[\p{sc=Cyrillic}\p{sc=Greek}][A-Za-z]/u.test(value)
  );
}

/** Reports whether a name contains non-ASCII characters, which may only look like ASCII letters. */
export function hasLookalikes(value: string): boolean {
  return /[^\x20-\x7e\t\n]/.test(value) && !value.includes("/");
}
