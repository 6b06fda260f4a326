/** An expanded word, with details that `Word` does not expose. */
import type { Span, Unknown, Word } from "../../core/facts.ts";

export interface Field extends Word {
  /**
   * The value with unknown but harmless parts (numbers, temporary names) filled in. It is used to check paths and is
   * never shown. Null when a part could be anything.
   */
  shape: string | null;
  /** The reason why the value is not certain. `value` may then be a likely value. */
  uncertain: Unknown | null;
  /** Number of characters of `prefix` that are certain; the rest is likely. */
  certain: number;
  /** The stream whose content is the value, if the value is exactly one command substitution. */
  content?: StreamContent;
  /** The field may expand to no word or to several words. */
  many: boolean;
}

/**
 * Content of a stream, for commands that read code or arguments from it. `remote` content comes from another machine;
 * `input` content comes from the standard input of the whole command.
 */
export type StreamContent =
  /** For standard input: inherited from the caller. For output: nothing. */
  | { kind: "none" }
  | {
      kind: "text";
      text: string;
      field: Field | null;
      uncertain: Unknown | null;
      input?: boolean;
      /** The text is a pattern of the paths that a command prints, and not its output. */
      pattern?: boolean;
    }
  /** `paths` are the files whose content it is, one after the other. */
  | { kind: "unknown"; why: string; remote?: boolean; input?: boolean; paths?: readonly string[] };

export function literal(value: string, source: string, span: Span): Field {
  return {
    source,
    value,
    prefix: value,
    glob: false,
    span,
    shape: value,
    uncertain: null,
    certain: value.length,
    many: false,
  };
}

/** Returns the field for the rest of the word, starting at `from` (`--exec=rm` to `rm`). */
export function tail(field: Field, from: number): Field {
  const certain = Math.max(0, field.certain - from);
  const shape = field.shape?.slice(from) ?? null;
  if (field.value === null) return { ...field, prefix: field.prefix.slice(from), shape, certain };
  const value = field.value.slice(from);
  return { ...field, value, prefix: value, shape, certain };
}

/** Returns the field with a likely value that is not certain. */
export function likely(field: Field, value: string, uncertain: Field["uncertain"]): Field {
  return { ...field, value, prefix: value, shape: value, certain: 0, uncertain: field.uncertain ?? uncertain };
}

export function wordOf(field: Field): Word {
  const { source, value, prefix, glob, span, uncertain, certain } = field;
  if (!uncertain) return { source, value, prefix, glob, span };
  const word: Word = { source, value: null, prefix: prefix.slice(0, certain), glob, span };
  return value === null ? word : { ...word, likely: value };
}

/** Joins words into one text, as `eval` and `ssh` do. */
export function joinFields(words: readonly Field[]): Field {
  const [only] = words;
  if (words.length === 1 && only) return only;
  const first = words[0] as Field;
  const span = { start: first.span.start, end: Math.max(...words.map((word) => word.span.end)) };
  if (words.every((word) => word.value !== null)) {
    const field = literal(words.map((word) => word.value).join(" "), "", span);
    return { ...field, uncertain: words.find((word) => word.uncertain)?.uncertain ?? null };
  }
  const uncertain = words.find((word) => word.value === null)?.uncertain ?? null;
  return { ...literal("", "", span), value: null, shape: null, uncertain };
}

export function unknownField(source: string, span: Span, why: string, many: boolean): Field {
  return {
    source,
    value: null,
    prefix: "",
    glob: false,
    span,
    shape: null,
    uncertain: { span, why },
    certain: 0,
    many,
  };
}
