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
  specifiers: { imported?: Named; local: Named; exported?: Named }[];
}

/** A module in two files: a script, which may be compiled ahead, and a module that evaluates it and exports its values. */
export interface Split {
  script: { name: string; code: string };
  module: string;
}

/**
 * Makes a script of a module. What it imports comes in as parameters and what it exports goes out as an object, so
 * nothing of that may be assigned anew later; our own code and the packages that are bundled do not.
 */
export function oneScript(name: string, code: string): Split {
  const ascii = code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const { body } = parseAst(ascii) as unknown as { body: Statement[] };
  const imports = body.filter(({ type }) => type === "ImportDeclaration");
  const exports = body.filter(({ type }) => type.startsWith("Export"));
  const given = imports.flatMap(({ specifiers }) => specifiers.map(({ local }) => local.name));
  const taken = exports.flatMap(({ type, specifiers }) => {
    if (type !== "ExportNamedDeclaration" || specifiers.length === 0) throw new Error(`${name}: ${type}`);
    return specifiers.map(({ local, exported }) => ({ local: local.name, exported: exported?.name ?? local.name }));
  });
  const inner = replace(ascii, [
    ...[...imports, ...exports].map(({ start, end }) => ({ start, end, by: "" })),
    ...found(body).map(({ type, start, end }) =>
      type === "MetaProperty" ? { start, end, by: "$meta" } : { start, end: start + "import".length, by: "$import" },
    ),
  ]);
  const values = taken.map(({ local, exported }) => `${exported}:${local}`).join();
  const script = `"use strict";(($meta,$import,{${given.join()}})=>{${inner}\nreturn{${values}}})`;
  const scriptName = `${name}-${createHash("sha256").update(script).digest("hex").slice(0, 12)}.script.js`;
  const kept = imports.map(({ start, end }) => ascii.slice(start, end)).join("\n");
  const locals = taken.map(({ exported }, index) => `${exported}:v${index}`).join();
  const module = `${kept}
import { evaluate } from "./main.js";
const script = evaluate(new URL("./${scriptName}", import.meta.url));
const {${locals}} = script(import.meta, (name) => import(name), {${given.join()}});
export {${taken.map(({ exported }, index) => `v${index} as ${exported}`).join()}};
`;
  return { script: { name: scriptName, code: script }, module };
}

/** What only a module can say, wherever it is said. */
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
