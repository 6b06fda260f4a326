import { accessSync, constants, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { isWithin } from "../sandbox/workspace.ts";
import { quoteArgv, splitWords } from "../shell/quote.ts";

/** The relative path is the same from src/ and dist/. */
const BIN = fileURLToPath(new URL("../../bin/", import.meta.url));
const MAX_SHIM_BYTES = 4096;

/** Returns the program `sallyport` with absolute paths, which do not depend on the PATH of a host. */
export function ownProgram(): string[] {
  return [process.execPath, join(BIN, "sallyport.js")];
}

/**
 * Returns a script that runs Sallyport's shell. A host finds it as `bash` on its PATH or as `$SHELL`; with absolute
 * paths, it does not depend on the version of Node that is first there. `globals` are options such as `--agent`.
 */
export function shellShim(globals: readonly string[] = []): string {
  return `#!/bin/sh\nexec ${quoteArgv([...ownProgram(), ...globals, "sh"])} "$@"\n`;
}

/**
 * Reports whether the `bash` that a host finds on its PATH is Sallyport's shell. It must be outside the workspace, like
 * all folders that come before it: there, a command of the agent could put another one in its place (invariant 7).
 */
export function hasOwnShell(path: string, workspace: string): boolean {
  for (const folder of path.split(":")) {
    // An empty or relative folder is found from the working directory.
    if (!folder.startsWith("/") || isWithin(normalize(folder), workspace)) return false;
    const real = realPathOf(folder);
    if (real === null) continue;
    if (isWithin(real, workspace)) return false;
    const file = join(real, "bash");
    if (isExecutable(file)) return isOwnShell(file, workspace);
  }
  return false;
}

/** Reports whether a file is Sallyport's shell, and outside of the workspace. */
export function isOwnShell(file: string, workspace: string): boolean {
  const real = realPathOf(file);
  if (real === null || isWithin(real, workspace)) return false;
  return isOwnScript(real) || isShim(real);
}

function isOwnScript(path: string): boolean {
  return dirname(path) === realPathOf(BIN) && /\/sallyport-sh(?:\.c?js)?$/.test(path);
}

function isShim(path: string): boolean {
  return statSync(path).size <= MAX_SHIM_BYTES && isShellShim(readFileSync(path, "utf8"));
}

/** Reports whether a text is a script of `shellShim` that runs this installation. */
export function isShellShim(text: string): boolean {
  const [, line] = /^#!\/bin\/sh\nexec (.+) "\$@"\n$/.exec(text) ?? [];
  const [program = "", script = "", ...rest] = line === undefined ? [] : (splitWords(line) ?? []);
  const [node, own] = ownProgram();
  // Only words without anything that a shell expands.
  if (line === undefined || quoteArgv([program, script, ...rest]) !== line) return false;
  return program === node && realPathOf(script) === realPathOf(own ?? "") && rest.at(-1) === "sh";
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function realPathOf(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}
