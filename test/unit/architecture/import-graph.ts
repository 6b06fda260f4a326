import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

export const ROOT = join(import.meta.dirname, "../../..");

/** Matches static imports and re-exports (types too), imports for side effects, and `import()` of a literal path. */
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^;"']*?\bfrom\s+["'](\.[^"']+)["']|\bimport\(\s*["'](\.[^"']+)["']\s*\)|(?:^|\n)import\s+["'](\.[^"']+)["']/g;

/** Returns the TypeScript files below a folder of the repository, as paths from its root. */
export function sourceFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort();
}

/** Returns the files that a file imports, as paths from the root of the repository. */
export function importsOf(file: string, text = readFileSync(join(ROOT, file), "utf8")): string[] {
  const specifiers = [...text.matchAll(IMPORT)].flatMap(([, from, lazy, bare]) => from ?? lazy ?? bare ?? []);
  return [...new Set(specifiers.map((specifier) => join(dirname(file), specifier)))];
}

/** Returns the folder of src/ that a file is in: `policy` for `src/policy/rules/disk.ts`, null for `src/index.ts`. */
export function folderOf(file: string): string | null {
  const [root, folder, ...rest] = file.split("/");
  return root === "src" && folder !== undefined && rest.length > 0 ? folder : null;
}

/** Returns the strongly connected parts of an import graph that have more than one file (Tarjan's algorithm). */
export function cyclesIn(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();
  const cycles: string[][] = [];
  const visit = (file: string): void => {
    order.set(file, order.size);
    lowest.set(file, order.size - 1);
    stack.push(file);
    onStack.add(file);
    for (const next of graph.get(file) ?? []) {
      if (!graph.has(next)) continue;
      if (!order.has(next)) visit(next);
      if (onStack.has(next)) lowest.set(file, Math.min(lowest.get(file) ?? 0, lowest.get(next) ?? 0));
    }
    if (lowest.get(file) !== order.get(file)) return;
    const cycle = stack.splice(stack.indexOf(file));
    for (const member of cycle) onStack.delete(member);
    if (cycle.length > 1) cycles.push(cycle.sort());
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return cycles;
}
