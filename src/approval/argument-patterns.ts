import { matchesGlob, matchesGlobs } from "../text/glob.ts";

/** A longer argument is never matched by a wildcard, which keeps matching within microseconds. */
const LONGEST = 4096;

/**
 * Whether the patterns of a grant cover the arguments, one pattern per argument: `*` any text without `/`, `?` one such
 * character, `**` any text or, as the last pattern, any number of operands.
 */
export function matchesArguments(patterns: readonly string[], args: readonly string[]): boolean {
  return matchesGlobs(patterns, args, matchesArgument);
}

/**
 * A wildcard never matches text that changes the meaning of a command: an option where an operand was granted, or a
 * path that climbs with `..`.
 */
function matchesArgument(pattern: string, value: string): boolean {
  if (!/[*?]/.test(pattern)) return pattern === value;
  if (value.length > LONGEST || pattern.length > LONGEST) return false;
  if (value.startsWith("-") && !pattern.startsWith("-")) return false;
  if (/(?:^|[/=])\.\.(?:\/|$)/.test(value)) return false;
  return matchesGlob(pattern, value, { segments: true });
}
