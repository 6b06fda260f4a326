/** Name patterns with `*` for anything, compiled once: exact names in a set, the rest in one expression. */
export interface NameMatcher {
  has(name: string): boolean;
  /** Without the patterns: only names that were written out. */
  hasExactly(name: string): boolean;
}

export function nameMatcher(patterns: readonly string[], { ignoreCase = false } = {}): NameMatcher {
  const fold = (name: string) => (ignoreCase ? name.toUpperCase() : name);
  const exact = new Set(patterns.filter((pattern) => !pattern.includes("*")).map(fold));
  const sources = patterns.filter((pattern) => pattern.includes("*")).map(expression);
  const wild = sources.length > 0 ? new RegExp(`^(?:${sources.join("|")})$`, ignoreCase ? "is" : "s") : null;
  return {
    has: (name) => exact.has(fold(name)) || (wild?.test(name) ?? false),
    hasExactly: (name) => exact.has(fold(name)),
  };
}

function expression(pattern: string): string {
  return pattern
    .split(/\*+/)
    .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"))
    .join(".*");
}
