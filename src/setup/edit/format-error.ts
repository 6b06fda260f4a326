/** An error in the text of a configuration file. */
export class FormatError extends Error {
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/** Returns the number of the line, starting at 1, that contains an offset. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

/** Returns the error for a value that has to be of another type, so that a key can be added to it. */
export function wrongType(keys: readonly string[], expected: string, line: number): FormatError {
  const what = keys.length === 0 ? "the file" : `\`${keys.join(".")}\``;
  return new FormatError(`${what} must be ${expected}`, line);
}
