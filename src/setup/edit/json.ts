/** Edits JSON, also with comments and trailing commas. */
import { isDeepStrictEqual } from "node:util";
import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { FormatError, lineAt, wrongType } from "./format-error.ts";
import { applySplices, indentAt, lineBreakOf, lineStart, type Splice } from "./splice.ts";
import type { Json, Path, TextDocument } from "./types.ts";

const BOM = "\ufeff";

/** Values of the parser's `SyntaxKind`, which is a constant enumeration and therefore not importable. */
const COMMA = 5;
const LINE_COMMENT = 12;
const BLOCK_COMMENT = 13;
const LINE_BREAK = 14;
const WHITE_SPACE = 15;
const END = 17;

export function openJson(content: string): TextDocument {
  let text = content;
  let root = parse(text);

  const apply = (splices: Splice[]) => {
    text = applySplices(text, splices);
    root = parse(text);
  };
  const fail = (node: Node, keys: readonly string[], expected: string) =>
    wrongType(keys, expected, lineAt(text, node.offset));

  const find = (path: Path) => {
    let node: Node | undefined = root ?? undefined;
    for (const key of path) node = node && child(node, String(key));
    return node;
  };

  /** Returns the innermost object that exists on the way to the path, and the keys below it. */
  const parentOf = (keys: readonly string[]) => {
    if (root === null) throw new FormatError("the file is empty", 1);
    let node: Node = root;
    for (const [index, key] of keys.slice(0, -1).entries()) {
      if (node.type !== "object") throw fail(node, keys.slice(0, index), "an object");
      const next = child(node, key);
      if (!next) return { node, missing: keys.slice(index) };
      node = next;
    }
    if (node.type !== "object") throw fail(node, keys.slice(0, -1), "an object");
    return { node, missing: keys.slice(-1) };
  };

  const set = (path: Path, value: Json) => {
    const keys = path.map(String);
    if (root === null) {
      const initial = text.startsWith(BOM) ? `${BOM}{}` : "{}";
      text = `${initial}${lineBreakOf(text)}`;
      root = parse(text);
    }
    const { node, missing } = parentOf(keys);
    const existing = missing.length === 1 ? child(node, missing[0] as string) : undefined;
    if (existing) {
      const written = print(value, indentAt(text, existing.parent?.offset ?? existing.offset), style());
      apply([{ start: existing.offset, end: existing.offset + existing.length, text: written }]);
      return;
    }
    const [first = "", ...rest] = missing;
    const nested = rest.reduceRight<Json>((inner, key) => ({ [key]: inner }), value);
    insert(node, (indent) => `${JSON.stringify(first)}: ${print(nested, indent, style())}`);
  };

  /** Inserts an entry at the end of an object or array. A comment on the line of the last entry stays with it. */
  const insert = (node: Node, written: (indent: string) => string) => {
    const { unit, lineBreak } = style();
    const last = node.children?.at(-1);
    const close = node.offset + node.length - 1;
    const outer = indentOfLine(node.offset);
    if (!last && node.type === "array") {
      apply([{ start: node.offset + 1, end: node.offset + 1, text: written(outer) }]);
      return;
    }
    if (!last) {
      const inside = text.slice(node.offset + 1, close);
      const kept = inside.trim() === "" ? "" : inside.trimEnd();
      const indent = outer + unit;
      const added = `${kept}${lineBreak}${indent}${written(indent)}${lineBreak}${outer}`;
      apply([{ start: node.offset + 1, end: close, text: added }]);
      return;
    }
    const end = last.offset + last.length;
    const comma = commaAfter(end, close);
    const isSingleLine = !text.slice(node.offset, close).includes("\n");
    if (isSingleLine) {
      const added = comma === null ? `, ${written(outer)}` : ` ${written(outer)},`;
      const at = comma === null ? end : comma + 1;
      apply([{ start: at, end: at, text: added }]);
      return;
    }
    const indent = startsLine(last.offset) ? indentAt(text, last.offset) : outer + unit;
    const at = endOfLineAfter(comma === null ? end : comma + 1, close);
    apply([
      ...(comma === null ? [{ start: end, end, text: "," }] : []),
      { start: at, end: at, text: `${lineBreak}${indent}${written(indent)}${comma === null ? "" : ","}` },
    ]);
  };

  /** Removes an entry of an object or array, with its line if nothing else is on it. */
  const removeChild = (node: Node, index: number) => {
    const entry = node.children?.[index];
    if (!entry) return;
    const close = node.offset + node.length - 1;
    const before = node.children?.[index - 1];
    const isLast = index + 1 === (node.children?.length ?? 0);
    let end = entry.offset + entry.length;
    const comma = commaAfter(end, close);
    if (comma !== null) end = comma + 1;
    let start = entry.offset;
    if (startsLine(start)) {
      const rest = /^[ \t]*(?:\r?\n|$)/.exec(text.slice(end));
      if (rest) {
        start = lineStart(text, start);
        end += rest[0].length;
      } else if (isLast) {
        // The closing bracket is on the same line.
        start = Math.max(0, text.slice(0, start).trimEnd().length);
      }
    } else if (before && isLast) start = before.offset + before.length;
    else end += /^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0;
    const splices: Splice[] = [{ start, end, text: "" }];
    if (isLast && comma === null && before) {
      const previous = commaAfter(before.offset + before.length, entry.offset);
      if (previous !== null && previous < start) splices.push({ start: previous, end: previous + 1, text: "" });
    }
    apply(splices);
    const emptied = node.children?.length === 1;
    // An object that has become empty is written as `{}`, unless it contains a comment.
    if (emptied) {
      const again = nodeAt(node.offset);
      const inside = again ? text.slice(again.offset + 1, again.offset + again.length - 1) : "";
      if (again && inside !== "" && inside.trim() === "") {
        apply([{ start: again.offset + 1, end: again.offset + again.length - 1, text: "" }]);
      }
    }
  };

  const nodeAt = (offset: number, node: Node | null = root): Node | null => {
    if (!node) return null;
    if (node.offset === offset && (node.type === "object" || node.type === "array")) return node;
    for (const each of node.children ?? []) {
      if (each.offset > offset || each.offset + each.length <= offset) continue;
      const found = nodeAt(offset, each);
      if (found) return found;
    }
    return null;
  };

  const style = () => ({ unit: indentUnit(text), lineBreak: lineBreakOf(text) });
  const startsLine = (offset: number) => text.slice(lineStart(text, offset), offset).trim() === "";
  /** Returns the indentation of the line that contains the offset. */
  const indentOfLine = (offset: number) =>
    /^[ \t]*/.exec(text.slice(lineStart(text, offset)).replace(BOM, ""))?.[0] ?? "";

  /** Returns the offset of the comma that follows, or null. */
  const commaAfter = (offset: number, end: number): number | null => {
    const scanner = createScanner(text, true);
    scanner.setPosition(offset);
    const kind: number = scanner.scan();
    const found = kind === COMMA && scanner.getTokenOffset() < end;
    return found ? scanner.getTokenOffset() : null;
  };

  /** Returns the end of the line, behind comments, or the offset itself when other text follows on the line. */
  const endOfLineAfter = (offset: number, end: number): number => {
    const scanner = createScanner(text, false);
    scanner.setPosition(offset);
    let at = offset;
    for (;;) {
      const kind: number = scanner.scan();
      const start = scanner.getTokenOffset();
      if (kind === LINE_BREAK || start >= end || kind === END) return at;
      if (kind === WHITE_SPACE) continue;
      if (kind !== LINE_COMMENT && kind !== BLOCK_COMMENT) return offset;
      at = start + scanner.getTokenLength();
    }
  };

  return {
    get text() {
      return text;
    },
    get: (path) => {
      const node = find(path);
      return node && plainValueOf(node);
    },
    set,
    append(path, value) {
      const list = find(path);
      if (!list) return set(path, [value]);
      if (list.type !== "array") throw fail(list, path.map(String), "a list");
      insert(list, (indent) => print(value, indent, style()));
    },
    remove(path) {
      const node = find(path);
      const property = node?.parent;
      const parent = property?.parent;
      if (property && parent) removeChild(parent, parent.children?.indexOf(property) ?? -1);
    },
    exclude(path, value) {
      const list = find(path);
      if (list?.type !== "array") return;
      const index = (list.children ?? []).findIndex((each) => isDeepStrictEqual(plainValueOf(each), value));
      if (index >= 0) removeChild(list, index);
    },
    lineOf(path) {
      for (let length = path.length; length > 0; length--) {
        const node = find(path.slice(0, length));
        if (node) return lineAt(text, node.offset);
      }
      return 1;
    },
  };

  /** Returns the value of a key. Throws when an object has the key twice: programs disagree about which one counts. */
  function child(node: Node, key: string): Node | undefined {
    if (node.type !== "object") return undefined;
    const found = (node.children ?? []).filter((property) => property.children?.[0]?.value === key);
    if (found.length > 1) throw new FormatError(`duplicate key \`${key}\``, lineAt(text, found[1]?.offset ?? 0));
    return found[0]?.children?.[1];
  }
}

