/**
 * Parses the part of YAML that configuration files of agents use, with positions: block mappings and sequences, plain
 * and quoted scalars, block scalars, flow collections and comments. Anchors, aliases, tags, complex keys and several
 * documents are rejected, because an edit could change what they mean.
 */

import { FormatError, lineAt } from "./format-error.ts";
import type { Json } from "./types.ts";

export type YamlNode = { start: number; end: number } & (
  | { kind: "map"; indent: number; entries: YamlEntry[] }
  | { kind: "list"; indent: number; items: YamlItem[] }
  | { kind: "flow"; value: Json }
  | { kind: "scalar"; value: Json }
);

/** `key: value`. The node is null when there is no value. */
export interface YamlEntry {
  key: string;
  /** The start of the line of the key, or of the key itself in `- key: value`. */
  start: number;
  /** The end of the last line of the value, behind its line break. */
  end: number;
  /** The offset behind the colon. */
  colon: number;
  node: YamlNode | null;
}

export interface YamlItem {
  start: number;
  end: number;
  node: YamlNode | null;
}

const MAX_DEPTH = 100;

export function parseYaml(text: string): YamlNode | null {
  let at = text.startsWith("\ufeff") ? 1 : 0;

  const fail = (message: string, offset = at): never => {
    throw new FormatError(message, lineAt(text, offset));
  };
  const lineEnd = (offset: number) => {
    const end = text.indexOf("\n", offset);
    return end < 0 ? text.length : end;
  };
  const lineBegin = (offset: number) => Math.max(text.lastIndexOf("\n", offset - 1) + 1, text[0] === "\ufeff" ? 1 : 0);
  const columnOf = (offset: number) => offset - lineBegin(offset);

  /** Moves to the first character of the next line that has content, or to the end. */
  const nextContent = () => {
    for (;;) {
      while (text[at] === " " || text[at] === "\r") at++;
      if (at >= text.length) return;
      if (text[at] === "\t") {
        if (text.slice(at, lineEnd(at)).trim() !== "") fail("a tab in the indentation");
        at = lineEnd(at);
      }
      if (text[at] === "#") at = lineEnd(at);
      if (text[at] !== "\n") return;
      at++;
    }
  };
  /** Skips blanks and a comment. Fails when other text follows on the line. Moves behind the line break. */
  const endLine = () => {
    const rest = text.slice(at, lineEnd(at));
    if (!/^[ \t]*(?:[ \t]#.*)?\r?$/.test(rest)) fail("unexpected text behind the value");
    at = Math.min(text.length, lineEnd(at) + 1);
  };

  /** Reads the node that starts here, in a block that is indented at least by `indent`. */
  const readNode = (indent: number, depth: number): YamlNode => {
    if (depth > MAX_DEPTH) fail("the content is nested too deeply");
    const char = text[at] as string;
    if (/[&*!?%@`]/.test(char) && !(char === "?" && /\S/.test(text[at + 1] ?? ""))) {
      fail(`\`${char}\` (an anchor, alias, tag or complex key) is not supported`);
    }
    if (char === "-" && /^-(?:\s|$)/.test(text.slice(at, at + 2))) return readList(columnOf(at), depth);
    if (char === "|" || char === ">") return readBlockScalar(indent);
    const key = keyHere();
    if (key !== null) return readMap(columnOf(at), depth);
    if (char === "[" || char === "{") {
      const start = at;
      const value = readFlow(depth);
      const end = at;
      endLine();
      return { kind: "flow", start, end, value };
    }
    return readScalar(indent);
  };

  /** Returns the key of a mapping that starts here, and the offset behind its colon. */
  const keyHere = (): { key: string; colon: number } | null => {
    const line = text.slice(at, lineEnd(at));
    const quoted = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')[ \t]*:(?=\s|$)/.exec(line);
    if (quoted) return { key: String(scalarValue(quoted[1] ?? "", fail)), colon: at + quoted[0].length };
    if (/^["'[{#|>&*!%@`]/.test(line)) return null;
    // A colon ends a key when white space follows; ` #` would begin a comment.
    const plain = /^((?:(?! #|:(?:\s|$)).)+?)[ \t]*:(?=\s|$)/.exec(line);
    return plain ? { key: (plain[1] ?? "").trim(), colon: at + plain[0].length } : null;
  };

  const readMap = (indent: number, depth: number): YamlNode => {
    const entries: YamlEntry[] = [];
    const start = at;
    let end = at;
    for (;;) {
      const found = keyHere() ?? fail("expected a key");
      if (entries.some(({ key }) => key === found.key)) fail(`duplicate key \`${found.key}\``);
      const begin = columnOf(at) === indent && text.slice(lineBegin(at), at).trim() === "" ? lineBegin(at) : at;
      at = found.colon;
      const node = readBelow(indent, depth, true);
      end = contentEnd(node?.end ?? found.colon);
      entries.push({ key: found.key, start: begin, end, colon: found.colon, node });
      nextContent();
      if (at >= text.length || columnOf(at) < indent || isMarker()) break;
      if (columnOf(at) > indent) fail("unexpected indentation");
    }
    return { kind: "map", indent, entries, start, end };
  };

  const readList = (indent: number, depth: number): YamlNode => {
    const items: YamlItem[] = [];
    const start = at;
    let end = at;
    for (;;) {
      if (!/^-(?:\s|$)/.test(text.slice(at, at + 2))) break;
      const begin = text.slice(lineBegin(at), at).trim() === "" ? lineBegin(at) : at;
      at++;
      const dash = at;
      const node = readBelow(indent, depth, false);
      end = contentEnd(node?.end ?? dash);
      items.push({ start: begin, end, node });
      nextContent();
      if (at >= text.length || columnOf(at) < indent || isMarker()) break;
      if (columnOf(at) > indent) fail("unexpected indentation");
    }
    return { kind: "list", indent, items, start, end };
  };

  /** Reads the value behind a colon or a dash: on the same line, or indented on the next ones. */
  const readBelow = (indent: number, depth: number, isKey: boolean): YamlNode | null => {
    while (text[at] === " " || text[at] === "\t") at++;
    const isEmpty = at >= text.length || /[\r\n]/.test(text[at] as string) || text[at] === "#";
    if (!isEmpty) {
      // A mapping cannot begin on the line of a key: `a: b: c`.
      if (isKey && keyHere() !== null) fail("a mapping on the line of its key");
      return readNode(indent + 1, depth + 1);
    }
    at = Math.min(text.length, lineEnd(at) + 1);
    nextContent();
    if (at >= text.length || isMarker()) return null;
    const column = columnOf(at);
    // The items of a list may have the indentation of their key.
    const isListOfKey = isKey && column === indent && /^-(?:\s|$)/.test(text.slice(at, at + 2));
    return column > indent || isListOfKey ? readNode(indent + 1, depth + 1) : null;
  };

  const readBlockScalar = (indent: number): YamlNode => {
    const start = at;
    if (!/^[|>][-+0-9]*[ \t]*(?:#.*)?\r?$/.test(text.slice(at, lineEnd(at)))) fail("invalid block scalar");
    at = Math.min(text.length, lineEnd(at) + 1);
    const from = at;
    let end = at;
    while (at < text.length) {
      const line = text.slice(at, lineEnd(at));
      if (line.trim() !== "" && (/^ */.exec(line)?.[0].length ?? 0) < indent) break;
      at = Math.min(text.length, lineEnd(at) + 1);
      if (line.trim() !== "") end = at;
    }
    at = Math.max(end, from);
    return { kind: "scalar", value: text.slice(from, end), start, end: at };
  };

  const readScalar = (indent: number): YamlNode => {
    const start = at;
    const quote = text[at];
    if (quote === '"' || quote === "'") {
      const pattern = quote === '"' ? /"(?:[^"\\]|\\[\s\S])*"/y : /'(?:[^']|'')*'/y;
      pattern.lastIndex = at;
      const raw = pattern.exec(text)?.[0] ?? fail("unterminated string");
      at += raw.length;
      const end = at;
      endLine();
      return { kind: "scalar", value: scalarValue(raw, fail), start, end };
    }
    let raw = plainLine();
    let end = at + raw.length;
    at = end;
    endLine();
    // A plain scalar continues on lines with a deeper indentation.
    for (;;) {
      const resume = at;
      nextContent();
      const continues =
        at < text.length && columnOf(at) >= indent && !isMarker() && !text.slice(resume, at).includes("#");
      if (!continues) break;
      if (keyHere() !== null) fail("unexpected indentation");
      const more = plainLine();
      raw += ` ${more}`;
      end = at + more.length;
      at = end;
      endLine();
    }
    return { kind: "scalar", value: scalarValue(raw, fail), start, end };
  };
  const plainLine = () =>
    text
      .slice(at, lineEnd(at))
      .replace(/(?:^|[ \t])#.*$/, "")
      .trimEnd();

  const gap = () => {
    const pattern = /(?:\s|#[^\n]*)*/y;
    pattern.lastIndex = at;
    at += pattern.exec(text)?.[0].length ?? 0;
  };
  const readFlow = (depth: number): Json => {
    if (depth > MAX_DEPTH) fail("the content is nested too deeply");
    const open = text[at];
    if (open === "[") {
      const values: Json[] = [];
      at++;
      for (gap(); text[at] !== "]"; gap()) {
        values.push(readFlow(depth + 1));
        gap();
        if (text[at] === ",") at++;
        else if (text[at] !== "]") fail("expected `,` or `]`");
      }
      at++;
      return values;
    }
    if (open === "{") {
      const entries: [string, Json][] = [];
      at++;
      for (gap(); text[at] !== "}"; gap()) {
        const key = String(flowScalar(true));
        if (entries.some(([known]) => known === key)) fail(`duplicate key \`${key}\``);
        gap();
        if (text[at] === ":") at++;
        else fail("expected `:`");
        gap();
        entries.push([key, readFlow(depth + 1)]);
        gap();
        if (text[at] === ",") at++;
        else if (text[at] !== "}") fail("expected `,` or `}`");
      }
      at++;
      return Object.fromEntries(entries);
    }
    return flowScalar(false);
  };
  const flowScalar = (isKey: boolean): Json => {
    const pattern = isKey
      ? /"(?:[^"\\]|\\[\s\S])*"|'(?:[^']|'')*'|[^\s,[\]{}:#"'&*!%@`][^,[\]{}:\n]*/y
      : /"(?:[^"\\]|\\[\s\S])*"|'(?:[^']|'')*'|[^\s,[\]{}#"'&*!%@`][^,[\]{}\n]*/y;
    pattern.lastIndex = at;
    const raw = pattern.exec(text)?.[0] ?? fail("expected a value");
    at += raw.length;
    return scalarValue(raw.trim(), fail);
  };

  const isMarker = () => columnOf(at) === 0 && /^(?:---|\.\.\.)(?:\s|$)/.test(text.slice(at, at + 4));
  /** Returns the end of the line that ends a value, behind its line break. */
  const contentEnd = (offset: number) =>
    offset > 0 && text[offset - 1] === "\n" ? offset : Math.min(text.length, lineEnd(offset) + 1);

  nextContent();
  if (/^%/.test(text.slice(at))) fail("a directive is not supported");
  if (isMarker()) {
    at += 3;
    endLine();
    nextContent();
  }
  if (at >= text.length || isMarker()) return null;
  const node = readNode(0, 0);
  nextContent();
  if (at < text.length) fail(isMarker() ? "several documents in one file are not supported" : "unexpected text");
  return node;
}

/** Returns the value of a scalar by the rules of the YAML 1.2 core schema. */
function scalarValue(raw: string, fail: (message: string) => never): Json {
  if (raw.startsWith("'"))
    return raw
      .slice(1, -1)
      .replaceAll("''", "'")
      .replace(/[ \t]*\r?\n[ \t]*/g, " ");
  if (raw.startsWith('"')) return unescapeYaml(raw.slice(1, -1).replace(/\\?[ \t]*\r?\n[ \t]*/g, " "), fail);
  if (/^(?:~|null|Null|NULL|)$/.test(raw)) return null;
  if (/^(?:true|True|TRUE)$/.test(raw)) return true;
  if (/^(?:false|False|FALSE)$/.test(raw)) return false;
  if (/^[-+]?(?:0|[1-9]\d*)(?:\.\d*)?(?:[eE][-+]?\d+)?$/.test(raw)) return Number(raw);
  return raw;
}

const ESCAPES: Record<string, string> = {
  "0": "\0",
  a: "\u0007",
  b: "\b",
  t: "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
  e: "\u001b",
  " ": " ",
  '"': '"',
  "/": "/",
  "\\": "\\",
  N: "\u0085",
  _: "\u00a0",
  L: "\u2028",
  P: "\u2029",
};

function unescapeYaml(raw: string, fail: (message: string) => never): string {
  return raw.replace(/\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[\s\S])/g, (_, code: string) => {
    if (code.length === 1) return ESCAPES[code] ?? fail("invalid escape sequence");
    const point = Number.parseInt(code.slice(1), 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : fail("invalid escape sequence");
  });
}
