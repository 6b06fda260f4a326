/**
 * Glob patterns for plain text. Callers pass the options explicitly, so that the meaning of `*` is visible at each use.
 *
 * `*` matches any text and `?` one UTF-16 code unit. With `segments`, neither matches `/`, and `**` matches any text,
 * `/` included. `**` does not stand for a number of folders: `a/**\/b` requires both slashes and does not match `a/b`.
 * There are no character classes, braces or escapes. The time is at most proportional to the length of the pattern
 * times the length of the text.
 */
export interface GlobOptions {
  /** `*` and `?` stay within a path segment, and only `**` crosses `/`. Default: `*` and `?` match `/` as well. */
  segments?: boolean;
  /** `?` is a wildcard. Default: true. */
  questionMark?: boolean;
}

export type Matcher = (text: string) => boolean;

/** Compiles a pattern that is matched often. */
export function compileGlob(pattern: string, options: GlobOptions = {}): Matcher {
  const { segments = false, questionMark = true } = options;
  const restricted = (questionMark && pattern.includes("?")) || (segments && /(?<!\*)\*(?!\*)/.test(pattern));
  if (!restricted) {
    const parts = pattern.split(/\*+/);
    return parts.length === 1 ? (text) => text === pattern : (text) => matchesParts(parts, text);
  }
  const tokens = tokenize(pattern, segments, questionMark);
  return (text) => matchesTokens(tokens, text);
}

export function matchesGlob(pattern: string, text: string, options: GlobOptions = {}): boolean {
  return compileGlob(pattern, options)(text);
}

/** Matches texts against one pattern each, in order. A final `**` matches any number of further texts. */
export function matchesGlobs(
  patterns: readonly string[],
  texts: readonly string[],
  matches: (pattern: string, text: string) => boolean,
): boolean {
  const open = patterns.at(-1) === "**";
  const fixed = open ? patterns.slice(0, -1) : patterns;
  if (open ? texts.length < fixed.length : texts.length !== fixed.length) return false;
  return texts.every((text, index) => matches(fixed[index] ?? "**", text));
}

/** Matches the literal parts between stars with native string searches: the first is a prefix, the last a suffix. */
function matchesParts(parts: readonly string[], text: string): boolean {
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (let index = 1; index < parts.length - 1; index++) {
    const part = parts[index] ?? "";
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at + last.length <= text.length;
}

/** `any` and `segment` match texts of any length, the others one code unit. */
interface Token {
  kind: "literal" | "any" | "segment" | "one" | "one-in-segment";
  text: string;
}

function tokenize(pattern: string, segments: boolean, questionMark: boolean): Token[] {
  return (pattern.match(/\*+|[^*]/g) ?? []).map((text): Token => {
    if (text.startsWith("*")) return { kind: segments && text.length === 1 ? "segment" : "any", text };
    if (text === "?" && questionMark) return { kind: segments ? "one-in-segment" : "one", text };
    return { kind: "literal", text };
  });
}

/** Advances through all positions of the pattern at once instead of backtracking. */
function matchesTokens(tokens: readonly Token[], text: string): boolean {
  let positions = afterStars([0], tokens);
  for (let at = 0; at < text.length; at++) {
    const next: number[] = [];
    for (const position of positions) {
      const token = tokens[position];
      if (token === undefined || !takes(token, text[at] ?? "")) continue;
      const to = isStar(token) ? position : position + 1;
      // The positions are ascending, and only adjacent ones can lead to the same next position.
      if (next.at(-1) !== to) next.push(to);
    }
    if (next.length === 0) return false;
    positions = afterStars(next, tokens);
  }
  return positions.at(-1) === tokens.length;
}

function takes(token: Token, character: string): boolean {
  if (token.kind === "literal") return token.text === character;
  return character !== "/" || token.kind === "any" || token.kind === "one";
}

function isStar(token: Token): boolean {
  return token.kind === "any" || token.kind === "segment";
}

/**
 * Adds the positions that are reached because a star matches the empty text as well. Keeps them ascending, and drops
 * those before an unrestricted star: any match from them is also a match from that star.
 */
function afterStars(positions: readonly number[], tokens: readonly Token[]): number[] {
  let all: number[] = [];
  for (const position of positions) {
    if (all.length > 0 && position <= (all.at(-1) ?? 0)) continue;
    let to = position;
    for (let token = tokens[to]; token !== undefined && isStar(token); token = tokens[to]) {
      if (token.kind === "any") all = [];
      all.push(to++);
    }
    all.push(to);
  }
  return all;
}
