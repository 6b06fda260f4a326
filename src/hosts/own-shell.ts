import { accessSync, closeSync, constants, openSync, readFileSync, readSync, realpathSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { isWithin } from "../sandbox/workspace.ts";
import { quoteArgv, splitWords } from "../shell/quote.ts";

/** The relative path is the same from src/ and dist/. */
const BIN = fileURLToPath(new URL("../../bin/", import.meta.url));
const MAX_SHIM_BYTES = 4096;

/** The Node that the native client runs, as native/install.js has recorded it. */
const RECORDED_NODE = fileURLToPath(new URL("../../native/build/node-path", import.meta.url));

/** Returns the program `sallyport` with absolute paths, which do not depend on the PATH of a host. */
export function ownProgram(): string[] {
  return installedClient() ?? nodeProgram();
}

function nodeProgram(): string[] {
  return [process.execPath, join(BIN, "sallyport.js")];
}

/** Returns the native client if npm has installed it and it does not need the PATH of a host, and null otherwise. */
function installedClient(): string[] | null {
  const path = join(BIN, "sallyport.cjs");
  const start = Buffer.alloc(4);
  try {
    statSync(readFileSync(RECORDED_NODE, "utf8").trimEnd());
    const fd = openSync(path, "r");
    try {
      readSync(fd, start);
    } finally {
      closeSync(fd);
    }
  } catch {
    return null;
  }
  return start.toString("latin1") === "\x7fELF" ? [path] : null;
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
  const [program = "", ...rest] = line === undefined ? [] : (splitWords(line) ?? []);
  // Only words without anything that a shell expands.
  if (quoteArgv([program, ...rest]) !== line || rest.at(-1) !== "sh") return false;
  const [node, own = ""] = nodeProgram();
  if (program !== node) return program === installedClient()?.[0];
  return realPathOf(rest[0] ?? "") === realPathOf(own);
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
