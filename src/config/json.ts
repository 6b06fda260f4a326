/** Reads JSON with comments and keeps the position of every value, so that a message can point at it. */
import { printParseErrorCode, visit } from "jsonc-parser";

export interface Position {
  line: number;
  column: number;
}

export interface JsonDocument {
  value: unknown;
  /** The position of the value at this path (for an entry of an object, of its key) or of the nearest one above it; undefined without a file. */
  positionOf(path: readonly PropertyKey[]): Position | undefined;
}

class JsonSyntaxError extends Error {
  readonly position: Position;

  constructor(message: string, position: Position) {
    super(message);
    this.position = position;
  }
}

/** A function instead of `instanceof`, so that the bundled command line loads this file for a configuration file only. */
export function isJsonSyntaxError(error: unknown): error is JsonSyntaxError {
  return error instanceof JsonSyntaxError;
}

const DEEPEST = 32;
const SEPARATOR = "\u0000";

/**
 * JSON with comments, as people write configuration. Otherwise stricter than JSON.parse: of two entries with the same
 * key a person would see one and the program obey the other.
 */
export function readJson(content: string): JsonDocument {
  const text = content.startsWith("\ufeff") ? content.slice(1) : content;
  const { value, offsets } = parse(text);
  return {
    value,
    positionOf(path) {
      for (let length = path.length; length > 0; length--) {
        const offset = offsets.get(path.slice(0, length).map(String).join(SEPARATOR));
        if (offset !== undefined) return positionAt(text, offset);
      }
      return { line: 1, column: 1 };
    },
  };
}

/** An object or list that is being read. */
interface Open {
  entries: Record<string, unknown> | unknown[];
  /** The key of the entry that is being read. */
  key: string;
}

function parse(text: string): { value: unknown; offsets: ReadonlyMap<string, number> } {
  const offsets = new Map<string, number>();
  const open: Open[] = [];
  let value: unknown;
  let expected: string | null = "a value";

  const fail = (what: string, offset: number): never => {
    throw new JsonSyntaxError(what, positionAt(text, offset));
  };
  const failExpected = (offset: number): never =>
    fail(
      expected === null ? "more text after the end" : `expected ${expected} but found ${shown(text, offset)}`,
      offset,
    );
  const add = (added: unknown, offset: number) => {
    const top = open.at(-1);
    if (open.length > DEEPEST) fail("nested too deeply", offset);
    if (top === undefined) value = added;
    else if (Array.isArray(top.entries)) {
      top.key = String(top.entries.push(added) - 1);
      offsets.set(open.map(({ key }) => key).join(SEPARATOR), offset);
    } else top.entries[top.key] = added;
    expected = top === undefined ? null : "`,`";
  };
  const begin = (entries: Open["entries"], offset: number) => {
    add(entries, offset);
    open.push({ entries, key: "" });
    expected = Array.isArray(entries) ? "a value" : "a key in double quotes";
  };
  const end = (offset: number) => {
    if (text[offset] === undefined) failExpected(offset);
    open.pop();
    expected = open.length === 0 ? null : "`,`";
  };

  visit(text, {
    onObjectBegin: (offset) => begin({}, offset),
    onArrayBegin: (offset) => begin([], offset),
    onObjectEnd: end,
    onArrayEnd: end,
    onLiteralValue: add,
    onObjectProperty: (key, offset) => {
      const top = open.at(-1);
      if (key === "__proto__") fail("`__proto__` is not a key", offset);
      if (top === undefined || Object.hasOwn(top.entries, key))
        return fail(`the key \`${key}\` is there twice`, offset);
      top.key = key;
      offsets.set(open.map((one) => one.key).join(SEPARATOR), offset);
      expected = "`:`";
    },
    onSeparator: (character) => {
      const inObject = character === "," && !Array.isArray(open.at(-1)?.entries);
      expected = inObject ? "a key in double quotes" : "a value";
    },
    // An editor may show a lone carriage return within the comment; the parser would take the rest for entries.
    onComment: (offset, length) => {
      const end = offset + length;
      const isLine = text.startsWith("//", offset);
      if (isLine && text[end] === "\r" && text[end + 1] !== "\n") fail("a carriage return within a comment", end);
    },
    // The first error ends the reading, which also keeps the parser from recursing into a deep text.
    onError: (code, offset) => {
      const what = SCAN_ERRORS[printParseErrorCode(code)];
      if (what) fail(what, offset);
      failExpected(offset);
    },
  });
  return { value, offsets };
}

const WRONG_TEXT = "a text that does not end on its line, or holds a wrong escape";

const SCAN_ERRORS: Readonly<Record<string, string>> = {
  UnexpectedEndOfComment: "a comment that does not end",
  UnexpectedEndOfNumber: "a number without digits after its point or exponent",
  UnexpectedEndOfString: WRONG_TEXT,
  InvalidUnicode: WRONG_TEXT,
  InvalidEscapeCharacter: WRONG_TEXT,
  InvalidCharacter: WRONG_TEXT,
};

function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function shown(text: string, offset: number): string {
  const character = text[offset];
  return character === undefined ? "the end of the file" : `\`${character}\``;
}
