import { lstatSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isWithin } from "../../workspace.ts";
import { parseGitConfig } from "./git-config.ts";
import { isHooksPath, isInclude, runsProgram, scriptsOf } from "./program-settings.ts";
import { readSmallFile } from "./read-small-file.ts";

/** The maximum number of configuration files that are read through `include`. */
const MAX_FILES = 20;

interface ConfigurationScope {
  /** The folder to which commands can write. */
  root: string;
  /** The working tree that relative paths in values refer to. */
  workingTree: string;
  home: string;
}

/** Returns the configuration files that git reads for every repository of a user. */
export function userConfigurations(home: string): string[] {
  return ["/etc/gitconfig", join(home, ".gitconfig"), join(home, ".config/git/config")];
}

/** A path in the workspace that git executes or reads settings from. */
export interface ConfiguredPath {
  path: string;
  kind: "hooks" | "settings" | "script";
}

/**
 * Returns the paths in a workspace that git executes or reads settings from because its configuration says so: the
 * target of `core.hooksPath`, included files, and scripts in the values of settings. The configuration itself must not
 * be writable for commands.
 */
export function configuredPaths(files: readonly string[], scope: ConfigurationScope): ConfiguredPath[] {
  const { root, workingTree, home } = scope;
  const found = new Map<string, ConfiguredPath["kind"]>();
  const pending = [...files];
  for (let i = 0; i < Math.min(pending.length, MAX_FILES); i++) {
    const file = pending[i] ?? "";
    for (const setting of parseGitConfig(readSmallFile(file)?.text ?? "")) {
      if (!runsProgram(setting) || setting.key.startsWith("alias.")) continue;
      const value = (setting.value ?? "").replace(/^~(?=\/)/, () => home);
      if (isInclude(setting)) {
        const path = resolve(dirname(file), value);
        pending.push(path);
        found.set(path, "settings");
      } else if (isHooksPath(setting)) {
        for (const path of hooksPaths(resolve(workingTree, value))) found.set(path, "hooks");
      } else {
        const scripts = scriptsOf(setting).map((word) => resolve(workingTree, word));
        for (const path of scripts.filter((script) => isScript(script, root))) found.set(path, "script");
      }
    }
  }
  const inside = [...found].filter(([path]) => isWithin(path, root) && path !== root);
  return inside.map(([path, kind]) => ({ path, kind }));
}

/** Husky generates hooks in `.husky/_` that run the scripts beside it. */
function hooksPaths(path: string): string[] {
  return path.endsWith("/_") ? [dirname(path), path] : [path];
}

function isScript(path: string, root: string): boolean {
  try {
    return isWithin(path, root) && lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}