/** Returns the syntax tree, or null for a text without a value. */
function parse(content: string): Node | null {
  const errors: ParseError[] = [];
  // A space keeps the offsets of a text that starts with a byte order mark.
  const text = content.startsWith(BOM) ? ` ${content.slice(1)}` : content;
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  } catch {
    throw new FormatError("the content is nested too deeply", 1);
  }
  const [error] = errors;
  if (error) throw new FormatError(wordsOf(printParseErrorCode(error.error)), lineAt(text, error.offset));
  if (root && isTooDeep(root)) throw new FormatError("the content is nested too deeply", 1);
  return root ?? null;
}

const MAX_DEPTH = 100;

function isTooDeep(root: Node): boolean {
  let level = [root];
  // A property is a level of its own.
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > 2 * MAX_DEPTH) return true;
    level = level.flatMap(({ children = [] }) => children);
  }
  return false;
}

/** Turns the name of a parse error into words: `CommaExpected` into `comma expected`. */
function wordsOf(name: string): string {
  return name.replace(/(?<!^)([A-Z])/g, " $1").toLowerCase();
}

function plainValueOf(node: Node): Json {
  if (node.type === "object") {
    const entries = (node.children ?? []).map(({ children = [] }) => {
      const [key, value] = children;
      return [String(key?.value), value ? plainValueOf(value) : null] as const;
    });
    return Object.fromEntries(entries);
  }
  if (node.type === "array") return (node.children ?? []).map(plainValueOf);
  return node.value as Json;
}

function indentUnit(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
}

const MAX_LINE = 80;

/** Writes a value on several lines, except for short lists. */
function print(value: Json, indent: string, style: { unit: string; lineBreak: string }): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  if (entries.length === 0) return isList ? "[]" : "{}";
  if (isList && value.every((each) => each === null || typeof each !== "object")) {
    const line = `[${value.map((each) => JSON.stringify(each)).join(", ")}]`;
    if (indent.length + line.length <= MAX_LINE) return line;
  }
  const inner = indent + style.unit;
  const lines = entries.map(
    ([key, each]) => `${inner}${isList ? "" : `${JSON.stringify(key)}: `}${print(each, inner, style)}`,
  );
  const [open, close] = isList ? "[]" : "{}";
  return `${open}${style.lineBreak}${lines.join(`,${style.lineBreak}`)}${style.lineBreak}${indent}${close}`;
}
