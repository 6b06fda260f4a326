/** Parses TOML into statements with their positions. */

import { FormatError, lineAt } from "./format-error.ts";
import type { Json } from "./types.ts";

export interface TomlValue {
  start: number;
  end: number;
  value: Json;
  /** The entries of an inline table. */
  entries?: TomlEntry[];
}

/** An entry of an inline table. */
export interface TomlEntry {
  key: string[];
  start: number;
  value: TomlValue;
}

/** A line of a file, or several lines for a value that continues. */
export type TomlStatement = {
  /** The keys from the root. The elements of an array of tables have the keys `#0`, `#1` and so on. */
  path: string[];
  start: number;
  /** The end, behind the line break. */
  end: number;
} & ({ kind: "table"; isArray: boolean } | { kind: "pair"; section: string[]; value: TomlValue });

const MAX_DEPTH = 100;

export function parseToml(text: string): TomlStatement[] {
  const statements: TomlStatement[] = [];
  const elements = new Map<string, number>();
  const tables = new Set<string>();
  const pairs = new Set<string>();
  let section: string[] = [];
  let at = text.startsWith("\ufeff") ? 1 : 0;

  const fail = (message: string, offset = at): never => {
    throw new FormatError(message, lineAt(text, offset));
  };
  const skip = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const [found = ""] = pattern.exec(text) ?? [];
    at += found.length;
    return found;
  };
  const blanks = () => skip(/[ \t]*/y);
  const expect = (token: string) => {
    if (!text.startsWith(token, at)) fail(`expected \`${token}\``);
    at += token.length;
  };
  /** Reads up to the end of the line, where only a comment is allowed. */
  const endLine = () => {
    blanks();
    skip(/#[^\n]*/y);
    if (at < text.length && skip(/\r?\n/y) === "") fail("unexpected text behind the value");
  };

  const readKey = (): string[] => {
    const keys: string[] = [];
    for (;;) {
      blanks();
      const bare = skip(/[A-Za-z0-9_-]+/y);
      if (bare !== "") keys.push(bare);
      else if (text[at] === '"') keys.push(basicString());
      else if (text[at] === "'") keys.push(literalString());
      else fail("expected a key");
      blanks();
      if (text[at] !== ".") return keys;
      at++;
    }
  };

  const basicString = (): string => {
    const start = at;
    const raw = skip(/"(?:[^"\\\r\n]|\\[^\r\n])*"/y);
    if (raw === "") fail("unterminated string", start);
    return unescapeToml(raw.slice(1, -1), () => fail("invalid escape sequence", start));
  };
  const literalString = (): string => {
    const raw = skip(/'[^'\r\n]*'/y);
    if (raw === "") fail("unterminated string");
    return raw.slice(1, -1);
  };
  const longString = (quote: '"' | "'"): string => {
    const start = at;
    const raw = skip(quote === '"' ? /"""(?:\\[\s\S]|(?!""")[\s\S])*"{3,5}/y : /'''(?:(?!''')[\s\S])*'{3,5}/y);
    if (raw === "") fail("unterminated string", start);
    const inner = raw.slice(3, -3).replace(/^\r?\n/, "");
    if (quote === "'") return inner;
    const joined = inner.replace(/((?:^|[^\\])(?:\\\\)*)\\[ \t]*\r?\n\s*/g, "$1");
    return unescapeToml(joined, () => fail("invalid escape sequence", start));
  };

  const readValue = (depth: number): TomlValue => {
    if (depth > MAX_DEPTH) fail("the content is nested too deeply");
    const start = at;
    const done = (value: Json, entries?: TomlEntry[]): TomlValue => ({
      start,
      end: at,
      value,
      ...(entries ? { entries } : {}),
    });
    if (text.startsWith('"""', at)) return done(longString('"'));
    if (text.startsWith("'''", at)) return done(longString("'"));
    if (text[at] === '"') return done(basicString());
    if (text[at] === "'") return done(literalString());
    if (text[at] === "[") return done(readArray(depth));
    if (text[at] === "{") {
      const entries = readInlineTable(depth);
      const value: { [key: string]: Json } = Object.create(null);
      for (const { key, value: inner } of entries) assign(value, key, inner.value, () => fail("duplicate key", start));
      return done(value, entries);
    }
    const word = skip(/[^\s,#[\]{}]+(?: \d{2}:[^\s,#[\]{}]+)?/y);
    if (word === "") fail("expected a value");
    return done(plainValue(word) ?? fail(`invalid value \`${word}\``, start));
  };

  /** Skips white space, line breaks and comments inside an array or inline table. */
  const gap = () => skip(/(?:\s|#[^\n]*)*/y);
  const readArray = (depth: number): Json[] => {
    const values: Json[] = [];
    expect("[");
    for (gap(); text[at] !== "]"; gap()) {
      values.push(readValue(depth + 1).value);
      gap();
      if (text[at] === ",") at++;
      else if (text[at] !== "]") fail("expected `,` or `]`");
    }
    at++;
    return values;
  };
  const readInlineTable = (depth: number): TomlEntry[] => {
    const entries: TomlEntry[] = [];
    expect("{");
    for (gap(); text[at] !== "}"; gap()) {
      const start = at;
      const key = readKey();
      expect("=");
      blanks();
      entries.push({ key, start, value: readValue(depth + 1) });
      gap();
      if (text[at] === ",") at++;
      else if (text[at] !== "}") fail("expected `,` or `}`");
    }
    at++;
    return entries;
  };

  /** Returns the path of a table with the number of the current element of each array of tables on the way. */
  const resolved = (keys: readonly string[]): string[] => {
    const path: string[] = [];
    for (const key of keys) {
      path.push(key);
      const count = elements.get(path.join("\0"));
      if (count !== undefined) path.push(`#${count - 1}`);
    }
    return path;
  };

  const readTable = (start: number) => {
    const isArray = text.startsWith("[[", at);
    expect(isArray ? "[[" : "[");
    const keys = readKey();
    expect(isArray ? "]]" : "]");
    const parent = resolved(keys.slice(0, -1));
    const path = [...parent, keys.at(-1) as string];
    const id = path.join("\0");
    if (isArray) {
      const count = elements.get(id) ?? 0;
      elements.set(id, count + 1);
      path.push(`#${count}`);
    } else if (tables.has(id) || pairs.has(id)) fail(`\`${keys.join(".")}\` is defined twice`, start);
    tables.add(path.join("\0"));
    section = path;
    endLine();
    statements.push({ kind: "table", isArray, path, start, end: at });
  };

  while (at < text.length) {
    const start = at;
    blanks();
    if (at >= text.length) break;
    if (/[\r\n#]/.test(text[at] as string)) {
      endLine();
      continue;
    }
    if (text[at] === "[") {
      readTable(start);
      continue;
    }
    const keys = readKey();
    expect("=");
    blanks();
    const value = readValue(0);
    const path = [...section, ...keys];
    const id = path.join("\0");
    if (pairs.has(id) || tables.has(id)) fail(`duplicate key \`${keys.join(".")}\``, start);
    pairs.add(id);
    endLine();
    statements.push({ kind: "pair", path, section, start, end: at, value });
  }
  return statements;
}

/** Returns the content of a file as plain values. */
export function tomlContent(text: string, statements: readonly TomlStatement[]): { [key: string]: Json } {
  const root: { [key: string]: Json } = Object.create(null);
  for (const statement of statements) {
    const twice = () => {
      throw new FormatError(`\`${statement.path.join(".")}\` is defined twice`, lineAt(text, statement.start));
    };
    if (statement.kind === "pair") assign(root, statement.path, statement.value.value, twice);
    else assign(root, statement.path, null, twice);
  }
  return root;
}

/** Assigns a value below an object. Null creates an empty object, unless there is one. */
function assign(root: { [key: string]: Json }, path: readonly string[], value: Json, fail: () => never): void {
  let object: { [key: string]: Json } | Json[] = root;
  for (const [index, key] of path.entries()) {
    const isLast = index + 1 === path.length;
    const known: Json | undefined = read(object, key);
    if (isLast && value !== null) {
      if (known !== undefined) fail();
      write(object, key, value);
      return;
    }
    const next: Json = known ?? (/^#\d+$/.test(path[index + 1] ?? "") ? [] : Object.create(null));
    if (typeof next !== "object" || next === null) throw fail();
    if (known === undefined) write(object, key, next);
    object = next;
  }
}

function read(object: { [key: string]: Json } | Json[], key: string): Json | undefined {
  return Array.isArray(object) ? object[Number(key.slice(1))] : object[key];
}

function write(object: { [key: string]: Json } | Json[], key: string, value: Json): void {
  if (Array.isArray(object)) object[Number(key.slice(1))] = value;
  else object[key] = value;
}

/** Returns the value of a boolean, a number or a date. Dates are kept as text. */
function plainValue(word: string): Json | null {
  if (word === "true" || word === "false") return word === "true";
  if (/^[+-]?(?:inf|nan)$/.test(word) || /^\d{4}-\d{2}-\d{2}/.test(word) || /^\d{2}:\d{2}/.test(word)) return word;
  if (/^0[xob][0-9a-fA-F_]+$/.test(word)) return Number(word.replaceAll("_", ""));
  if (/^[+-]?\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d[\d_]*)?$/.test(word)) return Number(word.replaceAll("_", ""));
  return null;
}

const ESCAPES: Record<string, string> = {
  b: "\b",
  t: "\t",
  n: "\n",
  f: "\f",
  r: "\r",
  e: "\u001b",
  '"': '"',
  "\\": "\\",
};

function unescapeToml(raw: string, fail: () => never): string {
  return raw.replace(/\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|[\s\S])/g, (_, code: string) => {
    if (code.length === 1) return ESCAPES[code] ?? fail();
    const point = Number.parseInt(code.slice(1), 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : fail();
  });
}
