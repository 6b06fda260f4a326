/** The known name that a mistyped one most likely meant; null when none is near. What it begins is nearest of all. */
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

/** Damerau-Levenshtein (no letter changed twice); anything above `limit` is only known to be so. */
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
