/**
 * What an approval is bound to (promise 2): exactly what was asked, down to the bytes of the programs and scripts.
 *
 * The binding is taken when a person is asked, and again right before launch; any difference and it is asked again. What
 * remains is the moment between that second look and execve: a process that is already running and may write the script
 * could still change it there. The sandbox keeps it from the programs of the system; nothing here keeps it from its own
 * workspace.
 */
import { createHash } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { CoveredFile } from "../core/approval.ts";
import type { CommandFact } from "../core/facts.ts";
import type { Lookup } from "../shell/lookup.ts";
import { type FileIdentity, identify, isSameFile, ReadingBudget } from "./file-identity.ts";
import { familyOf, INTERPRETERS, PROJECT_FILES, RUNNERS, SHELLS } from "./programs.ts";

interface CodeFile {
  /** As the command would open it: links not followed. */
  path: string;
  role: "script" | "project file";
}

const SOURCING = new Set([".", "source"]);
/** What an interpreter runs when it is given a folder. */
const ENTRY_FILES = ["index.js", "index.ts", "main.js", "mod.ts", "main.go", "__main__.py"];
/** `node x` finds `x.js`. */
const ENDINGS = ["", ".js", ".mjs", ".cjs", ".ts", ".py"];

/**
 * Files named by a shell's, interpreter's or runner's arguments, and the project files it would find by itself. Also
 * what they read on stdin. A file such a script reads in turn is not seen; docs/approvals.md says so.
 */
function codeFiles(fact: CommandFact): CodeFile[] {
  const { name, kind } = fact.executable;
  if (name === null || fact.cwd === null || fact.remote) return [];
  const family = familyOf(name);
  const runsCode = SHELLS.has(family) || INTERPRETERS.has(family) || RUNNERS.has(family);
  if (!runsCode && !PROJECT_FILES.has(family) && !(kind === "builtin" && SOURCING.has(name))) return [];
  const { cwd } = fact;
  const found = new Map<string, CodeFile["role"]>();
  const folders = [cwd];
  const args = fact.argv.slice(1).map((word) => word.value ?? word.prefix);
  const inputs = fact.redirects.flatMap((redirect) =>
    redirect.kind === "read" && redirect.path ? [redirect.path] : [],
  );
  for (const candidate of [...args.flatMap(pathsIn), ...modulesIn(args), ...inputs]) {
    const path = resolve(cwd, candidate);
    const files = ENDINGS.map((ending) => path + ending);
    // `make -C sub`, `node .`, `npm --prefix sub run x`
    if (look(path) === "folder") {
      files.push(...ENTRY_FILES.map((file) => resolve(path, file)));
      if (path !== cwd) folders.push(path);
    }
    for (const file of files) if (look(file) === "file") found.set(file, "script");
  }
  for (const file of PROJECT_FILES.get(family) ?? []) {
    for (const folder of folders) {
      const path = resolve(folder, file);
      if (!found.has(path) && look(path) === "file") found.set(path, "project file");
    }
  }
  return [...found].map(([path, role]) => ({ path, role }));
}

/** `x.sh`, `--file=x.sql`, `-fx.mk`: whatever part of a word may be a path. */
function pathsIn(word: string): string[] {
  if (word === "" || word.length > 4096) return [];
  if (!word.startsWith("-")) return [word];
  const at = word.indexOf("=");
  if (at > 0) return [word.slice(at + 1)];
  return word.startsWith("--") || word.length < 3 ? [] : [word.slice(2)];
}

/** `python -m tool.run`: a module of the folder goes before an installed one. */
function modulesIn(args: readonly string[]): string[] {
  const at = args.indexOf("-m");
  const module = at < 0 ? undefined : args[at + 1];
  if (!module || !/^[\w.]+$/.test(module)) return [];
  const path = module.replaceAll(".", "/");
  return [`${path}.py`, `${path}/__main__.py`, `${path}/__init__.py`];
}

function look(path: string): "file" | "folder" | null {
  try {
    const status = statSync(path);
    return status.isDirectory() ? "folder" : "file";
  } catch {
    return null;
  }
}

