/** One word of a command after expansion, with what the contract's `Word` does not need to show. */
import type { Span, Unknown, Word } from "../contract/facts.ts";

export interface Field extends Word {
  /**
   * The value with its unknown but inert pieces (numbers, fresh temporary names) filled in: good enough to judge a path,
   * not to be shown. Null when something in it could be anything.
   */
  shape: string | null;
  /** Why the value is not certain; a field may have a likely value and still a doubt. */
  doubt: Unknown | null;
  /** May become no word, or several. */
  many: boolean;
}

export function literal(value: string, source: string, span: Span): Field {
  return { source, value, prefix: value, glob: false, span, shape: value, doubt: null, many: false };
}

/** The same word with another value, for the part of it that a wrapper takes out (`--exec=rm` gives `rm`). */
export function tail(field: Field, from: number): Field {
  if (field.value === null) {
    return { ...field, prefix: field.prefix.slice(from), shape: field.shape?.slice(from) ?? null };
  }
  const value = field.value.slice(from);
  return { ...field, value, prefix: value, shape: field.shape?.slice(from) ?? null };
}

export function plain(field: Field): Word {
  return {
    source: field.source,
    value: field.value,
    prefix: field.prefix,
    glob: field.glob,
    span: field.span,
  };
}
