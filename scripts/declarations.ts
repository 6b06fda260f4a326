import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A declaration of a `.d.ts` file, prepared for display. */
export interface Declaration {
  name: string;
  kind: string;
  /** The text of its comment, as Markdown, without the example. */
  doc: string;
  /** The code of the comment's `@example`. Empty when it has none. */
  example: string;
  /** The declaration, without private and internal members. */
  text: string;
}

interface Location {
  file: string;
  name: string;
}

interface File {
  declared: Map<string, Declaration>;
  /** The names that the file imports or re-exports, and where they are declared. */
  imported: Map<string, Location>;
}

const START = /^(?:export )?(?:declare )?(?:abstract )?(class|interface|type|function|const) (\w+)/;
/** The last line of a declaration: unindented, and a closing brace or ended by a semicolon. */
const END = /^(?! ).*;$|^\}$|^\S.*\{\}$/;
const COMMENT = /\/\*\*(?:(?!\*\/)[\s\S])*\*\//;
const LONGEST_LINE = 120;

/**
 * The declarations of a package, read from the `.d.ts` files that the compiler wrote. The files are split by lines: the
 * compiler starts each declaration in the first column, puts its comment before it, and indents everything inside it.
 */
export class Declarations {
  readonly #files = new Map<string, File>();
  readonly #entry: string;

  constructor(entry: string) {
    this.#entry = entry;
  }

  /** Returns what the entry file exports. */
  exported(): Declaration[] {
    return [...this.#read(this.#entry).imported.values()].flatMap((location) => this.#find(location) ?? []);
  }

  /** Returns a declaration that is exported, or that an exported one refers to. */
  get(name: string): Declaration {
    const declaration = this.#find(this.#locate(name));
    if (!declaration) throw new Error(`${name} is not declared`);
    return declaration;
  }

  /** Returns the declarations that a declaration refers to. */
  referencesOf(name: string): Declaration[] {
    return this.#referredLocations(this.#locate(name)).flatMap((each) => this.#find(each) ?? []);
  }

  #locate(name: string): Location {
    const seen = new Map<string, Location>(this.#read(this.#entry).imported);
    for (const location of seen.values()) {
      if (location.name === name) return location;
      for (const each of this.#referredLocations(location)) if (!seen.has(each.name)) seen.set(each.name, each);
    }
    throw new Error(`${name} is not part of the API`);
  }

  #referredLocations({ file, name }: Location): Location[] {
    const declaration = this.#find({ file, name });
    if (!declaration || declaration.text.includes("z.infer")) return [];
    const { declared, imported } = this.#read(file);
    const names = declaration.text.replaceAll(new RegExp(COMMENT, "g"), "").match(/\b[A-Z]\w+\b/g) ?? [];
    return [...new Set(names)].flatMap((each) => {
      if (each === name) return [];
      if (declared.has(each)) return [{ file, name: each }];
      return imported.get(each) ?? [];
    });
  }

  #find({ file, name }: Location): Declaration | null {
    return this.#read(file).declared.get(name) ?? null;
  }

  #read(path: string): File {
    const known = this.#files.get(path);
    if (known) return known;
    const file: File = { declared: new Map(), imported: new Map() };
    this.#files.set(path, file);
    const text = readFileSync(path, "utf8");
    for (const [, names = "", from = ""] of text.matchAll(
      /^(?:import|export) (?:type )?\{([^}]*)\} from "(\.[^"]+)";/gm,
    )) {
      const source = join(dirname(path), from.replace(/\.ts$/, ".d.ts"));
      for (const each of names.split(",")) {
        const [original = "", local = original] = each
          .trim()
          .replace(/^type /, "")
          .split(" as ");
        if (original) file.imported.set(local, { file: source, name: original });
      }
    }
    for (const declaration of declarationsOf(text)) file.declared.set(declaration.name, declaration);
    return file;
  }
}

function declarationsOf(text: string): Declaration[] {
  const found: Declaration[] = [];
  const constants = constantsOf(text);
  let comment = "";
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const from = at;
    if (lines[at]?.startsWith("/**")) {
      while (!lines[at]?.includes("*/")) at++;
      comment = lines.slice(from, at + 1).join("\n");
      continue;
    }
    const [, kind, name] = START.exec(lines[at] as string) ?? [];
    if (kind === undefined || name === undefined) continue;
    while (at < lines.length && !END.test(lines[at] as string)) at++;
    const whole = lines.slice(from, at + 1).join("\n");
    // A schema and its type have the same name. The type is what callers see.
    if (kind !== "const") found.push({ name, kind, ...parseComment(comment), text: publicText(whole, constants) });
    comment = "";
  }
  return found;
}

/** Returns the constant string lists of a file, as unions. */
function constantsOf(text: string): Map<string, string> {
  const lists = text.matchAll(/^(?:export )?declare const (\w+): readonly \[([^\]]*)\];/gm);
  return new Map([...lists].map(([, name = "", items = ""]) => [name, items.replaceAll(", ", " | ")]));
}

/** Removes private and internal members and constructors, and writes out unions that are derived from constants. */
function publicText(text: string, constants: Map<string, string>): string {
  const union = (whole: string, name: string) => constants.get(name) ?? whole;
  return text
    .replace(/^export declare |^export |^declare /, "")
    .replaceAll(/^ {4}#private;\n/gm, "")
    .replaceAll(/^ {4}private [^\n]*;\n/gm, "")
    .replaceAll(/(^ {4}\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?^ {4}(?:private )?constructor\([\s\S]*?\);\n/gm, "")
    .replaceAll(
      /^ {4}\/\*\*(?:(?!\*\/)[\s\S])*@internal(?:(?!\*\/)[\s\S])*\*\/\n {4}\S[^\n]*\n(?: {5}[^\n]*\n| {4}\}[^\n]*\n)*/gm,
      "",
    )
    .replaceAll(/OneOf<typeof (\w+)>|\(typeof (\w+)\)\[number\]/g, (whole, one, other) => union(whole, one ?? other))
    .replaceAll(/^( {4})+/gm, (indent) => " ".repeat(indent.length / 2))
    .replaceAll(/^type \w+ = (?:"[^"]*" \| )+"[^"]*";$/gm, wrapUnion);
}

/** Writes a union that is too long for one line with one member per line. */
function wrapUnion(declaration: string): string {
  if (declaration.length <= LONGEST_LINE) return declaration;
  const [head = "", members = ""] = declaration.split(" = ");
  return [`${head} =`, ...members.split(" | ").map((member) => `  | ${member}`)].join("\n");
}

/** Splits a comment into its text and its example. Names of documents become links. */
function parseComment(comment: string): Pick<Declaration, "doc" | "example"> {
  const text = comment
    .replace(/^\/\*\*\s*/, "")
    .replace(/\s*\*\/$/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .join("\n");
  const [doc = "", example = ""] = text.split(/^@example\n/m);
  return {
    doc: doc.trim().replaceAll(/\bdocs\/([\w-]+\.md)\b/g, "[$1]($1)"),
    example: /^```ts\n([\s\S]*?)^```/m.exec(example)?.[1] ?? "",
  };
}
