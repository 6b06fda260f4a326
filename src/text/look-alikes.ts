/**
 * Finds characters that look like ASCII but are not, and letters that are written from right to left, which change the
 * order in which a terminal or browser shows the text around them.
 */

const PLAIN = /^[\t\n\r\x20-\x7e]*$/;

/** Builds the patterns on first use: compiling Unicode properties takes longer than checking plain text. */
const patterns = () => ({
  // The blocks whose letters are written from right to left.
  rightToLeft: /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/gu,
  word: /[\p{L}\p{M}\p{N}]+/gu,
  // Scripts with letters that look like those of ASCII.
  similar:
    /[\p{sc=Cyrillic}\p{sc=Greek}\p{sc=Armenian}\p{sc=Cherokee}\p{sc=Lisu}\p{sc=Coptic}\p{sc=Deseret}\p{sc=Tifinagh}\p{sc=Canadian_Aboriginal}\p{sc=Georgian}\p{sc=Vai}\p{sc=Bamum}]/u,
  // Letters that look exactly like one of ASCII. A word of only such letters cannot be told from an ASCII word.
  same: /^[аеорсухіјѕԁԛԝһӏАВЕКМНОРСТХУІЈЅԌԚԜᴦοναρυικβΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲϳօսոհցքԼՕՍ\p{sc=Cherokee}\p{sc=Lisu}\p{M}]+$/u,
  latin: /[ıȷɑɡɩɪʏʋᴀᴄᴇᴊᴋᴍᴏᴛᴜᴠᴡᴢꜰꜱǀǃꞁ]/gu,
  // Characters whose compatibility form is ASCII, such as fullwidth and mathematical letters, but not superscripts.
  compatible: /(?![\u00aa\u00b2\u00b3\u00b9\u00ba\u2026\u2070-\u209c])[\u2000-\u{1ffff}]/gu,
  // Hyphens, slashes, semicolons, colons, bars and dots in a word.
  punctuation: /[\u2010-\u2012\u2212\ufe58\u2044\u2215\u29f8\u037e\u2236\ua789\u2223\u01c0\u2024\u0589\ua4f8\ua4fd]/gu,
  // A dash before a letter looks like the hyphen of an option.
  dash: /(?<![^\s])[\u2013-\u2015](?=[\p{L}\p{N}])/gu,
  // Quotation marks, except for an apostrophe between letters.
  quote: /[\u201c-\u201f]|(?<!\p{L})[\u2018-\u201b]|[\u2018-\u201b](?!\p{L})/gu,
});

let made: ReturnType<typeof patterns> | null = null;

/** Returns the offsets of the characters to mark, with their lengths, in ascending order. */
export function lookAlikes(text: string): { index: number; length: number }[] {
  if (PLAIN.test(text)) return [];
  made ??= patterns();
  const found = new Map<number, number>();
  const add = (index: number, part: string) => found.set(index, part.length);
  for (const pattern of [made.rightToLeft, made.latin, made.punctuation, made.dash, made.quote]) {
    for (const { 0: part, index } of text.matchAll(pattern)) add(index, part);
  }
  for (const { 0: part, index } of text.matchAll(made.compatible)) {
    if (/^[!-~]$/.test(part.normalize("NFKC"))) add(index, part);
  }
  for (const { 0: word, index } of text.matchAll(made.word)) {
    if (!made.similar.test(word) || !(/[A-Za-z0-9]/.test(word) || made.same.test(word))) continue;
    let at = index;
    for (const letter of word) {
      if (made.similar.test(letter)) add(at, letter);
      at += letter.length;
    }
  }
  return [...found].map(([index, length]) => ({ index, length })).sort((one, other) => one.index - other.index);
}
