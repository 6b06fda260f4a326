import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** One declaration of a `.d.ts` file, as a reader wants it. */
export interface Declaration {
  name: string;
  /** What its comment says, on one line. */
  doc: string;
  text: string;
}

interface File {
  declared: Map<string, Declaration>;
  /** Where a name comes from, and what it is called there. */
  imported: Map<string, { file: string; name: string }>;
}

const START = /^(?:export )?(?:declare )?(?:abstract )?(class|interface|type|function|const) (\w+)/;

/**
 * What the compiler wrote, taken apart by its lines: it always writes a declaration from the first column to a `}` or `;`
 * that ends it, with its comment before.
 */
export class Declarations {
  readonly #files = new Map<string, File>();
  readonly #entry: string;

  constructor(entry: string) {
    this.#entry = entry;
  }

  textOf(file: string): string {
    return readFileSync(file, "utf8");
  }

  /** In the order: functions and classes, then types, by their names. */
  exported(): Declaration[] {
    const found = [...this.#read(this.#entry).imported.values()].map(({ file, name }) => this.#find(file, name));
    return sorted(found.filter((each) => each !== null));
  }

  /** What they mention that is declared here too, and what that mentions; not what only `without` mentions. */
  named(without: string[]): Declaration[] {
    const seen = new Map<string, Declaration>();
    const first = [...this.#read(this.#entry).imported.values()];
    const waiting = [...first];
    while (waiting.length > 0) {
      const { file, name } = waiting.pop() as { file: string; name: string };
      const declaration = this.#find(file, name);
      if (!declaration || seen.has(`${file} ${name}`)) continue;
      seen.set(`${file} ${name}`, declaration);
      if (without.includes(name) || declaration.text.includes("z.infer")) continue;
      const here = this.#read(file);
      for (const [word] of declaration.text.replaceAll(/\/\*\*[\s\S]*?\*\//g, "").matchAll(/\b[A-Z]\w+\b/g)) {
        if (here.declared.has(word)) waiting.push({ file, name: word });
        else if (here.imported.has(word)) waiting.push(here.imported.get(word) as { file: string; name: string });
      }
    }
    for (const { file, name } of first) seen.delete(`${file} ${name}`);
    return sorted([...seen.values()]);
  }

  #find(file: string, name: string): Declaration | null {
    return this.#read(file).declared.get(name) ?? null;
  }

  #read(path: string): File {
    const known = this.#files.get(path);
    if (known) return known;
    const file: File = { declared: new Map(), imported: new Map() };
    this.#files.set(path, file);
    const text = this.textOf(path);
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
  const schemas = new Map<string, string>();
  let doc = "";
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string;
    if (line.startsWith("/**")) {
      const from = at;
      while (!lines[at]?.includes("*/")) at++;
      doc = plain(lines.slice(from, at + 1).join("\n"));
      continue;
    }
    const [, kind, name] = START.exec(line) ?? [];
    if (name === undefined) continue;
    const from = at;
    while (!/^\}|;$|\{\}$/.test(lines[at] as string) || /^ /.test(lines[at] as string)) at++;
    const whole = lines.slice(from, at + 1).join("\n");
    // A schema and its type have one name; the type is what callers see, and the comment stands with the schema.
    if (kind === "const") schemas.set(name, doc);
    else found.push({ name, doc: doc || (schemas.get(name) ?? ""), text: shown(whole) });
    doc = "";
  }
  return found;
}

/** Without what is nobody's business outside: constructors of what is never made by callers, and private parts. */
function shown(text: string): string {
  return text
    .replace(/^export declare |^export |^declare /, "")
    .replaceAll(/^ {4}#private;\n/gm, "")
    .replaceAll(/^ {4}private [^\n]*;\n/gm, "")
    .replaceAll(/(^ {4}\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?^ {4}(?:private )?constructor\([\s\S]*?\);\n/gm, "")
    .replaceAll(/^( {4})+/gm, (indent) => " ".repeat(indent.length / 2));
}

function plain(comment: string): string {
  return comment
    .replace(/^\/\*\*\s*/, "")
    .replace(/\s*\*\/$/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .join("\n")
    .replace(/@example\n([\s\S]+)$/, "```typescript\n$1\n```")
    .trim();
}

function sorted(declarations: Declaration[]): Declaration[] {
  const rank = ({ text }: Declaration) => (/^function/.test(text) ? 0 : /^(abstract )?class/.test(text) ? 1 : 2);
  return declarations.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}
