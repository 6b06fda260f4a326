/** A small seeded generator (mulberry32), so that every text can be reproduced from its seed. */
export interface Random {
  /** Returns an integer from 0 up to, but not including, `below`. */
  int(below: number): number;
  /** Returns true once in `times` calls on average. */
  oneIn(times: number): boolean;
  pick<T>(items: readonly T[]): T;
}

export function random(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const int = (below: number): number => Math.floor(next() * below);
  return {
    int,
    oneIn: (times) => int(times) === 0,
    pick: (items) => {
      const item = items[int(items.length)];
      if (item === undefined) throw new Error("nothing to pick from");
      return item;
    },
  };
}
