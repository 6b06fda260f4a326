/**
 * Removes the parts of a text that the parser reads in linear time, so that a long comment or here-document does not
 * make the text exceed a limit. The result is only counted, never analyzed: a mistake here affects the time that the
 * analysis takes, not its result.
 */

interface HereDocument {
  delimiter: string;
  /** `<<-` removes leading tabs. */
  tabs: boolean;
  /** With a quoted delimiter, nothing in the body is expanded. */
  literal: boolean;
}

const HERE = /<<(-?)[ \t]*(?:'([^'\n]*)'|"([^"\n$`\\]*)"|\\(\w+)|([\w.!-]+))/y;

/**
 * Returns the text without comments, repeated blanks, text in single quotes, and here-documents whose delimiter is
 * quoted. From a construct with other quoting rules on (`${`, `$((`, backquotes), everything is kept.
 */
export function significantText(text: string): string {
  let kept = "";
  let from = 0;
  let quoted = false;
  let pending: HereDocument[] = [];
  const drop = (start: number, end: number) => {
    if (end <= start) return;
    kept += text.slice(from, start);
    from = end;
  };
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === "\\") i++;
    else if (char === "`" || (char === "$" && /[{[]|\(\(/.test(text.slice(i + 1, i + 3)))) break;
    else if (quoted) {
      if (char === "$" && text[i + 1] === "(") break;
      if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === "$" && text[i + 1] === "'") {
      i += 2;
      while (i < text.length && text[i] !== "'") i += text[i] === "\\" ? 2 : 1;
    } else if (char === "'") {
      const end = text.indexOf("'", i + 1);
      if (end < 0) break;
      drop(i + 1, end);
      i = end;
    } else if (char === "(" && text[i + 1] === "(") break;
    else if (char === "#" && (i === 0 || /[\s;|&()]/.test(text[i - 1] ?? ""))) {
      const end = lineEnd(text, i);
      drop(i, end);
      i = end - 1;
    } else if (char === "<" && text[i + 1] === "<") {
      if (text[i + 2] === "<") {
        i += 2;
        continue;
      }
      HERE.lastIndex = i;
      const found = HERE.exec(text);
      if (!found) break;
      const delimiter = found[2] ?? found[3] ?? found[4] ?? found[5] ?? "";
      pending.push({ delimiter, tabs: found[1] === "-", literal: found[5] === undefined });
      i += found[0].length - 1;
    } else if (char === "\n" && pending.length > 0) {
      for (const one of pending) {
        const body = i + 1;
        const end = bodyEnd(text, body, one);
        if (end === null) return kept + text.slice(from);
        if (one.literal) drop(body, end.start);
        i = end.end - 1;
      }
      pending = [];
    } else if (/\s/.test(char ?? "") && char === text[i - 1]) drop(i, i + 1);
  }
  return kept + text.slice(from);
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/** Returns the range of the line that ends a here-document, without its newline. Null when there is none. */
function bodyEnd(text: string, body: number, { delimiter, tabs }: HereDocument): { start: number; end: number } | null {
  for (let start = body; start < text.length; ) {
    const end = lineEnd(text, start);
    const line = text.slice(start, end);
    if ((tabs ? line.replace(/^\t+/, "") : line) === delimiter) return { start, end };
    start = end + 1;
  }
  return null;
}
