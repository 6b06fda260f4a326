import { isDeepStrictEqual } from "node:util";
import { type Network, narrowest, reachesNoMore } from "../core/network.ts";
import type { UserRule } from "../core/policy.ts";

/** How one key of two configurations becomes one value. */
export interface Merge<T> {
  /** What a workspace's file may do with it, for the documentation. */
  workspaceMay: string;
  /** A word of equal trust, later and more particular: an agent's settings over the general ones. */
  override(base: T, own: NonNullable<T>): T;
  /** A less trusted word: whatever it says, nothing becomes possible that was not. `ignored`: why it was not followed. */
  tighten(base: T, wanted: NonNullable<T>): { value: T; ignored: string | null };
}

const taken = <T>(value: T) => ({ value, ignored: null });
const kept = <T>(value: T, ignored: string) => ({ value, ignored });
const replace = <T>(_: T, own: NonNullable<T>): T => own;

/** Values of which some are stricter than others. Two that are not comparable never replace each other. */
export function strictest<T extends string>(stricterThan: Record<T, readonly NoInfer<T>[]>): Merge<T> {
  return {
    workspaceMay: "choose a stricter value",
    override: replace,
    tighten(base, wanted) {
      if (wanted === base) return taken(base);
      if (stricterThan[base].includes(wanted)) return taken<T>(wanted);
      return kept(base, `"${wanted}" is not stricter than "${base}"`);
    },
  };
}

/** A limit; null is none, or one that is at least `unset`. */
export function lowest<T extends number | null>(unset = Number.POSITIVE_INFINITY): Merge<T> {
  return {
    workspaceMay: "lower it",
    override: replace,
    tighten: (base, wanted) =>
      wanted <= (base ?? unset) ? taken<T>(wanted) : kept(base, `${wanted} is above ${base ?? unset}`),
  };
}

/** A list of what is let through: it can only lose entries. Null is everything there is. */
export function subset<T extends readonly unknown[] | null>(): Merge<T> {
  return {
    workspaceMay: "take entries out",
    override: replace,
    tighten(base, wanted) {
      if (base === null) return taken<T>(wanted);
      const value = base.filter((one) => wanted.some((other) => isDeepStrictEqual(one, other)));
      const added = wanted.some((one) => !base.some((other) => isDeepStrictEqual(one, other)));
      return added ? kept(value as unknown as T, "entries can only be taken out") : taken(value as unknown as T);
    },
  };
}

/** A list of what is kept out: it can only gain entries. */
export const union: Merge<readonly string[]> = {
  workspaceMay: "add entries",
  override: (base, own) => [...new Set([...own, ...base])],
  tighten: (base, wanted) => taken([...new Set([...base, ...wanted])]),
};

/** Rules: the strictest that matches decides, so more of them that ask or deny can only tighten. */
export const restrictions: Merge<readonly UserRule[]> = {
  workspaceMay: "add rules that ask or deny",
  override: (base, own) => [...own, ...base],
  tighten(base, wanted) {
    const stricter = wanted.filter(({ decision }) => decision !== "allow");
    const value = [...base, ...stricter];
    return stricter.length < wanted.length ? kept(value, "rules that allow are left out") : taken(value);
  },
};

/** On only where both say so. */
export const both: Merge<boolean> = {
  workspaceMay: "switch it off",
  override: replace,
  tighten: (base, wanted) => (wanted && !base ? kept(base, "it is switched off") : taken(wanted)),
};

/** Off only where both say so. */
export const either: Merge<boolean> = {
  workspaceMay: "switch it on",
  override: replace,
  tighten: (base, wanted) => (base && !wanted ? kept(base, "it is switched on") : taken(wanted)),
};

/** Of two networks what both reach. */
export const narrower: Merge<Network> = {
  workspaceMay: "reach less",
  override: replace,
  tighten(base, wanted) {
    const value = narrowest(base, wanted);
    return reachesNoMore(wanted, base) ? taken(value) : kept(value, "it would reach more");
  },
};

/** What is no business of a less trusted file at all. */
export function operatorOnly<T>(): Merge<T> {
  return {
    workspaceMay: "not change it",
    override: replace,
    tighten: (base, wanted) =>
      isDeepStrictEqual(base, wanted) ? taken(base) : kept(base, "only the operator's file can set it"),
  };
}
