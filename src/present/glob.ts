/**
 * Glob patterns. Pure text functions: every use names its options, so that the meaning of `*` is written at the caller.
 *
 * `*` matches any text and `?` one UTF-16 code unit. With `segments`, neither matches `/`, and `**` matches any text,
 * `/` included. `**` is not a unit of folders: `a/**\/b` needs both slashes and does not match `a/b`. There are no
 * character classes, braces or escapes. The time is at most the product of both lengths, whatever the pattern.
 */
export interface GlobOptions {
  /** `*` and `?` stay within a path segment, and only `**` crosses `/`. Default: `*` and `?` match `/` as well. */
  segments?: boolean;
  /** `?` is a wildcard. Default: true. */
  questionMark?: boolean;
}

export type Matcher = (text: string) => boolean;

/** The pattern as a function, for patterns that are matched often. */
export function compileGlob(pattern: string, options: GlobOptions = {}): Matcher {
  const { segments = false, questionMark = true } = options;
  const first = pattern.search(questionMark ? /[*?]/ : /\*/);
  if (first < 0) return (text) => text === pattern;
  // Most texts are rejected by the literal text at either end, which is compared natively.
  const head = pattern.slice(0, first);
  const last = Math.max(pattern.lastIndexOf("*"), questionMark ? pattern.lastIndexOf("?") : -1);
  const tail = pattern.slice(last + 1);
  const wild = pattern.slice(first, last + 1);
  if (/^\*+$/.test(wild) && (!segments || wild.length > 1))
    return (text) => text.length >= head.length + tail.length && text.startsWith(head) && text.endsWith(tail);
  const tokens = tokenize(wild, segments, questionMark);
  return (text) =>
    text.length >= head.length + tail.length &&
    text.startsWith(head) &&
    text.endsWith(tail) &&
    matchesTokens(tokens, text, head.length, text.length - tail.length);
}

export function matchesGlob(pattern: string, text: string, options: GlobOptions = {}): boolean {
  return compileGlob(pattern, options)(text);
}

/** One pattern per text, in order. A last `**` also takes any number of further texts, each matched against `**`. */
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

type Wildcard = { wildcard: "any" | "segment" | "one" | "one-in-segment" };
/** A wildcard, or one literal code unit. */
type Token = Wildcard | { literal: string };

function tokenize(pattern: string, segments: boolean, questionMark: boolean): Token[] {
  return (pattern.match(/\*+|[^*]/g) ?? []).map((text): Token => {
    if (text.startsWith("*")) return { wildcard: segments && text.length === 1 ? "segment" : "any" };
    if (text === "?" && questionMark) return { wildcard: segments ? "one-in-segment" : "one" };
    return { literal: text };
  });
}

/** Advances through all positions of the pattern at once instead of backtracking. */
function matchesTokens(tokens: readonly Token[], text: string, start: number, end: number): boolean {
  let positions = afterStars([0], tokens);
  for (let at = start; at < end; at++) {
    const next: number[] = [];
    for (const position of positions) {
      const token = tokens[position];
      if (token === undefined || !takes(token, text[at] ?? "")) continue;
      const to = isStar(token) ? position : position + 1;
      // The positions are ascending, and two of them can lead to the same one only next to each other.
      if (next.at(-1) !== to) next.push(to);
    }
    if (next.length === 0) return false;
    positions = afterStars(next, tokens);
  }
  return positions.at(-1) === tokens.length;
}

function takes(token: Token, character: string): boolean {
  if ("literal" in token) return token.literal === character;
  return character !== "/" || token.wildcard === "any" || token.wildcard === "one";
}

function isStar(token: Token): token is Wildcard {
  return "wildcard" in token && (token.wildcard === "any" || token.wildcard === "segment");
}

/**
 * Adds the positions that are reached because a star matches the empty text as well. Keeps them ascending, and drops
 * those before an unrestricted star: any match they lead to is one from that star, too.
 */
function afterStars(positions: readonly number[], tokens: readonly Token[]): number[] {
  let all: number[] = [];
  for (const position of positions) {
    if (all.length > 0 && position <= (all.at(-1) ?? 0)) continue;
    let to = position;
    for (let token = tokens[to]; token !== undefined && isStar(token); token = tokens[to]) {
      if (token.wildcard === "any") all = [];
      all.push(to++);
    }
    all.push(to);
  }
  return all;
}
