/** Finds the paths that a word or a text may name, and expands globs, within limits. */
import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { compileGlob } from "../text/glob.ts";

/** Longer words are not paths: the kernel limits a path to 4096 bytes. */
const MAX_PATH_LENGTH = 4096;
/** Characters that separate paths from other text in shell text, code, lists and options. */
const SEPARATORS = /[\s"'`<>|&;(){}[\],:=@\0]+/;

/**
 * Returns the parts of one word that may be paths: `x.sh`, `--file=x.sql`, `-fx.mk`, `@body.json`, `name=@x`. A word
 * that is code (`exec(open('x.py').read())`) or a list is only searched by `pathsInText`.
 */
export function pathsInWord(word: string): string[] {
  if (word === "" || word.length > MAX_PATH_LENGTH) return [];
  const found = [word];
  if (/^-[^-]./.test(word)) found.push(word.slice(2));
  for (let at = word.indexOf("="); at > 0; at = word.indexOf("=", at + 1)) found.push(word.slice(at + 1));
  return found.flatMap((path) => (/^[@<]./.test(path) ? [path, path.slice(1)] : [path])).filter(Boolean);
}

/** Returns the parts of a text that may be paths, at most `limit` of them, and whether there were more. */
export function pathsInText(text: string, limit: number): { paths: string[]; complete: boolean } {
  const found = new Set<string>();
  let rest = text;
  while (rest !== "") {
    // Split in pieces: the text of a request can have megabytes.
    const cut = rest.length <= CHUNK ? rest.length : Math.max(rest.lastIndexOf("\n", CHUNK), 0) || CHUNK;
    for (const token of rest.slice(0, cut).split(SEPARATORS)) {
      for (const path of tokenPaths(token)) found.add(path);
      if (found.size > limit) return { paths: [...found].slice(0, limit), complete: false };
    }
    rest = rest.slice(cut);
  }
  return { paths: [...found], complete: true };
}

const CHUNK = 64 << 10;

function tokenPaths(token: string): string[] {
  if (token === "" || token.length > MAX_PATH_LENGTH || token === "." || token === "/") return [];
  const paths = [token];
  if (/^-[^-]./.test(token)) paths.push(token.slice(2));
  // The folder in `$DIR/lib.sh` and `$(dirname "$0")/lib.sh` is most often the folder of the script.
  const rest = /^(?:\$\w+)?\/+(.+)$/.exec(token)?.[1];
  if (rest !== undefined) paths.push(rest);
  return paths;
}

export type PathKind = "file" | "folder" | "other";

/** Returns what a path refers to, with symbolic links followed. Null when it does not exist. */
export function kindOf(path: string): PathKind | null {
  try {
    const status = statSync(path, { throwIfNoEntry: false });
    if (!status) return null;
    return status.isFile() ? "file" : status.isDirectory() ? "folder" : "other";
  } catch {
    return null; // For example a component that is not a folder, or a name that is too long.
  }
}

/** The number of lookups in a folder before its names are read. A folder may have very many entries. */
const LOOKUPS = 8;

interface Folder {
  lookups: number;
  /** The names in lower case, if they were read. */
  names: ReadonlySet<string> | null;
}

/**
 * Finds files among many possible paths, most of which do not exist: a text such as a list of certificates has thousands
 * of words. The names of a folder in which many files are looked up are read once.
 */
export class FileLookup {
  readonly #folders = new Map<string, Folder>();

  /** Returns the files that one of the folders has under a path with one of the endings. */
  find(path: string, folders: readonly string[], endings: readonly string[]): string[] {
    // Only a plain name is compared with names of the folder: file systems have different rules for other characters.
    const isName = /^[\w.-]+$/.test(path) && path !== "..";
    return folders.flatMap((folder) => {
      const names = isName ? this.#namesOf(folder) : null;
      const present = names ? endings.filter((ending) => names.has((path + ending).toLowerCase())) : endings;
      return present.map((ending) => resolve(folder, path) + ending).filter((file) => kindOf(file) === "file");
    });
  }

  #namesOf(path: string): ReadonlySet<string> | null {
    const folder = this.#folders.get(path) ?? { lookups: 0, names: null };
    this.#folders.set(path, folder);
    if (++folder.lookups === LOOKUPS) folder.names = namesOf(path);
    return folder.names;
  }
}

/** Returns the names in lower case. Null if the folder cannot be read, in which files may exist all the same. */
function namesOf(folder: string): Set<string> | null {
  try {
    return new Set(readdirSync(folder).map((name) => name.toLowerCase()));
  } catch {
    return null;
  }
}

/**
 * Returns the paths that match a glob now, at most `limit` of them, and whether there were more. It matches at least
 * what the shell would match: names with a leading dot are included, `[ab]` matches any character, and an extended
 * pattern such as `!(x)` any name.
 */
export function expandGlob(pattern: string, cwd: string, limit: number): { paths: string[]; complete: boolean } {
  let complete = true;
  let folders = [pattern.startsWith("/") ? "/" : cwd];
  const parts = pattern.split("/").filter(Boolean);
  for (const [index, part] of parts.entries()) {
    const next: string[] = [];
    for (const folder of folders) {
      if (next.length > limit) break;
      if (!/[*?[(]/.test(part)) next.push(resolve(folder, part.replaceAll("\\", "")));
      else if (part === "**") next.push(folder, ...foldersBelow(folder, limit - next.length));
      else next.push(...matchesIn(folder, part));
    }
    if (next.length > limit) complete = false;
    const last = index === parts.length - 1;
    folders = next.slice(0, limit).filter((path) => kindOf(path) !== null && (last || kindOf(path) === "folder"));
  }
  return { paths: [...new Set(folders)].sort(), complete };
}

function matchesIn(folder: string, part: string): string[] {
  const matches = part.includes("(")
    ? () => true
    : compileGlob(part.replace(/\[[^\]]+\]/g, "?").replace(/\\(.)/g, "$1"), { segments: true });
  return namesIn(folder)
    .filter(matches)
    .map((name) => join(folder, name));
}

function foldersBelow(folder: string, limit: number): string[] {
  const found: string[] = [];
  const open = [folder];
  for (let at = open.pop(); at !== undefined && found.length <= limit; at = open.pop()) {
    for (const name of namesIn(at)) {
      const path = join(at, name);
      if (kindOf(path) !== "folder" || found.includes(path)) continue;
      found.push(path);
      if (path.split("/").length < MAX_DEPTH) open.push(path);
    }
  }
  return found;
}

/** Folders that link to each other have no end. */
const MAX_DEPTH = 64;

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
