import { dirname, join } from "node:path";
import { parseAst } from "vite";

/** The part of the bundler's module graph that is needed here. */
export interface Graph {
  getModuleInfo(
    id: string,
  ): { importedIds: readonly string[]; importers: readonly string[]; code: string | null } | null;
}

interface Node {
  type: string;
  [part: string]: unknown;
}

interface Import {
  source: { value: string };
  specifiers: { type: string; imported?: { name: string }; local: { name: string } }[];
}

/**
 * Returns the candidates that can be evaluated when one of their functions is first called: all other modules import only
 * functions from them and call none of these while they are being evaluated.
 */
export function coldModules(candidates: ReadonlySet<string>, all: ReadonlySet<string>, graph: Graph): Set<string> {
  const cold = new Set(candidates);
  const parsed = new Map<string, Module>();
  const moduleOf = (id: string): Module => {
    const known = parsed.get(id) ?? parse(graph.getModuleInfo(id)?.code ?? "");
    parsed.set(id, known);
    return known;
  };
  for (let before = -1; before !== cold.size; ) {
    before = cold.size;
    for (const id of [...all].filter((one) => !cold.has(one))) {
      const ids = graph.getModuleInfo(id)?.importedIds ?? [];
      for (const { source, specifiers } of moduleOf(id).imports) {
        const from = ids.find((one) => isNamed(one, source.value, id));
        if (from === undefined || !cold.has(from)) continue;
        const { functions } = moduleOf(from);
        const fits = specifiers.every(
          ({ type, imported, local }) =>
            type === "ImportSpecifier" && functions.has(imported?.name ?? "") && !moduleOf(id).atOnce.has(local.name),
        );
        if (!fits) cold.delete(from);
      }
    }
  }
  return cold;
}

function isNamed(id: string, source: string, by: string): boolean {
  return source.startsWith(".") ? id === join(dirname(by), source) : id.includes(`/node_modules/${source}/`);
}

interface Module {
  imports: Import[];
  /** The names of the exported functions. */
  functions: Set<string>;
  /** Every name that is used while the module is evaluated. */
  atOnce: Set<string>;
}

function parse(code: string): Module {
  const { body } = parseAst(code) as unknown as { body: Node[] };
  const imports = body.filter(({ type }) => type === "ImportDeclaration") as unknown as Import[];
  const functions = new Set<string>();
  for (const { type, declaration } of body) {
    if (type !== "ExportNamedDeclaration" || !declaration) continue;
    const declared = declaration as Node & { id?: { name: string } };
    if (declared.type === "FunctionDeclaration") functions.add(declared.id?.name ?? "");
  }
  const atOnce = new Set<string>();
  for (const statement of body) if (statement.type !== "ImportDeclaration") collect(statement, atOnce);
  return { imports, functions, atOnce };
}

const LATER = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

function collect(part: unknown, into: Set<string>): void {
  if (typeof part !== "object" || part === null) return;
  const { type, name } = part as { type?: string; name?: string };
  if (type !== undefined && LATER.has(type)) return;
  if (type === "Identifier" && name !== undefined) into.add(name);
  for (const below of Object.values(part)) collect(below, into);
}
