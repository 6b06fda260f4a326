/** Edits YAML. */

import { FormatError, lineAt, wrongType } from "./format-error.ts";
import { applySplices, lineBreakOf } from "./splice.ts";
import type { Json, Path, TextDocument } from "./types.ts";
import { parseYaml, type YamlEntry, type YamlItem, type YamlNode } from "./yaml-parse.ts";

export function openYaml(content: string): TextDocument {
  let text = content;
  let root = parseYaml(text);

  const replace = (start: number, end: number, added: string) => {
    text = applySplices(text, [{ start, end, text: added }]);
    root = parseYaml(text);
  };

  const get = (path: Path): Json | undefined => {
    let value: Json | undefined = root === null ? undefined : plainValueOf(root);
    for (const key of path) value = below(value, key);
    return value;
  };

  /** Returns the entry or item at the path, if it is written in block style. */
  const find = (path: Path): YamlEntry | YamlItem | null => {
    let node: YamlNode | null = root;
    let found: YamlEntry | YamlItem | null = null;
    for (const key of path) {
      found = null;
      if (typeof key === "string" && node?.kind === "map")
        found = node.entries.find((each) => each.key === key) ?? null;
      if (typeof key !== "string" && node?.kind === "list") {
        found = node.items.find((each) => each.node && below(plainValueOf(each.node), "name") === key.name) ?? null;
      }
      node = found?.node ?? null;
    }
    return found;
  };

  const set = (path: Path, value: Json): void => {
    const key = path.at(-1);
    if (key === undefined) throw new Error("an empty path cannot be set");
    const parentPath = path.slice(0, -1);
    const flow = flowAbove(path);
    if (flow) {
      setInFlow(flow, path, value);
      return;
    }
    const existing = find(path);
    if (existing) {
      replaceValue(existing, key, value);
      return;
    }
    const parent = parentPath.length === 0 ? root : (find(parentPath)?.node ?? null);
    const expected = typeof key === "string" ? "a mapping" : "a list";
    if (parent && parent.kind !== (typeof key === "string" ? "map" : "list")) {
      throw wrongType(names(parentPath), expected, lineAt(text, parent.start));
    }
    if (!parent && parentPath.length > 0) {
      const empty = find(parentPath);
      if (!empty) {
        set(parentPath, typeof key === "string" ? { [key]: value } : [value]);
        return;
      }
      fill(empty, parentPath, (indent) => block(key, value, indent));
      return;
    }
    insert(parent, (indent) => block(key, value, indent));
  };

  /** Returns the innermost flow collection on the way to the path, `[...]` or `{...}`. */
  const flowAbove = (path: Path): { node: YamlNode & { kind: "flow" }; length: number } | null => {
    if (root?.kind === "flow") return { node: root, length: 0 };
    for (let length = 1; length < path.length; length++) {
      const node = find(path.slice(0, length))?.node;
      if (node?.kind === "flow") return { node, length };
    }
    return null;
  };

  /** Writes an empty flow collection as a block, and adds to another one in its own style. */
  const setInFlow = (
    { node, length }: { node: YamlNode & { kind: "flow" }; length: number },
    path: Path,
    value: Json,
  ): void => {
    const [key, ...rest] = path.slice(length);
    const isList = Array.isArray(node.value);
    if (key === undefined || isList !== (typeof key !== "string")) {
      throw wrongType(names(path.slice(0, length)), isList ? "a mapping" : "a list", lineAt(text, node.start));
    }
    const copy = structuredClone(node.value) as Json;
    assign(copy, [key, ...rest], value);
    const isEmpty = Object.keys(node.value as object).length === 0;
    const owner = length === 0 ? null : find(path.slice(0, length));
    if (isEmpty && owner) {
      const written = Array.isArray(copy) ? (copy[0] as Json) : (copy as { [key: string]: Json })[key as string];
      const start = text.slice(0, node.start).trimEnd().length;
      replace(start, node.end, "");
      const emptied = find(path.slice(0, length));
      if (emptied) fill(emptied, path.slice(0, length), (indent) => block(key, written as Json, indent));
      return;
    }
    replace(node.start, node.end, flowText(copy));
  };

  /** Writes the first children of a key without a value. */
  const fill = (entry: YamlEntry | YamlItem, path: Path, written: (indent: string) => string) => {
    const eol = lineBreakOf(text);
    const lineEnd = entry.end;
    const open = lineEnd > 0 && text[lineEnd - 1] === "\n" ? "" : eol;
    const depth = columnOf(path);
    replace(lineEnd, lineEnd, open + written(" ".repeat(depth + step())));
  };

  /** Adds to the end of a mapping or list. */
  const insert = (parent: YamlNode | null, written: (indent: string) => string) => {
    const eol = lineBreakOf(text);
    if (parent === null) {
      const end = text.length;
      const open = text === "" || text === "\ufeff" || text.endsWith("\n") ? "" : eol;
      return replace(end, end, open + written(""));
    }
    const indent = parent.kind === "map" || parent.kind === "list" ? parent.indent : 0;
    const open = parent.end > 0 && text[parent.end - 1] === "\n" ? "" : eol;
    replace(parent.end, parent.end, open + written(" ".repeat(indent)));
  };

  const replaceValue = (entry: YamlEntry | YamlItem, key: Path[number], value: Json) => {
    const isSimple = value === null || typeof value !== "object";
    if (isSimple && entry.node && (entry.node.kind === "scalar" || entry.node.kind === "flow")) {
      const isBlock = /^[|>]/.test(text.slice(entry.node.start));
      const end = isBlock ? text.slice(0, entry.node.end).trimEnd().length : entry.node.end;
      return replace(entry.node.start, end, scalar(value));
    }
    if ("colon" in entry && entry.node === null && isSimple) {
      return replace(entry.colon, entry.colon, ` ${scalar(value)}`);
    }
    const line = text.slice(entry.start, entry.end);
    const indent = /^ */.exec(line)?.[0] ?? "";
    const isInline = entry.start !== text.lastIndexOf("\n", entry.start - 1) + 1 && text[entry.start - 1] !== "\ufeff";
    const written = block(
      key,
      value,
      isInline ? " ".repeat(entry.start - text.lastIndexOf("\n", entry.start - 1) - 1) : indent,
    );
    const added = isInline ? written.trimStart() : written;
    replace(entry.start, entry.end, line.endsWith("\n") ? added : added.replace(/\r?\n$/, ""));
  };

  const remove = (path: Path) => {
    const flow = flowAbove(path);
    if (flow) {
      const copy = structuredClone(flow.node.value) as Json;
      assign(copy, path.slice(flow.length), undefined);
      if (JSON.stringify(copy) !== JSON.stringify(flow.node.value))
        replace(flow.node.start, flow.node.end, flowText(copy));
      return;
    }
    const entry = find(path);
    if (!entry) return;
    const parent = path.length === 1 ? root : find(path.slice(0, -1))?.node;
    const siblings = parent?.kind === "map" ? parent.entries : parent?.kind === "list" ? parent.items : [];
    if (siblings.length === 1 && path.length > 1 && parent) {
      // A parent without children would become null, which is not the same as an empty collection.
      const owner = find(path.slice(0, -1));
      const empty = parent.kind === "map" ? "{}" : "[]";
      if (owner && "colon" in owner) {
        const eol = /\r?\n$/.exec(text.slice(owner.start, owner.end))?.[0] ?? "";
        return replace(owner.colon, owner.end, ` ${empty}${eol}`);
      }
    }
    const isInline = text.slice(text.lastIndexOf("\n", entry.start - 1) + 1, entry.start).trim() !== "";
    if (!isInline) return replace(entry.start, entry.end, "");
    // The first key of a list item: the next key takes its place behind the dash.
    const next = siblings[1];
    replace(entry.start, next ? next.start + (/^ */.exec(text.slice(next.start))?.[0].length ?? 0) : entry.end, "");
  };

  const append = (path: Path, value: Json) => {
    const list = find(path)?.node ?? null;
    const current = get(path);
    if (current === undefined) return set(path, [value]);
    if (current === null) {
      const empty = find(path);
      if (empty) return fill(empty, path, (indent) => `${indent}- ${scalar(value)}${lineBreakOf(text)}`);
    }
    if (!Array.isArray(current)) throw wrongType(names(path), "a list", lineOf(path));
    if (list?.kind === "list") return insert(list, (indent) => `${indent}- ${scalar(value)}${lineBreakOf(text)}`);
    if (list?.kind === "flow")
      return replace(list.start, list.end, appendToFlow(text.slice(list.start, list.end), value));
    set(path, [...current, value]);
  };

  const exclude = (path: Path, value: Json) => {
    const list = find(path)?.node;
    if (list?.kind === "flow" && Array.isArray(list.value)) {
      const index = list.value.indexOf(value);
      if (index >= 0) replace(list.start, list.end, flowText(list.value.toSpliced(index, 1)));
    }
    if (list?.kind !== "list") return;
    const item = list.items.find(({ node }) => node && plainValueOf(node) === value);
    if (!item) return;
    if (list.items.length > 1) return replace(item.start, item.end, "");
    const owner = find(path);
    const eol = /\r?\n$/.exec(text.slice(item.start, item.end))?.[0] ?? "";
    if (owner && "colon" in owner) replace(owner.colon, item.end, ` []${eol}`);
  };

  /** Returns the column of the key or dash at the path. */
  const columnOf = (path: Path): number => {
    const entry = find(path);
    if (!entry) return 0;
    const begin = Math.max(text.lastIndexOf("\n", entry.start - 1) + 1, text[0] === "\ufeff" ? 1 : 0);
    return entry.start - begin + (/^ */.exec(text.slice(entry.start))?.[0].length ?? 0);
  };

  /** Returns the number of blanks that the file indents by. */
  const step = () => /\n( +)[^\s#-]/.exec(`\n${text}`)?.[1]?.length ?? 2;

  /** Writes an entry or a list item as lines. */
  const block = (key: Path[number], value: Json, indent: string): string => {
    const eol = lineBreakOf(text);
    if (typeof key !== "string") return listItem(value, indent, eol);
    return entryLines(key, value, indent, eol);
  };

  const entryLines = (key: string, value: Json, indent: string, eol: string): string => {
    if (value === null || typeof value !== "object" || Object.keys(value).length === 0) {
      return `${indent}${scalar(key)}: ${flowText(value)}${eol}`;
    }
    const inner = `${indent}${" ".repeat(step())}`;
    const lines = Array.isArray(value)
      ? value.map((each) => listItem(each, inner, eol))
      : Object.entries(value).map(([name, each]) => entryLines(name, each, inner, eol));
    return `${indent}${scalar(key)}:${eol}${lines.join("")}`;
  };

  const listItem = (value: Json, indent: string, eol: string): string => {
    const isMap = value !== null && typeof value === "object" && !Array.isArray(value) && Object.keys(value).length > 0;
    if (!isMap) return `${indent}- ${flowText(value)}${eol}`;
    const inner = `${indent}  `;
    const lines = Object.entries(value).map(([name, each]) => entryLines(name, each, inner, eol));
    return `${indent}- ${lines.join("").trimStart()}`;
  };

  const lineOf = (path: Path): number => {
    for (let length = path.length; length > 0; length--) {
      const entry = find(path.slice(0, length));
      if (entry) return lineAt(text, entry.start);
    }
    return 1;
  };

  if (root && root.kind !== "map") throw new FormatError("the file must contain a mapping", lineAt(text, root.start));
  return {
    get text() {
      return text;
    },
    get,
    set,
    append,
    remove,
    exclude,
    lineOf,
  };
}

function names(path: Path): string[] {
  return path.map((key) => (typeof key === "string" ? key : key.name));
}

function plainValueOf(node: YamlNode): Json {
  if (node.kind === "map") {
    return Object.fromEntries(node.entries.map(({ key, node }) => [key, node ? plainValueOf(node) : null]));
  }
  if (node.kind === "list") return node.items.map(({ node }) => (node ? plainValueOf(node) : null));
  return node.value;
}

function below(value: Json | undefined, key: Path[number]): Json | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) {
    return typeof key === "string" ? undefined : value.find((each) => below(each, "name") === key.name);
  }
  return typeof key === "string" && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Sets or removes a value below plain values. */
