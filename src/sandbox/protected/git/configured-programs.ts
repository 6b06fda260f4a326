import { lstatSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isWithin } from "../../workspace.ts";
import { parseGitConfig } from "./git-config.ts";
import { isHooksPath, isInclude, runsProgram, scriptsOf } from "./program-settings.ts";
import { readSmallFile } from "./read-small-file.ts";

/** The maximum number of configuration files that are read through `include`. */
const MAX_FILES = 20;

interface ConfigurationScope {
  workspace: string;
  /** The working tree that relative paths in values refer to. */
  workingTree: string;
  home: string;
}

/** Returns the configuration files that git reads for every repository of a user. */
export function userConfigurations(home: string): string[] {
  return ["/etc/gitconfig", join(home, ".gitconfig"), join(home, ".config/git/config")];
}

/**
 * Returns the paths in a workspace that git executes or reads settings from because its configuration says so: the
 * target of `core.hooksPath`, included files, and scripts in the values of settings. The configuration itself must not
 * be writable for commands.
 */
export function configuredPrograms(files: readonly string[], scope: ConfigurationScope): string[] {
  const { workspace, workingTree, home } = scope;
  const found = new Set<string>();
  const pending = [...files];
  for (let i = 0; i < Math.min(pending.length, MAX_FILES); i++) {
    const file = pending[i] ?? "";
    for (const setting of parseGitConfig(readSmallFile(file)?.text ?? "")) {
      if (!runsProgram(setting) || setting.key.startsWith("alias.")) continue;
      const value = (setting.value ?? "").replace(/^~(?=\/)/, () => home);
      if (isInclude(setting)) {
        const path = resolve(dirname(file), value);
        pending.push(path);
        found.add(path);
      } else if (isHooksPath(setting)) {
        for (const path of hooksPaths(resolve(workingTree, value))) found.add(path);
      } else {
        for (const path of scriptsOf(setting).map((word) => resolve(workingTree, word))) {
          if (isScript(path, workspace)) found.add(path);
        }
      }
    }
  }
  return [...found].filter((path) => isWithin(path, workspace) && path !== workspace);
}

/** Husky generates hooks in `.husky/_` that run the scripts beside it. */
function hooksPaths(path: string): string[] {
  return path.endsWith("/_") ? [path, dirname(path)] : [path];
}

function isScript(path: string, workspace: string): boolean {
  try {
    return isWithin(path, workspace) && lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}
