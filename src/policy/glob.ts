/**
 * Patterns of the configuration: `*` and `?`, nothing that can blow up. A regular expression from a file could take
 * exponential time on a chosen command, so there are none.
 */

/** One word against one pattern, in time proportional to their lengths multiplied at worst; no backtracking over stars. */
export function matches(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let mark = 0;
  while (t < text.length) {
    if (pattern[p] === "*") {
      star = p++;
      mark = t;
    } else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++mark;
    } else return false;
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}

/** A path pattern: `*` stays inside one folder, `**` crosses folders. */
export function matchesPath(pattern: string, path: string): boolean {
  if (pattern.includes("**")) return matches(pattern.replaceAll(/\*\*+/g, "*"), path);
  const wanted = pattern.split("/");
  const given = path.split("/");
  return wanted.length === given.length && wanted.every((part, index) => matches(part, given[index] ?? ""));
}

/** Words against patterns, one by one; a last `**` stands for any further words. */
export function matchesWords(patterns: readonly string[], words: readonly string[]): boolean {
  const open = patterns.at(-1) === "**";
  const fixed = open ? patterns.slice(0, -1) : patterns;
  if (open ? words.length < fixed.length : words.length !== fixed.length) return false;
  return fixed.every((pattern, index) => matches(pattern, words[index] ?? ""));
}

/** What makes a pattern unusable; null: nothing. */
export function patternProblem(pattern: string): string | null {
  if (pattern.trim() === "") return "is empty";
  if (/^\/.*\/[a-z]*$/.test(pattern) && /[\\^$+()|[\]{}]/.test(pattern))
    return "looks like a regular expression; only `*` and `?` are understood";
  if (pattern.length > 1000) return "is longer than 1000 characters";
  return null;
}
