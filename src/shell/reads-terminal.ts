/** Options of shells that take a value of their own. */
const WITH_VALUE = /^(?:--(?:rcfile|init-file|init-command)|[-+][A-Za-z]*[oO]|-C)$/;

/** Whether a shell called like this takes its commands from where it reads: no script, no `-c`. */
export function readsTerminal(argv: readonly string[]): boolean {
  for (let i = 1; i < argv.length; i++) {
    const word = argv[i] ?? "";
    if (word === "--" || word === "-") return argv.length === i + 1;
    if (/^--(?:command|version|help)\b/.test(word) || /^-[A-Za-z]*c/.test(word)) return false;
    if (/^-[A-Za-z]*s/.test(word)) return true;
    if (WITH_VALUE.test(word)) i++;
    else if (!/^[-+]./.test(word)) return false;
  }
  return true;
}
