/**
 * The binding of an approval (invariant 2): everything that determines what runs, down to the bytes of the programs and
 * scripts.
 *
 * A binding is computed when approval is requested and again right before launch; any difference requires a new
 * approval. A window remains between that second check and execve, in which a running process with write access to a
 * script can change it. The sandbox protects system programs from this, but not files in the workspace.
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
  /** The path as the command would open it; symbolic links are not resolved. */
  path: string;
  role: "script" | "project file";
}

const SOURCING = new Set([".", "source"]);
/** Files that interpreters run when their argument is a folder. */
const ENTRY_FILES = ["index.js", "index.ts", "main.js", "mod.ts", "main.go", "__main__.py"];
/** Extensions that interpreters add: `node x` runs `x.js`. */
const ENDINGS = ["", ".js", ".mjs", ".cjs", ".ts", ".py"];

/**
 * Returns the files named in the arguments of a shell, interpreter or runner, those redirected to its stdin, and the
 * project files it would find. Files that these scripts read are not included; docs/approvals.md documents this limit.
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
    // For example `make -C sub`, `node .`, `npm --prefix sub run x`.
    if (kindOf(path) === "folder") {
      files.push(...ENTRY_FILES.map((file) => resolve(path, file)));
      if (path !== cwd) folders.push(path);
    }
    for (const file of files) if (kindOf(file) === "file") found.set(file, "script");
  }
  for (const file of PROJECT_FILES.get(family) ?? []) {
    for (const folder of folders) {
      const path = resolve(folder, file);
      if (!found.has(path) && kindOf(path) === "file") found.set(path, "project file");
    }
  }
  return [...found].map(([path, role]) => ({ path, role }));
}

/** Returns the parts of an argument that may be paths: `x.sh`, `--file=x.sql`, `-fx.mk`. */
function pathsIn(argument: string): string[] {
  if (argument === "" || argument.length > 4096) return [];
  if (!argument.startsWith("-")) return [argument];
  const at = argument.indexOf("=");
  if (at > 0) return [argument.slice(at + 1)];
  return argument.startsWith("--") || argument.length < 3 ? [] : [argument.slice(2)];
}

/** Returns the files that `python -m tool.run` may load: a module in the folder shadows an installed one. */
function modulesIn(args: readonly string[]): string[] {
  const at = args.indexOf("-m");
  const module = at < 0 ? undefined : args[at + 1];
  if (!module || !/^[\w.]+$/.test(module)) return [];
  const path = module.replaceAll(".", "/");
  return [`${path}.py`, `${path}/__main__.py`, `${path}/__init__.py`];
}

function kindOf(path: string): "file" | "folder" | null {
  try {
    const status = statSync(path);
    return status.isDirectory() ? "folder" : "file";
  } catch {
    return null;
  }
}

interface BindingInput {
  /** The command as requested. */
  command: string;
  /** The arguments as executed. */
  argv: readonly string[];
  /** The program that is executed; bash for shell text. */
  file: string;
  cwd: string;
  /** The complete environment of the command. */
  env: Readonly<Record<string, string>>;
  facts: readonly CommandFact[];
  lookup: Lookup;
  /** The complete text for stdin, which is code to `bash -s` or `python -`. */
  stdin?: string | null;
  /** The sandbox as shown to the approver. */
  confinement?: string;
}

interface BoundFile {
  /** The name by which the command refers to the file. */
  name: string;
  role: CoveredFile["role"];
  /** The path with symbolic links resolved. Null when the file does not exist. */
  path: string | null;
  identity: FileIdentity | null;
}

export interface Binding {
  command: string;
  argv: string;
  cwd: { path: string; real: string | null; dev: string; ino: string };
  env: {
    sha256: string;
    /** A few digits of the hash of each value: enough to say which variable changed, too few to guess the value. */
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
    // `#!/usr/bin/env python3` finds the interpreter on PATH, where an agent may have placed another one first.
    if (interpreter.endsWith("/env") && argument && !argument.startsWith("-")) {
      add(argument, findProgram(argument, input.cwd, input), "interpreter");
    }
  };
  program(input.file, findProgram(input.file, input.cwd, input));
  for (const fact of input.facts) {
    const { written, resolved, kind } = fact.executable;
    if (fact.remote) continue;
    if (written !== null && (kind === "external" || kind === "not-found")) {
      // A relative path such as `./x` depends on the working directory.
      const name = written.includes("/") && fact.cwd !== null ? resolve(fact.cwd, written) : written;
      const found = findProgram(name, fact.cwd, input);
      program(name, found);
      // Shell text that changes PATH may run other programs than those on the PATH of the request.
      if (resolved !== null && resolved !== found) program(resolved, resolved);
    }
    for (const { path, role } of codeFiles(fact)) add(path, input.lookup.realpath(path), role);
  }
  return [...files.values()];
}

