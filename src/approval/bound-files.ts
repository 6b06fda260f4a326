/**
 * Determines the files that decide what a command does (invariant 2): those that its words name or match, those that
 * its programs read without being given their names, and those that these files name in turn, one level deep.
 *
 * What cannot be checked again before the launch is returned as text for the approver.
 */

import { dirname, join, resolve } from "node:path";
import { callerEnv } from "../core/caller.ts";
import type { CommandFact, Word } from "../core/facts.ts";
import { matchesGlob } from "../text/glob.ts";
import { namesCode, namesCodeFolders } from "./code-variables.ts";
import { readText } from "./file-identity.ts";
import { expandGlob, FileLookup, kindOf, pathsInText, pathsInWord } from "./file-references.ts";
import { listFolder } from "./folder-listing.ts";
import { implicitFiles } from "./implicit-files.ts";
import { DATA_PROGRAMS, familyOf, INTERPRETERS, RUNNERS, SHELLS, WRAPPERS } from "./programs.ts";

export type FileRole = "script" | "project file" | "file";

export interface FilesInput {
  facts: readonly CommandFact[];
  /**
   * Set when the command cannot be analyzed or exceeds its sandbox: then every file named anywhere in the request
   * counts, not only those that are code to a known program.
   */
  thorough: boolean;
  /** The texts of the request: the command, its arguments and its stdin. */
  texts: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Names of the environment variables that the request sets. */
  addedEnv: readonly string[];
}

/** The maximum number of files that are read for one approval. */
const MAX_FILES = 1000;
/** The maximum number of words of one text, and of one request, that are tried as paths. */
const MAX_WORDS = 4000;
const MAX_TRIES = 40_000;
/** Larger files are data. */
const MAX_SCRIPT_BYTES = 256 << 10;

