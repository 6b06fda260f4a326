/** Edits TOML. */

import { FormatError, lineAt, wrongType } from "./format-error.ts";
import { applySplices, lineBreakOf, type Splice } from "./splice.ts";
import { parseToml, type TomlEntry, type TomlStatement, type TomlValue, tomlContent } from "./toml-parse.ts";
import type { Json, Path, TextDocument } from "./types.ts";

type Pair = Extract<TomlStatement, { kind: "pair" }>;

export function openToml(content: string): TextDocument {
  let text = content;
  let statements = parseToml(text);
  let values = tomlContent(text, statements);

  const apply = (...splices: Splice[]) => {
    text = applySplices(text, splices);
    statements = parseToml(text);
    values = tomlContent(text, statements);
  };

  const get = (path: Path): Json | undefined => {
    let value: Json | undefined = values;
    for (const key of path) {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
      value = value[String(key)];
    }
    return value;
  };

  const set = (path: Path, value: Json) => {
    const keys = path.map(String);
    for (let length = 1; length < keys.length; length++) {
      const above = get(keys.slice(0, length));
      if (above !== undefined && (typeof above !== "object" || above === null || Array.isArray(above))) {
        throw wrongType(keys.slice(0, length), "a table", lineOf(keys.slice(0, length)));
      }
    }
    const pair = pairs().find((each) => isSame(each.path, keys));
    if (pair) return apply({ start: pair.value.start, end: pair.value.end, text: inline(value) });
    const within = pairs().find((each) => each.value.entries && isBelow(keys, each.path));
    if (within) return setInline(within.value, keys.slice(within.path.length), value);
    const old = statements.filter((each) => isBelow(each.path, keys) || isSame(each.path, keys));
    const [first] = old;
    const isTable = typeof value === "object" && value !== null && !Array.isArray(value);
    if (first) {
      if (!isTable) throw wrongType(keys, "a single value, not a table", lineAt(text, first.start));
      // Written where the old table was, so that the order of the file does not change.
      const written = first.kind === "table" ? section(keys, value) : null;
      if (written !== null) {
        const others = old.slice(1).map(({ start, end }) => ({ start, end, text: "" }));
        return apply({ start: first.start, end: first.end, text: written }, ...others);
      }
      remove(keys);
    }
    if (isTable) insertTable(keys, value);
    else insertPair(keys, value);
  };

  const insertTable = (keys: string[], value: { [key: string]: Json }) => {
    const related = statements.filter((each) => each.kind === "table" && each.path[0] === keys[0]).at(-1);
    const end = related ? sectionEnd(related) : text.length;
    insertSection(end, section(keys, value));
  };

  /** Inserts a table as a paragraph of its own. */
  const insertSection = (at: number, written: string) => {
    const eol = lineBreakOf(text);
    const before = text.slice(0, at);
    const isEmpty = before.replace("\ufeff", "").trim() === "";
    const open = before !== "" && !before.endsWith("\n") ? eol : "";
    const gap = isEmpty || /\n\r?\n$/.test(before + open) ? "" : eol;
    const after = text.slice(at);
    const below = after === "" || /^\r?\n/.test(after) ? "" : eol;
    apply({ start: at, end: at, text: `${isEmpty ? "" : open + gap}${written}${below}` });
  };

  const insertPair = (keys: string[], value: Json) => {
    const eol = lineBreakOf(text);
    const parent = keys.slice(0, -1);
    const line = (from: readonly string[]) => `${keyText(keys.slice(from.length))} = ${inline(value)}${eol}`;
    const header = statements.find((each) => each.kind === "table" && isSame(each.path, parent));
    const siblings = pairs().filter((each) => isBelow(each.path, parent));
    const sibling = header ? null : siblings.findLast(({ section }) => !isBelow(section, parent));
    const last = header ? lastOf(header) : sibling;
    if (!last && parent.length > 0) return insertSection(text.length, section(parent, { [keys.at(-1) ?? ""]: value }));
    if (!last) {
      const firstTable = statements.find(({ kind }) => kind === "table");
      const at = pairs().findLast(({ section }) => section.length === 0)?.end ?? firstTable?.start ?? text.length;
      const open = at > 0 && text[at - 1] !== "\n" && text[at - 1] !== "\ufeff" ? eol : "";
      return apply({ start: at, end: at, text: open + line([]) });
    }
    const open = text[last.end - 1] === "\n" ? "" : eol;
    const from = last.kind === "pair" ? last.section : last.path;
    const indent = last.kind === "pair" ? (/^[ \t]*/.exec(text.slice(last.start))?.[0] ?? "") : "";
    apply({ start: last.end, end: last.end, text: `${open}${indent}${line(from)}` });
  };

  /** Returns the last statement of the section that a header begins. */
  const lastOf = (header: TomlStatement): TomlStatement => {
    const next = statements.findIndex((each) => each.kind === "table" && each.start > header.start);
    return (next < 0 ? statements.at(-1) : statements[next - 1]) ?? header;
  };
  const sectionEnd = (header: TomlStatement): number => lastOf(header).end;

  const setInline = (table: TomlValue, keys: string[], value: Json): void => {
    const entries = table.entries ?? [];
    const entry = entries.find(({ key }) => isSame(key, keys));
    if (entry) {
      apply({ start: entry.value.start, end: entry.value.end, text: inline(value) });
      return;
    }
    const within = entries.find((each) => each.value.entries && isBelow(keys, each.key));
    if (within) {
      setInline(within.value, keys.slice(within.key.length), value);
      return;
    }
    const below = entries.filter(({ key }) => isBelow(key, keys));
    if (below.length > 0) throw wrongType(keys, "an inline table", lineAt(text, below[0]?.start ?? table.start));
    const written = `${keyText(keys)} = ${inline(value)}`;
    const last = entries.at(-1);
    if (!last) {
      apply({ start: table.start, end: table.end, text: `{ ${written} }` });
      return;
    }
    apply({ start: last.value.end, end: last.value.end, text: `, ${written}` });
  };

  const remove = (path: Path) => {
    const keys = path.map(String);
    const within = pairs().find((each) => each.value.entries && isBelow(keys, each.path));
    if (within) return removeInline(within.value, keys.slice(within.path.length));
    const old = statements.filter((each) => isSame(each.path, keys) || isBelow(each.path, keys));
    const splices = old.map((each) => {
      const { end } = each;
      if (each.kind !== "table") return { start: each.start, end, text: "" };
      // The empty line before a table belongs to it.
      const [blank = ""] = /\r?\n(?:[ \t]*\r?\n)$/.exec(text.slice(0, each.start)) ?? [];
      const start = each.start - (blank === "" ? 0 : blank.length - (blank.startsWith("\r") ? 2 : 1));
      return { start, end, text: "" };
    });
    apply(...splices);
  };

  const removeInline = (table: TomlValue, keys: string[]): void => {
    const entries = table.entries ?? [];
    const within = entries.find((each) => each.value.entries && isBelow(keys, each.key));
    if (within) {
      removeInline(within.value, keys.slice(within.key.length));
      return;
    }
    const index = entries.findIndex(({ key }) => isSame(key, keys));
    const entry: TomlEntry | undefined = entries[index];
    if (!entry) return;
    const before = entries[index - 1];
    const after = entries[index + 1];
    if (!before && !after) {
      apply({ start: table.start, end: table.end, text: "{}" });
      return;
    }
    if (before) apply({ start: before.value.end, end: entry.value.end, text: "" });
    else if (after) apply({ start: entry.start, end: after.start, text: "" });
  };

  const pairs = () => statements.filter((each): each is Pair => each.kind === "pair");

  const section = (keys: readonly string[], value: { [key: string]: Json }): string => {
    const eol = lineBreakOf(text);
    const lines = Object.entries(value).map(([key, each]) => `${keyText([key])} = ${inline(each)}${eol}`);
    return `[${keyText(keys)}]${eol}${lines.join("")}`;
  };

  const lineOf = (path: Path): number => {
    const keys = path.map(String);
    for (let length = keys.length; length > 0; length--) {
      const prefix = keys.slice(0, length);
      const found = statements.find((each) => isSame(each.path, prefix) || isBelow(each.path, prefix));
      if (found) return lineAt(text, found.start);
    }
    return 1;
  };

  return {
    get text() {
      return text;
    },
    get,
    set,
    append(path, value) {
      const list = get(path) ?? [];
      if (!Array.isArray(list)) throw wrongType(path.map(String), "a list", lineOf(path));
      set(path, [...list, value]);
    },
    remove,
    exclude(path, value) {
      const list = get(path);
      if (!Array.isArray(list)) return;
      const index = list.indexOf(value);
      if (index >= 0) set(path, list.toSpliced(index, 1));
    },
    lineOf,
  };
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((key, index) => key === other[index]);
}

/** Reports whether a path is below another one. */
function isBelow(path: readonly string[], above: readonly string[]): boolean {
  return path.length > above.length && above.every((key, index) => key === path[index]);
}

function keyText(keys: readonly string[]): string {
  return keys.map((key) => (/^[A-Za-z0-9_-]+$/.test(key) ? key : quote(key))).join(".");
}

/** Writes a value on one line. */
function inline(value: Json): string {
  if (typeof value === "string") return quote(value);
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (value === null) throw new FormatError("TOML has no null", 1);
  if (typeof value !== "object") return String(value);
  const entries = Object.entries(value).map(([key, each]) => `${keyText([key])} = ${inline(each)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}

function quote(text: string): string {
  // JSON escapes everything that TOML requires, except the delete character.
  return JSON.stringify(text).replaceAll("\u007f", "\\u007f");
}
