/** Options of a shell that change nothing about what a text means; any other makes the rest of it uncertain. */
const NAMES = new Set(
  "errexit nounset pipefail xtrace verbose noclobber noglob errtrace functrace notify monitor hashall".split(" "),
);

export function isHarmlessName(name: string): boolean {
  return NAMES.has(name);
}

/** `-eu`, `+x`, `-euo` (whose name follows). */
export function isHarmlessFlags(word: string): boolean {
  return /^-[efuxvnCETbhmlrp]*o?$|^\+[efuxvCETbhm]*o?$/.test(word);
}
