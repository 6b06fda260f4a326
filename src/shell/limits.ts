/**
 * Limits of the analysis. Text that exceeds one of them is unanalyzable, never harmless.
 *
 * The parser is quadratic for a few inputs (unclosed `{` in one word, nested `$(`, many `<<`). These limits keep its
 * worst measured case near 10 ms, below the target of 20 ms.
 */
export const limits = {
  /** Length of the command text, in UTF-16 code units: the longest argument that the kernel passes to `bash -c`. */
  text: 128 * 1024,
  /**
   * Length of the text without the parts that take the parser little time: comments, blanks, text in single quotes, and
   * here-documents without expansions. The following limits ignore these parts, too.
   */
  significant: 32 * 1024,
  /** Number of `$(`, `$((`, `$[`, `<(` and `>(` in the text, closed or not. */
  substitutions: 160,
  /** Number of `${` in the text. */
  expansions: 400,
  backticks: 1000,
  /** Number of `$` in the text. */
  dollars: 1500,
  /** Number of `;`, `|` and `&` in the text. */
  separators: 2000,
  /** Wildcards and quotes in one run of non-blank characters. */
  signsPerWord: 1024,
  /** Arguments, assignments and redirections of one command. */
  commandWords: 2048,
  /** Steps of the walk. Loops are walked once per value, so nested loops multiply the steps. */
  steps: 20_000,
  hereDocuments: 64,
  /** Number of `{` in one run of non-blank characters. */
  bracesPerWord: 96,
  /** Words that one brace expansion produces. */
  braceWords: 256,
  /** Nesting levels of groups, subshells and loops. */
  nesting: 64,
  /** Commands in the text, including nested command strings, called functions and unrolled loops. */
  commands: 400,
  /** Arguments of all those commands. A wrapper repeats the arguments of the command it wraps. */
  words: 20_000,
  /** Characters of all parsed text, including nested command strings. */
  parsed: 320 * 1024,
  /** Characters of one word after expansion. */
  value: 16 * 1024,
  /** Paths whose links are resolved, each with a file system call. */
  links: 400,
  /** Files that are read because they contain code. */
  files: 16,
  /** Lines of standard input that are analyzed one by one, because a command may read some of them as data. */
  inputLines: 64,
  /** Elements of an array that are tracked. */
  listItems: 256,
  /** Wrappers around one command. */
  wrappers: 40,
  /** Nested command strings (`bash -c "bash -c …"`), and nested function calls. */
  reentry: 12,
  /** Values over which a `for` loop is unrolled. With more values, the loop variable is unknown. */
  loopValues: 16,
  /** Number of times that the body of nested `for` loops is walked. With more, the inner loop variable is unknown. */
  loopRounds: 64,
} as const;
