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
import type { Verdict } from "../core/policy.ts";
import type { Lookup } from "../shell/lookup.ts";
import { BoundFiles } from "./bound-files.ts";
import { type FileIdentity, identify, isSameFile, ReadingBudget } from "./file-identity.ts";
import { listFolder } from "./folder-listing.ts";

interface BindingInput {
  /** The command as requested. */
  command: string;
  /** The arguments as executed. */
  argv: readonly string[];
  /** The program that is executed; bash for shell text. */
  file: string;
  cwd: string;
  /** Files that a shell runs before the command. */
  sourced?: readonly string[];
  /** The complete environment of the command. */
  env: Readonly<Record<string, string>>;
  facts: readonly CommandFact[];
  /** Set when the command cannot be analyzed or exceeds its sandbox. See `needsAllFiles`. */
  thorough?: boolean;
  /** Names of the environment variables that the request sets. */
  addedEnv?: readonly string[];
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
  /** What may change between approval and launch without being noticed, for the approver. */
  unbound?: string[];
}

/**
 * Reports whether an approval is bound to every file that the request names: it cannot be determined what runs, or it
 * runs with more access than the sandbox gives.
 */
export function needsAllFiles({ analyzable, reasons }: Pick<Verdict, "analyzable" | "reasons">): boolean {
  return !analyzable || reasons.some(({ rule }) => rule.startsWith("sandbox-"));
}

export function bindingOf(input: BindingInput): Binding {
  return {
    command: sha256(input.command),
    argv: sha256(JSON.stringify(input.argv)),
    cwd: folderOf(input.cwd),
    env: environmentOf(input.env),
    stdin: input.stdin === undefined || input.stdin === null ? null : sha256(input.stdin),
    confinement: input.confinement ?? null,
    ...filesOf(input),
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

function filesOf(input: BindingInput): Required<Pick<Binding, "files" | "unbound">> {
  const budget = new ReadingBudget();
  const files = new Map<string, BoundFile>();
  const add = (name: string, path: string | null, role: BoundFile["role"], identity?: FileIdentity | null) => {
    const key = `${role} ${name} ${path}`;
    const known = files.get(key);
    if (known) return known;
    const found = identity === undefined && path !== null ? identify(path, budget) : (identity ?? null);
    const file = { name, role, path, identity: found };
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
  for (const path of input.sourced ?? []) add(path, input.lookup.realpath(path), "script");
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
  }
  const unbound = addReferenced(input, [...files.values()], add);
  return { files: [...files.values()], unbound };
}

/** Adds the files and folders that the command names or reads. Returns what cannot be bound. */
function addReferenced(
  input: BindingInput,
  programs: readonly BoundFile[],
  add: (name: string, path: string | null, role: BoundFile["role"], identity?: FileIdentity | null) => BoundFile,
): string[] {
  const { facts, thorough = false, cwd, env, addedEnv = [], stdin } = input;
  const bound = new BoundFiles({ facts, thorough, texts: [...input.argv, stdin ?? ""], cwd, env, addedEnv });
  const named = [...bound.files.keys()];
  for (const { path, identity } of programs) if (path !== null && identity?.shebang) bound.addNamedIn(path);
  for (const path of named) bound.addNamedIn(path);
  const known = new Set(programs.map(({ path }) => path));
  for (const [path, role] of bound.files) {
    const real = input.lookup.realpath(path);
    if (!known.has(real)) add(path, real, role);
  }
  for (const folder of bound.folders) {
    const { identity, left } = listFolder(folder);
    add(folder, input.lookup.realpath(folder), "folder", identity);
    for (const path of left) bound.unbound.add(`files below ${path}`);
  }
  return [...bound.unbound];
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
  const gone = [...then].filter(([key]) => !now.has(key)).map(([, file]) => file);
  const changes = gone.map((file) => {
    const what = file.role === "interpreter" ? "is no longer used" : "no longer exists";
    return { file, text: `the ${file.role} ${file.name} ${what}` };
  });
  for (const [key, file] of now) {
    const old = then.get(key);
    if (old) changes.push(...fileChange(old, file).map((text) => ({ file, text })));
    else if (!before.some(({ path }) => path === file.path)) {
      changes.push({ file, text: `the ${file.role} ${file.name} was added` });
    }
  }
  const within = (folder: BoundFile) =>
    changes.some(({ file }) => file.role !== "folder" && file.name.startsWith(`${folder.name}/`));
  // A changed file is named once, not also as a change of its folder.
  return changes.filter(({ file }) => file.role !== "folder" || !within(file)).map(({ text }) => text);
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
  return [after.role === "folder" ? `files in the ${what} changed` : `the content of the ${what} changed`];
}

/** Returns the name of a bound file that has changed since, or null when there is none. */
export function changedFile(files: readonly BoundFile[]): string | null {
  const budget = new ReadingBudget();
  const changed = files.find(({ path, role, identity }) => {
    if (path === null) return false;
    return !isSameFile(identity, role === "folder" ? listFolder(path).identity : identify(path, budget));
  });
  return changed?.name ?? null;
}

/**
 * Returns a hash. Two bindings have the same hash exactly when there are no differences between them. The hash
 * identifies repeated requests.
 */
export function fingerprint({ unbound, ...binding }: Binding): string {
  const files = binding.files.map(({ name, role, path, identity }) => {
    if (identity === null || identity.sha256 === null) return { name, role, path, identity };
    return { name, role, path, mode: identity.mode, sha256: identity.sha256 };
  });
  return sha256(JSON.stringify({ ...binding, files }));
}
