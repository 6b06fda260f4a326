/**
 * Characters that make a person see another command than the one that runs (promise 2: what is analysed is what is
 * shown): control characters, direction changes, invisible characters, blanks that are not ASCII.
 */
import type { Unknown } from "../core/facts.ts";

const ANY = /[^\t\n\x20-\x7e]/;

/** Made when they are needed: looking up what has a property takes longer than judging a plain command. */
const patterns = () => ({
  // An emoji may be followed by a variation selector or joiner without hiding anything.
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

/** Signs that look like the shell's own (`；`, `⁄`, `–`), outside quotes; and words that mix alphabets to look Latin. */
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

/** Letters that only look like the ASCII ones: a command or option word with them is not what it seems. */
export function hasLookalikes(value: string): boolean {
  return /[^\x20-\x7e\t\n]/.test(value) && !value.includes("/");
}
