/** Patterns over arguments: what a grant allows beyond the exact words. */

/** A longer argument is never matched by a wildcard; it keeps matching within some microseconds. */
const LONGEST = 4096;

/**
 * `*` any text without `/`, `?` one such character, `**` any text. A wildcard never reaches into what changes the
 * meaning of a command: it does not match an option where an operand was granted, nor a path that climbs with `..`.
 *
 * Steps through all places in the pattern at once, so no pattern makes it slow (length times length at worst).
 */
export function matchesPattern(pattern: string, value: string): boolean {
  if (!hasWildcard(pattern)) return pattern === value;
  if (value.length > LONGEST || pattern.length > LONGEST) return false;
  if (value.startsWith("-") && !pattern.startsWith("-")) return false;
  if (/(?:^|[/=])\.\.(?:\/|$)/.test(value)) return false;
  const tokens = pattern.match(/\*\*|[\s\S]/g) ?? [];
  let places = settle(new Set([0]), tokens);
  for (const character of value.split("")) {
    const next = new Set<number>();
    for (const place of places) {
      const token = tokens[place];
      if (token === "**" || (token === "*" && character !== "/")) next.add(place);
      else if (token === character || (token === "?" && character !== "/")) next.add(place + 1);
    }
    if (next.size === 0) return false;
    places = settle(next, tokens);
  }
  return places.has(tokens.length);
}

/** A star may also stand for nothing. */
function settle(places: Set<number>, tokens: readonly string[]): Set<number> {
  for (const place of places) if (tokens[place] === "*" || tokens[place] === "**") places.add(place + 1);
  return places;
}

/** One pattern per argument; a last `**` stands for any number of operands, none of them an option. */
export function matchesArguments(patterns: readonly string[], args: readonly string[]): boolean {
  const open = patterns.at(-1) === "**";
  const fixed = open ? patterns.slice(0, -1) : patterns;
  if (open ? args.length < fixed.length : args.length !== fixed.length) return false;
  return args.every((arg, index) => matchesPattern(fixed[index] ?? "**", arg));
}

export function hasWildcard(pattern: string): boolean {
  return /[*?]/.test(pattern);
}
