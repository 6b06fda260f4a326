/** Reads JSON and remembers where everything stands, so that a mistake can be pointed at. */

export interface Position {
  line: number;
  column: number;
}

export interface JsonDocument {
  value: unknown;
  /** Where the value (for an object's entry: its key) at this path stands, or the nearest above it; undefined: no file. */
  positionOf(path: readonly PropertyKey[]): Position | undefined;
}

export class JsonSyntaxError extends Error {
  readonly position: Position;

  constructor(message: string, position: Position) {
    super(message);
    this.position = position;
  }
}

const DEEPEST = 32;
const SEPARATOR = "\u0000";
const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what JSON texts must not hold
const TEXT = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

const BLANKS = /[ \t\r\n]*/y;
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y;

/**
 * JSON with comments, as people write configuration. Otherwise stricter than JSON.parse: of two entries with the same
 * key a person would see one and the program obey the other.
 */
export function readJson(text: string): JsonDocument {
  const reader = new Reader(text.startsWith("\ufeff") ? text.slice(1) : text);
  const value = reader.document();
  return {
    value,
    positionOf(path) {
      for (let length = path.length; length > 0; length--) {
        const offset = reader.offsets.get(path.slice(0, length).map(String).join(SEPARATOR));
        if (offset !== undefined) return reader.position(offset);
      }
      return { line: 1, column: 1 };
    },
  };
}

class Reader {
  readonly offsets = new Map<string, number>();
  readonly #text: string;
  readonly #path: string[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): unknown {
    const value = this.#value();
    if (this.#next() !== "") this.#fail("more text after the end");
    return value;
  }

  position(offset: number): Position {
    const before = this.#text.slice(0, offset).split("\n");
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  }

  #fail(what: string): never {
    throw new JsonSyntaxError(what, this.position(this.#at));
  }

  /** The next character that is neither blank nor in a comment; "" at the end. */
  #next(): string {
    do this.#take(BLANKS);
    while (this.#take(COMMENT) !== null);
    if (this.#text.startsWith("/*", this.#at)) this.#fail("a comment that does not end");
    return this.#text[this.#at] ?? "";
  }

  #expect(character: string): void {
    const found = this.#next();
    if (found !== character) this.#fail(`expected \`${character}\` but found ${shown(found)}`);
    this.#at++;
  }

  #take(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? null;
    if (found !== null) this.#at += found.length;
    return found;
  }

  #value(): unknown {
    const first = this.#next();
    if (this.#path.length > DEEPEST) this.#fail("nested too deeply");
    if (first === "{") return this.#object();
    if (first === "[") return this.#list();
    if (first === '"') return this.#string();
    const literal = this.#take(LITERAL);
    if (literal === null) this.#fail(`expected a value but found ${shown(first)}`);
    return JSON.parse(literal);
  }

  #string(): string {
    const found = this.#take(TEXT);
    if (found === null) this.#fail("a text that does not end on its line, or holds a wrong escape");
    return JSON.parse(found) as string;
  }

  #object(): Record<string, unknown> {
    const entries: Record<string, unknown> = {};
    this.#at++;
    if (this.#next() === "}") {
      this.#at++;
      return entries;
    }
    for (;;) {
      if (this.#next() !== '"') this.#fail(`expected a key in double quotes but found ${shown(this.#next())}`);
      const offset = this.#at;
      const key = this.#string();
      if (Object.hasOwn(entries, key) || key === "__proto__") {
        this.#at = offset;
        this.#fail(key === "__proto__" ? "`__proto__` is not a key" : `the key \`${key}\` is there twice`);
      }
      this.#expect(":");
      entries[key] = this.#entry(key, offset);
      if (this.#next() === "}") break;
      this.#expect(",");
    }
    this.#at++;
    return entries;
  }

  #list(): unknown[] {
    const items: unknown[] = [];
    this.#at++;
    if (this.#next() === "]") {
      this.#at++;
      return items;
    }
    for (;;) {
      this.#next();
      items.push(this.#entry(String(items.length), this.#at));
      if (this.#next() === "]") break;
      this.#expect(",");
    }
    this.#at++;
    return items;
  }

  #entry(key: string, offset: number): unknown {
    this.#path.push(key);
    this.offsets.set(this.#path.join(SEPARATOR), offset);
    const value = this.#value();
    this.#path.pop();
    return value;
  }
}

function shown(character: string): string {
  return character === "" ? "the end of the file" : `\`${character}\``;
}
