import { createHash } from "node:crypto";
import { parseAst } from "vite";

interface Node {
  type: string;
  start: number;
  end: number;
}

type Named = Node & { name: string };

interface Statement extends Node {
  source: { value: string } | null;
  id: Named | null;
  specifiers: { type: string; imported?: Named; local: Named; exported?: Named }[];
}

interface Script {
  file: string;
  code: string;
  /** The names that the script imports: the local name, the exported name and the module. */
  given: { local: string; imported: string; from: string }[];
  /** The names that the script exports. */
  taken: string[];
  /** The exported names that are function declarations and are never reassigned. */
  functions: Set<string>;
}

/** The two modules that the bundler wrote: `core` is evaluated at start, `cold` when one of its functions is called. */
export interface Parts {
  core: { file: string; code: string };
  cold: { file: string; code: string };
}

/**
 * Turns two modules into scripts, which can be compiled ahead, and into modules that evaluate these scripts and export
 * their values. A script receives its imports as parameters and returns its exports as an object, so an export must not be
 * reassigned later; our code and the bundled packages never do that. Returns the content of each file.
 */
export function compileAhead({ core, cold }: Parts): Record<string, string> {
  const first = scriptOf("core", core.code);
  const second = scriptOf("cold", cold.code);
  const fromCold = first.given.filter(({ from }) => from === `./${cold.file}`);
  for (const { imported } of fromCold) {
    if (!second.functions.has(imported))
      throw new Error(`${imported} of ${cold.file} is not a function: leave it in core`);
  }
  const modules = new Set([...first.given, ...second.given].map(({ from }) => from));
  for (const { file } of [core, cold]) modules.delete(`./${file}`);
  const names = [...modules].map((from, index) => ({ from, name: `m${index}` }));
  const owner = (from: string) => names.find((one) => one.from === from)?.name ?? "core";
  const late = fromCold.map(({ local, imported }) => `${local}:(...given)=>cold().${imported}(...given)`);
  const early = first.given
    .filter(({ from }) => from !== `./${cold.file}`)
    .map(({ local, imported, from }) => `${local}:${owner(from)}.${imported}`);
  const later = second.given.map(({ local, imported, from }) => `${local}:${owner(from)}.${imported}`);
  const module = `${names.map(({ from, name }) => `import * as ${name} from "${from}";`).join("\n")}
import { evaluate } from "./main.js";

const load = (name) => import(name);
const run = (file, given) => evaluate(new URL(file, import.meta.url))(import.meta, load, given);
let late;
export const cold = () => (late ??= run("./${second.file}", {${later.join()}}));
const core = run("./${first.file}", {${[...early, ...late].join()}});
${exported("core", first.taken)}`;
  return {
    [first.file]: first.code,
    [second.file]: second.code,
    [core.file]: module,
    [cold.file]: `import { cold } from "./${core.file}";\nconst all = cold();\n${exported("all", second.taken)}`,
  };
}

/** Turns one module into a script and a module that evaluates it at once. Returns the content of each file. */
export function scriptModule({ file, code }: { file: string; code: string }): Record<string, string> {
  const script = scriptOf(file.replace(/\.js$/, ""), code);
  const modules = [...new Set(script.given.map(({ from }) => from))];
  const given = script.given.map(({ local, imported, from }) => `${local}:m${modules.indexOf(from)}.${imported}`);
  const module = `${modules.map((from, index) => `import * as m${index} from "${from}";\n`).join("")}import { evaluate } from "./main.js";
const all = evaluate(new URL("./${script.file}", import.meta.url))(import.meta, (name) => import(name), {${given.join()}});
${exported("all", script.taken)}`;
  return { [script.file]: script.code, [file]: module };
}

function exported(from: string, names: string[]): string {
  const locals = names.map((name, index) => `${name}:v${index}`).join();
  return `const {${locals}} = ${from};\nexport {${names.map((name, index) => `v${index} as ${name}`).join()}};\n`;
}

function scriptOf(name: string, code: string): Script {
  const ascii = code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const { body } = parseAst(ascii) as unknown as { body: Statement[] };
  const imports = body.filter(({ type }) => type === "ImportDeclaration");
  const exports = body.filter(({ type }) => type.startsWith("Export"));
  const given = imports.flatMap(({ source, specifiers }) =>
    specifiers.map(({ type, local, imported }) => {
      const exported = type === "ImportDefaultSpecifier" ? "default" : imported?.name;
      if (exported === undefined) throw new Error(`${name}: ${source?.value} is imported as a whole`);
      return { local: local.name, imported: exported, from: source?.value ?? "" };
    }),
  );
  const taken = exports.flatMap(({ type, specifiers }) => {
    if (type !== "ExportNamedDeclaration" || specifiers.length === 0) throw new Error(`${name}: ${type}`);
    return specifiers.map(({ local, exported }) => ({ local: local.name, exported: exported?.name ?? local.name }));
  });
  const functions = new Set(body.flatMap(({ type, id }) => (type === "FunctionDeclaration" && id ? [id.name] : [])));
  const inner = replace(ascii, [
    ...[...imports, ...exports].map(({ start, end }) => ({ start, end, by: "" })),
    ...found(body).map(({ type, start, end }) =>
      type === "MetaProperty" ? { start, end, by: "$meta" } : { start, end: start + "import".length, by: "$import" },
    ),
  ]);
  const parameters = `$meta,$import,{${given.map(({ local }) => local).join()}}`;
  const values = taken.map(({ local, exported }) => `${exported}:${local}`).join();
  const script = `"use strict";((${parameters})=>{${inner}\nreturn{${values}}})`;
  return {
    file: `${name}-${createHash("sha256").update(script).digest("hex").slice(0, 12)}.script.js`,
    code: script,
    given,
    taken: taken.map(({ exported }) => exported),
    functions: new Set(taken.flatMap(({ local, exported }) => (functions.has(local) ? [exported] : []))),
  };
}

/** Returns the expressions that are allowed only in modules: `import.meta` and `import()`. */
function found(part: unknown): Node[] {
  if (typeof part !== "object" || part === null) return [];
  const own = "type" in part && (part.type === "MetaProperty" || part.type === "ImportExpression");
  const below = Object.values(part).flatMap(found);
  return own ? [part as Node, ...below] : below;
}

function replace(text: string, parts: { start: number; end: number; by: string }[]): string {
  let out = "";
  let at = 0;
  for (const { start, end, by } of parts.sort((a, b) => a.start - b.start)) {
    out += text.slice(at, start) + by;
    at = end;
  }
  return out + text.slice(at);
}
