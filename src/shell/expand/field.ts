/** One word of a command after expansion, with what the contract's `Word` does not need to show. */
import type { Span, Unknown, Word } from "../../core/facts.ts";

export interface Field extends Word {
  /**
   * The value with its unknown but inert pieces (numbers, fresh temporary names) filled in: good enough to judge a path,
   * not to be shown. Null when something in it could be anything.
   */
  shape: string | null;
  /** Why the value is not certain; a field may have a likely value that is not certain. */
  uncertain: Unknown | null;
  /** How much of `prefix` is certain; the rest of it is only likely. */
  certain: number;
  /** May become no word, or several. */
  many: boolean;
}

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

/** The same word with another value, for the part of it that a wrapper takes out (`--exec=rm` gives `rm`). */
export function tail(field: Field, from: number): Field {
  const certain = Math.max(0, field.certain - from);
  const shape = field.shape?.slice(from) ?? null;
  if (field.value === null) return { ...field, prefix: field.prefix.slice(from), shape, certain };
  const value = field.value.slice(from);
  return { ...field, value, prefix: value, shape, certain };
}

/** The same word with a likely value that is not certain. */
export function likely(field: Field, value: string, uncertain: Field["uncertain"]): Field {
  return { ...field, value, prefix: value, shape: value, certain: 0, uncertain: field.uncertain ?? uncertain };
}

export function wordOf(field: Field): Word {
  const { source, value, prefix, glob, span, uncertain, certain } = field;
  if (!uncertain) return { source, value, prefix, glob, span };
  const word: Word = { source, value: null, prefix: prefix.slice(0, certain), glob, span };
  return value === null ? word : { ...word, likely: value };
}

/** Several words as one text, as `eval` and `ssh` join them. */
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