const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/**
 * Returns the program that execvp would find now. Neither the lookup's PATH search, which is cached, nor the facts,
 * which may be as old as the approval request, would reveal a program that has since been placed earlier on PATH.
 */
function findProgram(name: string, cwd: string | null, { env, lookup }: BindingInput): string | null {
  if (name.includes("/")) return lookup.which(name, cwd);
  for (const folder of (env.PATH ?? DEFAULT_PATH).split(":")) {
    // Empty and relative entries of PATH are resolved against the working directory.
    if (!folder.startsWith("/") && cwd === null) continue;
    const found = lookup.which(resolve(cwd ?? "/", folder, name), cwd);
    if (found !== null) return found;
  }
  return null;
}

/** Describes what changed, one clause per change, such as "the command changed". Empty when nothing did. */
export function differences(before: Binding, after: Binding): string[] {
  const changed: string[] = [];
  if (before.command !== after.command) changed.push("the command changed");
  else if (before.argv !== after.argv) changed.push("the arguments changed");
  if (!isDeepStrictEqual(before.cwd, after.cwd)) changed.push(folderChange(before.cwd, after.cwd));
  if (before.env.sha256 !== after.env.sha256) changed.push(...environmentChanges(before.env.names, after.env.names));
  if (before.stdin !== after.stdin) changed.push("the text for stdin changed");
  if (before.confinement !== after.confinement) {
    changed.push(`the sandbox changed from ${before.confinement ?? "none"} to ${after.confinement ?? "none"}`);
  }
  return [...changed, ...fileChanges(before.files, after.files)];
}

function folderChange(before: Binding["cwd"], after: Binding["cwd"]): string {
  if (before.path !== after.path) return `the working directory changed from ${before.path} to ${after.path}`;
  if (after.real === null) return `the working directory ${before.path} no longer exists`;
  if (before.real !== after.real) return `the working directory ${before.path} now resolves to ${after.real}`;
  return `the working directory ${before.path} was replaced by another folder`;
}

function environmentChanges(before: Record<string, string>, after: Record<string, string>): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const changes = names.flatMap((name) => {
    if (!Object.hasOwn(after, name)) return [`the environment variable ${name} was removed`];
    if (!Object.hasOwn(before, name)) return [`the environment variable ${name} was added`];
    return before[name] === after[name] ? [] : [`the environment variable ${name} changed`];
  });
  return changes.length > 0 ? changes : ["the value of an environment variable changed"];
}

/**
 * Indexes files by role and name. One name can refer to several files in one command (`PATH=/x ls; ls`), which are
 * numbered so that each is compared with its own predecessor.
 */
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
  const gone = [...then]
    .filter(([key]) => !now.has(key))
    .map(([, { role, name }]) => `the ${role} ${name} no longer exists`);
  const rest = [...now].flatMap(([key, file]) => {
    const old = then.get(key);
    if (old) return fileChange(old, file);
    return before.some(({ path }) => path === file.path) ? [] : [`the ${file.role} ${file.name} was added`];
  });
  return [...gone, ...rest];
}

function fileChange(before: BoundFile, after: BoundFile): string[] {
  const what = `${after.role} ${after.name}`;
  if (before.path !== after.path) {
    if (after.path === null) return [`the ${what} no longer exists`];
    return [`the ${what} now resolves to ${after.path} (previously ${before.path ?? "not found"})`];
  }
  if (isSameFile(before.identity, after.identity)) return [];
  if (after.identity === null) return [`the ${what} no longer exists`];
  if (before.identity?.mode !== after.identity.mode) return [`the permissions or owner of the ${what} changed`];
  return [`the content of the ${what} changed`];
}

/**
 * Returns a hash. Two bindings have the same hash exactly when there are no differences between them. The hash
 * identifies repeated requests.
 */
export function fingerprint(binding: Binding): string {
  const files = binding.files.map(({ name, role, path, identity }) => {
    if (identity === null || identity.sha256 === null) return { name, role, path, identity };
    return { name, role, path, mode: identity.mode, sha256: identity.sha256 };
  });
  return sha256(JSON.stringify({ ...binding, files }));
}
