/** Which files a command would read as code, beyond its own program. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { CommandFact } from "../core/facts.ts";
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
export function codeFiles(fact: CommandFact): CodeFile[] {
  const { name, kind } = fact.executable;
  if (name === null || fact.cwd === null || fact.remote) return [];
  const family = familyOf(name);
  const runsCode = SHELLS.has(family) || INTERPRETERS.has(family) || RUNNERS.has(family);
  if (!runsCode && !PROJECT_FILES.has(family) && !(kind === "builtin" && SOURCING.has(name))) return [];
  const { cwd } = fact;
  const found = new Map<string, CodeFile["role"]>();
  const folders = [cwd];
  const words = fact.argv.slice(1).map((word) => word.value ?? word.prefix);
  const inputs = fact.redirects.flatMap((redirect) =>
    redirect.kind === "read" && redirect.path ? [redirect.path] : [],
  );
  for (const candidate of [...words.flatMap(pathsIn), ...modulesIn(words), ...inputs]) {
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
function modulesIn(words: readonly string[]): string[] {
  const at = words.indexOf("-m");
  const module = at < 0 ? undefined : words[at + 1];
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