function assign(root: Json, path: Path, value: Json | undefined): void {
  const [key, ...rest] = path;
  if (typeof root !== "object" || root === null || key === undefined) return;
  const known = below(root, key);
  let next = value;
  if (rest.length > 0) {
    if (known === undefined && value === undefined) return;
    next = known ?? (typeof rest[0] === "string" ? {} : []);
    assign(next, rest, value);
  }
  if (Array.isArray(root)) {
    const index = known === undefined ? -1 : root.indexOf(known);
    if (next === undefined) root.splice(index, index < 0 ? 0 : 1);
    else if (known === undefined) root.push(next);
    else root[index] = next;
  } else if (typeof key === "string") {
    if (next === undefined) delete root[key];
    else root[key] = next;
  }
}

/** Writes a scalar: plain if it cannot be read as anything else, and quoted otherwise. */
function scalar(value: Json): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const isPlain =
    /^(?:--)?[A-Za-z_/.][A-Za-z0-9_./@+-]*$/.test(value) &&
    !/^(?:true|false|null|yes|no|on|off|y|n|\.(?:inf|nan))$/i.test(value);
  return isPlain ? value : JSON.stringify(value);
}

function flowText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(flowText).join(", ")}]`;
  if (value === null || typeof value !== "object") return scalar(value);
  const entries = Object.entries(value).map(([key, each]) => `${scalar(key)}: ${flowText(each)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}

function appendToFlow(written: string, value: Json): string {
  const inner = written.slice(1, -1);
  if (inner.trim() === "") return `[${scalar(value)}]`;
  const kept = inner.trimEnd();
  return `[${kept}${kept.endsWith(",") ? "" : ","} ${scalar(value)}${inner.slice(kept.length)}]`;
}