interface BindingInput {
  /** As it was asked for. */
  command: string;
  /** As it will be executed. */
  argv: readonly string[];
  /** The program that is executed: bash for shell text. */
  file: string;
  cwd: string;
  /** All of it, as the command will get it. */
  env: Readonly<Record<string, string>>;
  facts: readonly CommandFact[];
  lookup: Lookup;
  /** Text given whole on stdin: to `bash -s` or `python -` it is code. */
  stdin?: string | null;
  /** Under which confinement it was shown to run. */
  confinement?: string;
}

interface BoundFile {
  /** What the command calls it. */
  name: string;
  role: CoveredFile["role"];
  /** Links followed; null: not there. */
  path: string | null;
  identity: FileIdentity | null;
}

export interface Binding {
  command: string;
  argv: string;
  cwd: { path: string; real: string | null; dev: string; ino: string };
  env: {
    sha256: string /** Enough of each value's hash to say which one changed, too little to guess it from. */;
    names: Record<string, string>;
  };
  stdin: string | null;
  confinement: string | null;
  files: BoundFile[];
}

export function bindingOf(input: BindingInput): Binding {
  return {
    command: sha256(input.command),
    argv: sha256(JSON.stringify(input.argv)),
    cwd: folderOf(input.cwd),
    env: environmentOf(input.env),
    stdin: input.stdin === undefined || input.stdin === null ? null : sha256(input.stdin),
    confinement: input.confinement ?? null,
    files: filesOf(input),
  };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function folderOf(path: string): Binding["cwd"] {
  try {
    const real = realpathSync.native(path);
    const { dev, ino } = statSync(real, { bigint: true });
    return { path, real, dev: String(dev), ino: String(ino) };
  } catch {
    return { path, real: null, dev: "", ino: "" };
  }
}

function environmentOf(env: Readonly<Record<string, string>>): Binding["env"] {
  const entries = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = Object.fromEntries(entries.map(([name, value]) => [name, sha256(`${name}=${value}`).slice(0, 4)]));
  return { sha256: sha256(JSON.stringify(entries)), names };
}

function filesOf(input: BindingInput): BoundFile[] {
  const budget = new ReadingBudget();
  const files = new Map<string, BoundFile>();
  const add = (name: string, path: string | null, role: BoundFile["role"]) => {
    const key = `${role} ${name} ${path}`;
    const known = files.get(key);
    if (known) return known;
    const file = { name, role, path, identity: path === null ? null : identify(path, budget) };
    files.set(key, file);
    return file;
  };
  const program = (name: string, path: string | null) => {
    const { identity } = add(name, path, "program");
    const [interpreter = "", argument] = identity?.shebang?.trim().split(/\s+/) ?? [];
    if (interpreter !== "") add(interpreter, input.lookup.realpath(interpreter), "interpreter");
    // `#!/usr/bin/env python3`: the interpreter is found on PATH, where another may be put before it.
    if (interpreter.endsWith("/env") && argument && !argument.startsWith("-")) {
      add(argument, findProgram(argument, input.cwd, input), "interpreter");
    }
  };
  program(input.file, findProgram(input.file, input.cwd, input));
  for (const fact of input.facts) {
    const { written, resolved, kind } = fact.executable;
    if (fact.remote) continue;
    if (written !== null && (kind === "external" || kind === "not-found")) {
      // `./x` means another file in another folder.
      const name = written.includes("/") && fact.cwd !== null ? resolve(fact.cwd, written) : written;
      const found = findProgram(name, fact.cwd, input);
      program(name, found);
      // A text that changes PATH for itself leads elsewhere than PATH does.
      if (resolved !== null && resolved !== found) program(resolved, resolved);
    }
    for (const { path, role } of codeFiles(fact)) add(path, input.lookup.realpath(path), role);
  }
  return [...files.values()];
}

const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/**
 * The program as execvp will find it now. Not by the lookup's own search, which remembers for a while what it found, nor
 * by the facts, which may be as old as the question: a program put before another on PATH must be seen here.
 */
function findProgram(name: string, cwd: string | null, { env, lookup }: BindingInput): string | null {
  if (name.includes("/")) return lookup.which(name, cwd);
  for (const folder of (env.PATH ?? DEFAULT_PATH).split(":")) {
    // An empty or relative entry is searched from the working directory.
    if (!folder.startsWith("/") && cwd === null) continue;
    const found = lookup.which(resolve(cwd ?? "/", folder, name), cwd);
    if (found !== null) return found;
  }
  return null;
}

/** What changed, in words that end "… since it was approved". Empty: nothing. */
export function differences(before: Binding, after: Binding): string[] {
  const changed: string[] = [];
  if (before.command !== after.command) changed.push("the command changed");
  else if (before.argv !== after.argv) changed.push("the arguments changed");
  if (!isDeepStrictEqual(before.cwd, after.cwd)) changed.push(folderChange(before.cwd, after.cwd));
  if (before.env.sha256 !== after.env.sha256) changed.push(...environmentChanges(before.env.names, after.env.names));
  if (before.stdin !== after.stdin) changed.push("the input given on stdin changed");
  if (before.confinement !== after.confinement) {
    changed.push(`the confinement changed from ${before.confinement ?? "none"} to ${after.confinement ?? "none"}`);
  }
  return [...changed, ...fileChanges(before.files, after.files)];
}

function folderChange(before: Binding["cwd"], after: Binding["cwd"]): string {
  if (before.path !== after.path) return `the working directory changed from ${before.path} to ${after.path}`;
  if (after.real === null) return `the working directory ${before.path} is gone`;
  if (before.real !== after.real) return `the working directory ${before.path} now leads to ${after.real}`;
  return `the working directory ${before.path} was replaced by another folder`;
}

function environmentChanges(before: Record<string, string>, after: Record<string, string>): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const changes = names.flatMap((name) => {
    if (!Object.hasOwn(after, name)) return [`the variable ${name} is no longer set`];
    if (!Object.hasOwn(before, name)) return [`the variable ${name} was added`];
    return before[name] === after[name] ? [] : [`the variable ${name} has another value`];
  });
  return changes.length > 0 ? changes : ["the value of a variable changed"];
}

