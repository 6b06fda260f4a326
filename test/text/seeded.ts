/** Numbers below `limit` that are the same in every run (mulberry32), so that a failure can be had again. */
export function seeded(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

/** A text made of the given parts, picked at random. */
export function randomText(next: (limit: number) => number, parts: readonly string[], count: number): string {
  let text = "";
  for (let part = 0; part < count; part++) text += parts[next(parts.length)];
  return text;
}
