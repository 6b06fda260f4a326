/**
 * Reads the shell word at `at` of a text and returns its value, or null when the word is empty or contains anything that
 * bash would expand. The text around a command is not judged, so every character outside quotes must be one that bash takes
 * literally.
 */
export function readLiteral(text: string, at: number): { value: string; end: number } | null {
  let value = "";
  let i = at;
  while (i < text.length) {
    const char = text[i] as string;
    if (char === "'") {
      const close = text.indexOf("'", i + 1);
      if (close < 0) return null;
      value += text.slice(i + 1, close);
      i = close + 1;
    } else if (char === '"') {
      const quoted = readDoubleQuoted(text, i + 1);
      if (!quoted) return null;
      value += quoted.value;
      i = quoted.end;
    } else if (char === "\\") {
      const next = text[i + 1];
      // A backslash before a line break removes both.
      if (next === undefined || next === "\n") return null;
      value += next;
      i += 2;
    } else if (/[\w./:=@+,%-]/.test(char)) {
      value += char;
      i++;
    } else break;
  }
  return i === at ? null : { value, end: i };
}

/** Reads the rest of a text in double quotes, in which a backslash escapes only the characters that are special there. */
function readDoubleQuoted(text: string, at: number): { value: string; end: number } | null {
  let value = "";
  for (let i = at; i < text.length; i++) {
    const char = text[i] as string;
    if (char === '"') return { value, end: i + 1 };
    if (char === "$" || char === "`") return null;
    if (char === "\\" && /["\\$`]/.test(text[i + 1] ?? "")) value += text[++i];
    else if (char === "\\" && text[i + 1] === "\n") return null;
    else value += char;
  }
  return null;
}