/** The same name may mean several files in one command (`PATH=/x ls; ls`): each is compared with its own predecessor. */
function byName(files: BoundFile[]): Map<string, BoundFile> {
  const named = new Map<string, BoundFile>();
  for (const file of files) {
    let key = `${file.role} ${file.name}`;
    while (named.has(key)) key += "\0";
    named.set(key, file);
  }
  return named;
}

function fileChanges(before: BoundFile[], after: BoundFile[]): string[] {
  const then = byName(before);
  const now = byName(after);
  const gone = [...then].filter(([key]) => !now.has(key)).map(([, { role, name }]) => `the ${role} ${name} is gone`);
  const rest = [...now].flatMap(([key, file]) => {
    const old = then.get(key);
    if (old) return fileChange(old, file);
    return before.some(({ path }) => path === file.path) ? [] : [`the ${file.role} ${file.name} was not there`];
  });
  return [...gone, ...rest];
}

function fileChange(before: BoundFile, after: BoundFile): string[] {
  const what = `${after.role} ${after.name}`;
  if (before.path !== after.path) {
    if (after.path === null) return [`the ${what} is gone`];
    const was = before.path === null ? "was not found" : `was ${before.path}`;
    return [`the ${what} is now ${after.path}, it ${was}`];
  }
  if (isSameFile(before.identity, after.identity)) return [];
  if (after.identity === null) return [`the ${what} is gone`];
  if (before.identity?.mode !== after.identity.mode) return [`the permissions or owner of the ${what} changed`];
  return [`the content of the ${what} changed`];
}

/** Equal exactly when there are no differences: finds the same request among the pending ones. */
export function fingerprint(binding: Binding): string {
  const files = binding.files.map(({ name, role, path, identity }) => {
    if (identity === null || identity.sha256 === null) return { name, role, path, identity };
    return { name, role, path, mode: identity.mode, sha256: identity.sha256 };
  });
  return sha256(JSON.stringify({ ...binding, files }));
}
