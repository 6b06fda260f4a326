let segmenter: Intl.Segmenter | null = null;

/** What a person sees as single characters. Made when first needed: it takes longer than a command line's start may. */
export function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}