const SOURCING = new Set([".", "source", "eval"]);
/** Commands whose folder arguments decide nothing about the content that is read. */
const NOT_LISTED = new Set([
  "cd",
  "pushd",
  "mkdir",
  "rmdir",
  "rm",
  "touch",
  "chmod",
  "chown",
  "test",
  "[",
  "[[",
  "mktemp",
]);
/** Programs that read their working directory if no folder is given. */
const LISTERS = new Set(["ls", "dir", "vdir", "find", "fd", "fdfind", "tree"]);
/** Files that interpreters run when their argument is a folder. */
const ENTRY_FILES = ["index.js", "index.ts", "main.js", "mod.ts", "main.go", "__main__.py"];
/** Extensions that interpreters add: `node x` runs `x.js`. */
const ENDINGS = ["", ".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".pm", ".lua", ".sh"];
/** Files with these endings are data when a script names them. */
const DATA_ENDINGS = /\.(?:log|txt|md|csv|tsv|out|err|pid|lock|db|sqlite3?|png|jpe?g|gif|svg|pdf|gz|zip|tar|o|a)$/i;
/** Programs and libraries of the system. A script names many of them, and agents cannot change them. */
const SYSTEM = /^\/(?:usr|bin|sbin|lib\w*|dev|proc|sys|run)\//;

export class BoundFiles {
  /** The files by absolute path, as the command would open them; symbolic links are not resolved. */
  readonly files = new Map<string, FileRole>();
  /** Folders from which code is loaded. */
  readonly folders = new Set<string>();
  /** What cannot be checked again, for the approver. */
  readonly unbound = new Set<string>();
  readonly #input: FilesInput;
  readonly #lookup = new FileLookup();
  #tries = 0;

  constructor(input: FilesInput) {
    this.#input = input;
    const places = new Set([input.cwd]);
    for (const fact of input.facts) {
      this.#addFact(fact);
      if (fact.cwd !== null && !fact.remote) places.add(fact.cwd);
    }
    this.#addEnvironment();
    if (input.thorough) for (const text of input.texts) this.#addText(text, [...places]);
  }

  #addFact(fact: CommandFact): void {
    const { thorough } = this.#input;
    const name = fact.executable.name ?? "";
    if (fact.remote) {
      this.unbound.add(`files on another machine or in a container (${fact.via.at(-1) ?? name})`);
      return;
    }
    const family = familyOf(name);
    const runsCode = SHELLS.has(family) || INTERPRETERS.has(family) || RUNNERS.has(family) || SOURCING.has(name);
    if (thorough) for (const host of fact.network) this.unbound.add(`content from ${host}`);
    const { cwd } = fact;
    if (cwd === null) {
      if (thorough || runsCode)
        this.unbound.add(`files in a working directory that is known only at run time (${name})`);
      return;
    }
    const role = runsCode ? "script" : "file";
    const folders = [cwd];
    if (runsCode || thorough || !DATA_PROGRAMS.has(family)) {
      const listed = (runsCode || WRAPPERS.has(family) || thorough) && !fact.wrapper && !NOT_LISTED.has(name);
      folders.push(...this.#addWords(fact, cwd, { role, runsCode, listed, family }));
    }
    const args = values(fact.argv.slice(1));
    for (const each of new Set([family, familyOf(baseOf(fact.executable.resolved) ?? name)])) {
      const home = this.#input.env.HOME ?? null;
      for (const path of implicitFiles(each, { folders, home, args })) this.#add(path, "project file");
    }
  }

  /** Adds the files that the words of a command name or match. Returns the folders among them. */
  #addWords(
    fact: CommandFact,
    cwd: string,
    { role, runsCode, listed, family }: { role: FileRole; runsCode: boolean; listed: boolean; family: string },
  ): string[] {
    const { thorough } = this.#input;
    const folders: string[] = [];
    const written = new Set(runsCode ? [] : [...fact.writes, ...fact.deletes]);
    const named = [...fact.argv.slice(1), ...fact.assignments.map(({ value }) => value)];
    const words = values(named);
    const read = fact.redirects.flatMap(({ kind, path }) => (kind.startsWith("read") && path ? [path] : []));
    const paths = [...words.flatMap(pathsInWord), ...modulesIn(words), ...read];
    // A folder among the arguments may be the one that other arguments are relative to: `make -C sub -f x.mk`.
    for (const path of paths) if (kindOf(resolve(cwd, path)) === "folder") folders.push(resolve(cwd, path));
    for (const path of paths) {
      for (const folder of [cwd, ...folders.slice(0, 4)])
        this.#addPath(resolve(folder, path), role, { runsCode, written });
    }
    if (runsCode || thorough) for (const word of words) this.#addText(word, [cwd, ...folders.slice(0, 4)]);
    for (const word of named) this.#addGlob(word, cwd, role, listed);
    if (runsCode || thorough) this.#noteUnknown(fact);
    if (/^fd|^find$/.test(family) || (thorough && LISTERS.has(family))) {
      this.#addFound(folders.length > 0 ? folders : [cwd], words);
    } else if (listed) {
      for (const folder of folders) this.#addFolder(folder);
    }
    return folders.filter((folder) => folder !== cwd);
  }

  #addGlob(word: Word, cwd: string, role: FileRole, listed: boolean): void {
    if (!word.glob || word.value === null) return;
    const { paths, complete } = expandGlob(word.value, cwd, MAX_FILES);
    if (!complete) this.unbound.add(`more than ${MAX_FILES} files that match ${word.source}`);
    for (const path of paths) {
      const kind = kindOf(path);
      if (kind === "file") this.#add(path, role);
      else if (kind === "folder" && listed) this.#addFolder(path);
    }
  }

  #addPath(path: string, role: FileRole, { runsCode, written }: { runsCode: boolean; written: Set<string> }): void {
    if (written.has(path)) return;
    const kind = kindOf(path);
    if (kind === "file") this.#add(path, role);
    if (kind === "other" && !SYSTEM.test(path)) {
      this.#add(path, role);
      this.unbound.add(`${path}, which is not a regular file`);
    }
    if (!runsCode) return;
    const more =
      kind === "folder" ? ENTRY_FILES.map((name) => join(path, name)) : ENDINGS.slice(1).map((end) => path + end);
    for (const each of more) if (kindOf(each) === "file") this.#add(each, "script");
  }

  /** Adds the files that `find` and `ls` would print, which other commands may run. */
  #addFound(folders: readonly string[], words: readonly string[]): void {
    const names = words.filter((_, index) => /^-i?name$/.test(words[index - 1] ?? ""));
    for (const folder of folders) {
      if (names.length === 0) {
        this.#addFolder(folder);
        continue;
      }
      const { files, left } = listFolder(folder, (name) => names.some((pattern) => matchesName(pattern, name)));
      for (const path of files) if (kindOf(path) === "file") this.#add(path, "file");
      this.#noteFolders(left);
    }
  }

  #addFolder(folder: string): void {
    if (folder !== "/" && !SYSTEM.test(`${folder}/`)) this.folders.add(folder);
    else this.#noteFolders([folder]);
  }

  #noteFolders(left: readonly string[]): void {
    for (const folder of left.slice(0, 8)) this.unbound.add(`files below ${folder}`);
    if (left.length > 8) this.unbound.add(`files below ${left.length - 8} other folders`);
  }

  #noteUnknown({ argv, executable, redirects }: CommandFact): void {
    if (executable.name === "eval") return;
    for (const [index, { value, source }] of argv.entries()) {
      if (index === 0 || value !== null || source === "" || source === "{}" || source.startsWith("<(")) continue;
      // Code rather than the name of a file. Its parts are bound where they come from.
      if (/^-\w*[ce]$/.test(argv[index - 1]?.value ?? "")) continue;
      this.unbound.add(`files whose names are known only at run time (${source})`);
    }
    for (const { kind, path, target } of redirects) {
      if (kind === "read" && path === null && target?.value === null && !target.source.startsWith("<(")) {
        this.unbound.add(`files whose names are known only at run time (${target.source})`);
      }
    }
  }

  #addEnvironment(): void {
    const { env, addedEnv, cwd, thorough } = this.#input;
    for (const [name, value] of Object.entries(env)) {
      if (!namesCode(name) && !addedEnv.includes(name)) continue;
      this.#addText(value, [cwd]);
      if (kindOf(resolve(cwd, value)) === "file") this.#add(resolve(cwd, value), "file");
      if (!namesCodeFolders(name)) continue;
      for (const folder of value.split(":")) {
        if (folder !== "" && kindOf(resolve(cwd, folder)) === "folder") this.#addFolder(resolve(cwd, folder));
      }
    }
    if (!thorough) return;
    for (const { assignments, argv, cwd: at } of this.#input.facts) {
      const exported = argv.flatMap(({ value }) => /^(\w+)=(.+)$/s.exec(value ?? "")?.slice(1, 3) ?? []);
      const pairs = [...assignments.map(({ name, value }) => [name, value.value ?? ""]), exported];
      for (const [name = "", value = ""] of pairs) {
        if (!namesCodeFolders(name)) continue;
        for (const folder of value.split(":")) {
          const path = resolve(at ?? cwd, folder);
          if (folder !== "" && kindOf(path) === "folder") this.#addFolder(path);
        }
      }
    }
  }

  /** Adds the files that a text names, such as code in an argument. */
  #addText(text: string, folders: readonly string[], data = true): void {
    const { paths, complete } = pathsInText(text, MAX_WORDS);
    if (!complete) this.unbound.add(`files named after the first ${MAX_WORDS} words of a text`);
    const home = this.#input.env.HOME;
    for (const path of paths) {
      if (++this.#tries > MAX_TRIES) {
        this.unbound.add(`files named after the first ${MAX_TRIES} words`);
        return;
      }
      const inHome = path.startsWith("~/") && home !== undefined;
      const named = inHome ? path.slice(2) : path;
      const endings = /^[\w.-]*$/.test(path) ? ENDINGS : [""];
      for (const file of this.#lookup.find(named, inHome ? [home] : folders, endings)) {
        if (SYSTEM.test(file) || (!data && DATA_ENDINGS.test(file)) || this.files.has(file)) continue;
        this.#add(file, "file");
      }
    }
  }

  /** Adds the files that a script or project file names, such as those it sources, imports or includes. */
  addNamedIn(path: string): void {
    if (SYSTEM.test(path)) return;
    const text = readText(path, MAX_SCRIPT_BYTES);
    if (text !== null) this.#addText(text, [...new Set([dirname(path), this.#input.cwd])], false);
  }

  #add(path: string, role: FileRole): void {
    const known = this.files.get(path);
    if (known === undefined && this.files.size >= MAX_FILES) {
      this.unbound.add(`more than ${MAX_FILES} files`);
      return;
    }
    if (known === undefined || (known === "file" && role !== "file") || role === "script") this.files.set(path, role);
  }
}

