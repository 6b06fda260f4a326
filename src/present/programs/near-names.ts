import { distance } from "../nearest.ts";

/** Names longer than this are not typed, and would take long to compare. */
const LONGEST = 40;

/** How many slips apart two names may be: a short one has too many neighbours. */
function allowed(name: string): number {
  return name.length <= 2 ? 0 : name.length <= 4 ? 1 : 2;
}

/** The names nearest to a mistyped one, best first: at most two letters missing, added, wrong or swapped. */
export function nearNames(wanted: string, names: Iterable<string>, most: number): string[] {
  const limit = wanted.length > LONGEST ? 0 : allowed(wanted);
  if (limit === 0) return [];
  const near: { name: string; rank: number }[] = [];
  for (const name of names) {
    if (name === wanted || Math.abs(name.length - wanted.length) > limit) continue;
    const slips = distance(wanted, name, limit);
    if (slips > limit) continue;
    // With as many slips, the same letters in another order come first, then the same beginning.
    const rank = slips * 4 + (sameLetters(wanted, name) ? 0 : 2) + (name[0] === wanted[0] ? 0 : 1);
    near.push({ name, rank });
  }
  near.sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
  // A clear winner is not hidden among what is twice as far away.
  const best = near[0]?.rank ?? 0;
  return near
    .filter(({ rank }) => rank <= best + 3)
    .slice(0, most)
    .map(({ name }) => name);
}

function sameLetters(a: string, b: string): boolean {
  return a.length === b.length && [...a].sort().join("") === [...b].sort().join("");
}
