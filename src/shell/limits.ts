/**
 * Caps on what is analysed at all. Over one of them a command is unanalyzable, never harmless.
 *
 * The parser is quadratic in a few shapes (unclosed `{` in one word, nested `$(`, many `<<`). The numbers keep its worst
 * measured case near 10 ms, against a promise of 20.
 */
export const limits = {
  /** UTF-16 units of command text. */
  text: 32 * 1024,
  /** `$(`, `$((`, `$[`, `<(`, `>(` in the whole text, closed or not. */
  substitutions: 160,
  /** `${` in the whole text. */
  expansions: 400,
  backticks: 1000,
  /** `$`, and `;`, `|`, `&`, in the whole text. */
  dollars: 1500,
  separators: 2000,
  /** Wildcards and quotes in one run of non-blank characters. */
  signsPerWord: 1024,
  /** Words, assignments and redirects of one command. */
  commandWords: 2048,
  /** Steps of the walk: nested loops are walked once per word, which multiplies. */
  steps: 20_000,
  hereDocuments: 64,
  /** `{` in one run of non-blank characters. */
  bracesPerWord: 96,
  /** Words one brace expansion may make. */
  braceWords: 256,
  /** Syntax levels (groups, subshells, loops) the walk goes down. */
  nesting: 64,
  /** Commands in the text, those in nested texts, called functions and unrolled loops included. */
  commands: 400,
  /** Words of all those commands together: a wrapper repeats the words of what it wraps. */
  words: 20_000,
  /** Characters of all texts parsed, those found inside texts included. */
  parsed: 160 * 1024,
  /** Characters of one word after expansion. */
  value: 16 * 1024,
  /** Paths whose links are followed: each asks the file system. */
  links: 400,
  /** Elements of an array that are followed. */
  listItems: 256,
  /** Wrappers around one command. */
  wrappers: 40,
  /** Texts inside texts (`bash -c "bash -c …"`), and function calls inside function calls. */
  reentry: 12,
  /** Values a `for` loop is unrolled over; more than that and its variable is unknown. */
  loopValues: 16,
} as const;
