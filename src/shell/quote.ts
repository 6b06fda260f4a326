/** Quotes arguments for a POSIX shell. */
export function quoteArgv(argv: readonly string[]): string {
  return argv.map(quoteWord).join(" ");
}

export function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) && !/^[\w]+=/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * Splits text into words as POSIX shlex does, with quotes and backslashes but without expansion. Null when a quote is
 * not closed.
 */
export function splitWords(text: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (/[ \t\r\n]/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (char === "'") {
      const end = text.indexOf("'", i + 1);
      if (end < 0) return null;
      word = (word ?? "") + text.slice(i + 1, end);
      i = end;
    } else if (char === '"') {
      word ??= "";
      for (i++; text[i] !== '"'; i++) {
        if (i >= text.length) return null;
        if (text[i] === "\\" && /["\\]/.test(text[i + 1] ?? "")) i++;
        word += text[i];
      }
    } else if (char === "\\") {
      if (i + 1 >= text.length) return null;
      word = (word ?? "") + text[++i];
    } else word = (word ?? "") + char;
  }
  if (word !== null) words.push(word);
  return words;
}
