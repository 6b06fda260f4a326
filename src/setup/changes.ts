/** Applies changes to the text of a file, and takes them back. */
import { isDeepStrictEqual } from "node:util";
import { hunksOf, linesOf } from "./edit/diff.ts";
import { type Format, type Json, openDocument, type Path, type TextDocument } from "./edit/document.ts";
import { FormatError } from "./edit/format-error.ts";
import { sha256 } from "./files.ts";
import { type Change, ENTRY } from "./hosts/host.ts";
import type { AppliedChange, FileRecord } from "./record.ts";

/** Reports whether the text already is as the changes require. */
export function isSatisfied(document: TextDocument, changes: readonly Change[]): boolean {
  return changes.every((change) => isDone(document, change));
}

export function isDone(document: TextDocument, change: Change): boolean {
  const value = document.get(change.path);
  if (change.kind === "set") return value !== undefined && isSameJson(value, change.value);
  if (change.kind === "default") return value !== undefined;
  return Array.isArray(value) && value.some((each) => isSameJson(each, change.value));
}

export function applyChanges(
  format: Format,
  before: string,
  changes: readonly Change[],
): { text: string; applied: AppliedChange[] } {
  const document = openDocument(format, before);
  const expected = plain(document.get([]) ?? {});
  const applied = changes.map((change): AppliedChange => {
    const previous = document.get(change.path);
    const existing = existingKeys(document, change.path);
    if (isDone(document, change)) return { change, applied: false, existing };
    if (change.kind === "include") document.append(change.path, change.value);
    else document.set(change.path, change.value);
    assign(expected, change);
    return { change, applied: true, ...(previous === undefined ? {} : { previous: plain(previous) }), existing };
  });
  // The text is edited by position. This makes sure that nothing else has changed.
  if (format !== "text" && !isSameJson(openDocument(format, document.text).get([]) ?? {}, expected)) {
    throw new FormatError("the file is written in a way that cannot be edited automatically", 1);
  }
  return { text: document.text, applied };
}

/** Returns the text from before the changes of a record. Null when the file did not exist. */
export function takeBack(format: Format, text: string, record: FileRecord): string | null {
  if (sha256(text) === record.sha256) {
    if (!record.existed) return null;
    const lines = linesOf(text);
    for (const { line, removed, added } of record.hunks.toReversed()) lines.splice(line, added, ...removed);
    return lines.join("");
  }
  if (format === "text") throw new FormatError("the file was edited after `sallyport setup` wrote it", 1);
  const document = openDocument(format, text);
  for (const each of record.changes.toReversed()) undo(document, each);
  const isEmpty = Object.keys(document.get([]) ?? {}).length === 0;
  return isEmpty && !record.existed ? null : document.text;
}

/** Takes back a change in a file that was edited since. Values that the user has changed are kept. */
function undo(document: TextDocument, { change, applied, previous, existing }: AppliedChange): void {
  if (!applied) return;
  const { path } = change;
  const current = document.get(path);
  if (change.kind === "include") document.exclude(path, change.value);
  else {
    const isOurs = isEntry(path) || (current !== undefined && isSameJson(current, change.value));
    if (!isOurs || current === undefined) return;
    if (previous === undefined) document.remove(path);
    else document.set(path, previous);
  }
  const shortest = change.kind === "include" && existing === path.length ? path.length : existing;
  for (let length = change.kind === "include" ? path.length : path.length - 1; length > shortest; length--) {
    const value = document.get(path.slice(0, length));
    if (value === undefined || value === null || typeof value !== "object" || Object.keys(value).length > 0) break;
    document.remove(path.slice(0, length));
  }
}

/** Returns the lines in which two texts differ, so that the second can be turned into the first. */
export function hunkRecord(before: string, after: string): FileRecord["hunks"] {
  return hunksOf(before, after).map(({ newLine, removed, added }) => ({ line: newLine, removed, added: added.length }));
}

/** Reports whether a path is that of our entry in the list of servers, which belongs to us as a whole. */
function isEntry(path: Path): boolean {
  const last = path.at(-1);
  return (typeof last === "string" ? last : last?.name) === ENTRY;
}

function existingKeys(document: TextDocument, path: Path): number {
  let length = path.length;
  while (length > 0 && document.get(path.slice(0, length)) === undefined) length--;
  return length;
}

/** Makes the same change to plain values. */
function assign(root: Json, change: Change): void {
  let parent: Json = root;
  const keys = change.path.slice(0, -1);
  for (const [index, key] of keys.entries()) {
    const next: Json = typeof change.path[index + 1] === "string" ? {} : [];
    parent = child(parent, key) ?? put(parent, key, next);
  }
  const key = change.path.at(-1) as Path[number];
  if (change.kind !== "include") {
    put(parent, key, change.value);
    return;
  }
  const list = child(parent, key) ?? put(parent, key, []);
  if (Array.isArray(list)) list.push(change.value);
}

function child(parent: Json, key: Path[number]): Json | null {
  if (Array.isArray(parent)) return parent.find((each) => isNamed(each, key)) ?? null;
  if (typeof parent !== "object" || parent === null || typeof key !== "string") return null;
  return Object.hasOwn(parent, key) ? (parent[key] ?? null) : null;
}

function put(parent: Json, key: Path[number], value: Json): Json {
  if (Array.isArray(parent)) {
    const index = parent.findIndex((each) => isNamed(each, key));
    if (index < 0) parent.push(value);
    else parent[index] = value;
  } else if (typeof parent === "object" && parent !== null && typeof key === "string") parent[key] = value;
  return value;
}

function isNamed(value: Json, key: Path[number]): boolean {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject && typeof key !== "string" && value.name === key.name;
}

function plain<T extends Json>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** Compares values without regard to the order of keys. */
export function isSameJson(one: Json, other: Json): boolean {
  return isDeepStrictEqual(plain(one), plain(other));
}
