/** Name patterns with `*` for anything: exact names in a set, the rest by their parts. */
export interface NameMatcher {
  has(name: string): boolean;
  /** Without the patterns: only names that were written out. */
  hasExactly(name: string): boolean;
}

export function nameMatcher(patterns: readonly string[], { ignoreCase = false } = {}): NameMatcher {
  const fold = (name: string) => (ignoreCase ? name.toUpperCase() : name);
  const exact = new Set(patterns.filter((pattern) => !pattern.includes("*")).map(fold));
  // No expression: compiling one of a hundred patterns takes longer than asking all of them about an environment.
  const wild = patterns.filter((pattern) => pattern.includes("*")).map((pattern) => fold(pattern).split(/\*+/));
  return {
    has: (name) => {
      const folded = fold(name);
      return exact.has(folded) || wild.some((parts) => fits(folded, parts));
    },
    hasExactly: (name) => exact.has(fold(name)),
  };
}

/** The first part begins the name, the last ends it, and the others come in between in their order. */
function fits(name: string, parts: readonly string[]): boolean {
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at + last.length <= name.length;
}
