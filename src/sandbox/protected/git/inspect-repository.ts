import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { isWithin } from "../../workspace.ts";
import { parseGitConfig } from "./git-config.ts";
import { gitDirectoriesIn, gitDirectoryOf, isGitData } from "./git-directory.ts";
import { gitFileTarget } from "./linked-worktree.ts";
import { runsProgram } from "./program-settings.ts";
import { readSmallFile } from "./read-small-file.ts";

/** Something in a repository that runs a program when a person uses git there. */
export interface RepositoryFinding {
  file: string;
  /** The setting, or what the file is, such as `hook`. */
  what: string;
  /** Distinguishes a change of the same setting or file from an earlier finding. */
  version?: string;
}

/**
 * Returns the programs that git would run in a repository. `git` is a `.git` entry or a bare repository. `includes`
 * selects the git directories to inspect: that of the repository, and those of its submodules and worktrees.
 */
export function inspectRepository(git: string, includes: (directory: string) => boolean): RepositoryFinding[] {
  const directory = gitDirectoryOf(git);
  if (directory === null) return [];
  const { found } = gitDirectoriesIn(directory, isWorktreeFolder(directory));
  return found
    .filter(({ path }) => includes(path))
    .flatMap(({ path, isWorktree }) => inspectDirectory(path, isWorktree, dirname(git)));
}

/** Reports whether a git directory is the folder of a linked worktree, by its place and its link to the repository. */
function isWorktreeFolder(directory: string): boolean {
  return dirname(directory).endsWith("/worktrees") && readSmallFile(join(directory, "commondir"))?.text === "../..\n";
}

function inspectDirectory(directory: string, isWorktree: boolean, workingTree: string): RepositoryFinding[] {
  const found: RepositoryFinding[] = [];
  const commondir = join(directory, "commondir");
  const redirect = gitFileTarget(commondir, "");
  if (exists(commondir) && !(isWorktree && redirect === dirname(dirname(directory)))) {
    found.push({ file: commondir, what: "another repository's hooks and settings" });
  }
  for (const name of ["config", "config.worktree"]) {
    found.push(...inspectConfig(join(directory, name), workingTree));
    // Git reads the settings of the folder that `commondir` names.
    if (redirect !== null && !isWorktree) found.push(...inspectConfig(join(redirect, name), workingTree));
  }
  return [...found, ...inspectHooks(join(directory, "hooks")), ...inspectData(directory)];
}

/**
 * Returns what is dangerous in the data of a git directory, which commands can write even in a protected repository: an
 * unfinished rebase that runs commands, links to files that git then writes to (a log, for example, contains the names
 * of branches), and remotes outside `config`, because a push to a local repository runs its hooks.
 */
export function inspectData(directory: string): RepositoryFinding[] {
  const folders = ["", "logs", "logs/refs", "logs/refs/heads"].map((name) => join(directory, name));
  const links = folders.flatMap(linksIn).filter((link) => dirname(link) !== directory || isGitData(basename(link)));
  return [
    ...inspectTodo(join(directory, "rebase-merge/git-rebase-todo")),
    ...links.flatMap((link) => inspectLink(link, directory)),
    ...["remotes", "branches"].flatMap((name) => inspectRemotes(join(directory, name))),
  ];
}

function linksIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isSymbolicLink() ? [join(folder, entry.name)] : []));
  } catch {
    return [];
  }
}

function inspectConfig(file: string, workingTree: string): RepositoryFinding[] {
  if (!exists(file)) return [];
  const text = readSmallFile(file)?.text;
  if (text === undefined) return [{ file, what: "settings that cannot be inspected" }];
  return parseGitConfig(text).flatMap((setting) => {
    const isElsewhere =
      setting.key === "core.worktree" && !isWithin(resolve(dirname(file), setting.value ?? ""), workingTree);
    return isElsewhere || runsProgram(setting) ? [{ file, what: setting.key, version: setting.value ?? "" }] : [];
  });
}

const MAX_FILES = 50;

function inspectHooks(folder: string): RepositoryFinding[] {
  try {
    const names = readdirSync(folder).filter((name) => !/\.sample$|^README/.test(name));
    return filesOf(folder, names, "hook");
  } catch {
    return [];
  }
}

/** Finds the remotes in `remotes` and `branches`, which git still reads but no longer writes. */
function inspectRemotes(folder: string): RepositoryFinding[] {
  try {
    return filesOf(folder, readdirSync(folder), "remote");
  } catch {
    return [];
  }
}

function filesOf(folder: string, names: readonly string[], what: string): RepositoryFinding[] {
  return names.slice(0, MAX_FILES).map((name) => {
    const file = join(folder, name);
    return { file, what, version: String(lstatSync(file).ctimeMs) };
  });
}

/** Finds commands in the instructions of an unfinished rebase, which `git rebase --continue` runs. */
function inspectTodo(file: string): RepositoryFinding[] {
  const text = readSmallFile(file)?.text ?? "";
  return /^\s*(?:x|exec)\s/m.test(text) ? [{ file, what: "exec", version: text }] : [];
}

function inspectLink(path: string, directory: string): RepositoryFinding[] {
  try {
    const target = readlinkSync(path);
    const isInside = !isAbsolute(target) && isWithin(resolve(dirname(path), target), directory);
    return isInside ? [] : [{ file: path, what: "symbolic link" }];
  } catch {
    return [];
  }
}

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
