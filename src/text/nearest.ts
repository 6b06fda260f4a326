/** Returns the name most similar to a mistyped one, preferring names that start with it; null when none is similar. */
export function nearest(word: string, names: Iterable<string>): string | null {
  const wanted = word.toLowerCase();
  let best: string | null = null;
  let least = Math.max(1, Math.ceil(word.length / 3)) + 1;
  for (const name of names) {
    const begun = wanted.length > 1 && name.toLowerCase().startsWith(wanted);
    const slips = begun ? 0.5 : distance(wanted, name.toLowerCase(), Math.ceil(least));
    if (slips >= least) continue;
    best = name;
    least = slips;
  }
  return best;
}

/** Longer names are not compared: they are unlikely to be typed by hand, and comparing them is slow. */
const LONGEST_COMPARED = 40;

/** Returns the allowed number of edits. It is low for short names, which are similar to too many others. */
function allowed(name: string): number {
  return name.length <= 2 ? 0 : name.length <= 4 ? 1 : 2;
}

/**
 * Returns the names most similar to a mistyped one, best first: at most two letters missing, added, wrong or swapped.
 */
export function nearNames(wanted: string, names: Iterable<string>, most: number): string[] {
  const limit = wanted.length > LONGEST_COMPARED ? 0 : allowed(wanted);
  if (limit === 0) return [];
  const near: { name: string; rank: number }[] = [];
  for (const name of names) {
    if (name === wanted || Math.abs(name.length - wanted.length) > limit) continue;
    const slips = distance(wanted, name, limit);
    if (slips > limit) continue;
    // With the same distance, names with the same letters in another order come first, then those with the same start.
    const rank = slips * 4 + (sameLetters(wanted, name) ? 0 : 2) + (name[0] === wanted[0] ? 0 : 1);
    near.push({ name, rank });
  }
  near.sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
  // Names much less similar than the best one are omitted.
  const best = near[0]?.rank ?? 0;
  return near
    .filter(({ rank }) => rank <= best + 3)
    .slice(0, most)
    .map(({ name }) => name);
}

function sameLetters(a: string, b: string): boolean {
  return a.length === b.length && [...a].sort().join("") === [...b].sort().join("");
}

/** Returns the Damerau-Levenshtein distance (optimal string alignment), or `limit + 1` if it exceeds `limit`. */
export function distance(a: string, b: string, limit: number): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const line = [row];
    let least = row;
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1] ? 0 : 1;
      let cost = Math.min(at(above, column) + 1, at(line, column - 1) + 1, at(above, column - 1) + same);
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, at(before, column - 2) + 1);
      line.push(cost);
      least = Math.min(least, cost);
    }
    if (least > limit) return limit + 1;
    before = above;
    above = line;
  }
  return at(above, b.length);
}

function at(line: number[], column: number): number {
  return line[column] as number;
}
