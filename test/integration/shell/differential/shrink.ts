/**
 * Shortens a failing text by removing lines, then words, then characters, and returns the shortest one that still
 * fails.
 */
export async function shrink(text: string, fails: (text: string) => Promise<boolean>, tries = 250): Promise<string> {
  let best = text;
  let left = tries;
  for (const pieces of [/(?<=\n)/, /(?<=[;&|(){}\n])/, /(?<=\s)/, /(?<=.)/su]) {
    for (let improved = true; improved && left > 0; ) {
      improved = false;
      const parts = best.split(pieces);
      for (let size = Math.max(1, parts.length >> 1); size >= 1 && !improved; size >>= 1) {
        for (let at = 0; at < parts.length && left > 0; at += size) {
          const candidate = [...parts.slice(0, at), ...parts.slice(at + size)].join("");
          if (candidate.trim() === "" || candidate.length >= best.length) continue;
          left--;
          if (!(await fails(candidate))) continue;
          best = candidate;
          improved = true;
          break;
        }
      }
    }
  }
  return best;
}