/**
 * Returns the files that a granted command would read: those its program reads without being given their names, and,
 * unless it only processes data, those that its arguments name.
 */
export function filesOfGrant(executable: string, args: readonly string[], cwd: string): string[] {
  const family = familyOf(baseOf(executable) ?? "");
  const home = callerEnv().HOME ?? null;
  const paths = DATA_PROGRAMS.has(family) ? [] : args.flatMap(pathsInWord).map((path) => resolve(cwd, path));
  const folders = [cwd, ...paths.filter((path) => kindOf(path) === "folder")];
  const found = [...paths.filter((path) => kindOf(path) === "file"), ...implicitFiles(family, { folders, home, args })];
  return [...new Set(found)].sort();
}

function values(words: readonly Word[]): string[] {
  return words.map(({ value, likely, prefix }) => value ?? likely ?? prefix);
}

function baseOf(path: string | null): string | null {
  return path === null ? null : path.slice(path.lastIndexOf("/") + 1);
}

function matchesName(pattern: string, name: string): boolean {
  return matchesGlob(pattern.replace(/\[[^\]]+\]/g, "?").toLowerCase(), name.toLowerCase());
}

/** Returns the files that `python -m tool.run` may load: a module in the folder shadows an installed one. */
function modulesIn(args: readonly string[]): string[] {
  const at = args.indexOf("-m");
  const module = at < 0 ? undefined : args[at + 1];
  if (!module || !/^[\w.]+$/.test(module)) return [];
  const path = module.replaceAll(".", "/");
  return [path, `${path}.py`, `${path}/__main__.py`, `${path}/__init__.py`];
}
