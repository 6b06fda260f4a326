/** POSIX quoting: words as a shell would have to be given them to mean exactly these. */
export function quoteArgv(argv: readonly string[]): string {
  return argv.map(quoteWord).join(" ");
}

export function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) && !/^[\w]+=/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
