/** Parses JSON with comments and records the position of every value, so that error messages can refer to it. */
import { printParseErrorCode, visit } from "jsonc-parser";

export interface Position {
  line: number;
  column: number;
}

export interface JsonDocument {
  value: unknown;
  /**
   * Returns the position of the value at this path, or of its nearest ancestor. For an entry of an object, this is the
   * position of its key. Undefined when the value does not come from a file.
   */
  positionOf(path: readonly PropertyKey[]): Position | undefined;
}

class JsonSyntaxError extends Error {
  readonly position: Position;

  constructor(message: string, position: Position) {
    super(message);
    this.position = position;
  }
}

/**
 * Reports whether an error is a syntax error of this parser. This is a function so that the bundled command line loads
 * this module only when it reads a configuration file.
 */
export function isJsonSyntaxError(error: unknown): error is JsonSyntaxError {
  return error instanceof JsonSyntaxError;
}

const MAX_DEPTH = 32;
const SEPARATOR = "\u0000";

/**
 * Parses JSON with comments. Unlike `JSON.parse` it rejects duplicate keys: a reader might see the first entry while the
 * program uses the last.
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

/** An object or array that is being parsed. */
interface Open {
  entries: Record<string, unknown> | unknown[];
  /** The key or index of the entry that is being parsed. */
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
      expected === null
        ? "unexpected text after the end of the document"
        : `expected ${expected} but found ${shown(text, offset)}`,
      offset,
    );
  const add = (added: unknown, offset: number) => {
    const top = open.at(-1);
    if (open.length > MAX_DEPTH) fail(`nested more than ${MAX_DEPTH} levels deep`, offset);
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
      if (key === "__proto__") fail("`__proto__` is not allowed as a key", offset);
      if (top === undefined || Object.hasOwn(top.entries, key)) return fail(`duplicate key \`${key}\``, offset);
      top.key = key;
      offsets.set(open.map((one) => one.key).join(SEPARATOR), offset);
      expected = "`:`";
    },
    onSeparator: (character) => {
      const inObject = character === "," && !Array.isArray(open.at(-1)?.entries);
      expected = inObject ? "a key in double quotes" : "a value";
    },
    // The parser ends a comment at a lone carriage return, but an editor may display the rest as part of the comment.
    onComment: (offset, length) => {
      const end = offset + length;
      const isLine = text.startsWith("//", offset);
      if (isLine && text[end] === "\r" && text[end + 1] !== "\n") fail("a carriage return inside a comment", end);
    },
    // Stopping at the first error also keeps the parser from recursing into deeply nested text.
    onError: (code, offset) => {
      const what = SCAN_ERRORS[printParseErrorCode(code)];
      if (what) fail(what, offset);
      failExpected(offset);
    },
  });
  return { value, offsets };
}

const BAD_STRING = "unterminated string or invalid escape sequence";

const SCAN_ERRORS: Readonly<Record<string, string>> = {
  UnexpectedEndOfComment: "unterminated comment",
  UnexpectedEndOfNumber: "a number without digits after its decimal point or exponent",
  UnexpectedEndOfString: BAD_STRING,
  InvalidUnicode: BAD_STRING,
  InvalidEscapeCharacter: BAD_STRING,
  InvalidCharacter: BAD_STRING,
};

function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function shown(text: string, offset: number): string {
  const character = text[offset];
  return character === undefined ? "the end of the file" : `\`${character}\``;
}
