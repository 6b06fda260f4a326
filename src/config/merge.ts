import { isDeepStrictEqual } from "node:util";
import type { UserRule } from "../core/policy.ts";
import type { Network, Permission, Settings } from "../core/settings.ts";
import { intersectNetworks, isNetworkWithin } from "../core/settings.ts";
import { STRICTER } from "../sandbox/access.ts";
import type { Config } from "./schema.ts";

/** How one key of two configurations becomes one value. */
export interface Merge<T> {
  /** What a workspace's file may do with it, for the documentation. */
  workspaceMay: string;
  /** A word of equal trust, later and more particular: an agent's settings over the general ones. */
  override(base: T, own: NonNullable<T>): T;
  /** A less trusted word: whatever it says, nothing becomes possible that was not. `ignored`: why it was not followed. */
  tighten(base: T, wanted: NonNullable<T>): { value: T; ignored: string | null };
}

const accepted = <T>(value: T) => ({ value, ignored: null });
const refused = <T>(value: T, ignored: string) => ({ value, ignored });
const replace = <T>(_: T, own: NonNullable<T>): T => own;

/** Values of which some are stricter than others. Two that are not comparable never replace each other. */
function strictest<T extends string>(stricterThan: Record<T, readonly NoInfer<T>[]>): Merge<T> {
  return {
    workspaceMay: "choose a stricter value",
    override: replace,
    tighten(base, wanted) {
      if (wanted === base) return accepted(base);
      if (stricterThan[base].includes(wanted)) return accepted<T>(wanted);
      return refused(base, `"${wanted}" is not stricter than "${base}"`);
    },
  };
}

/** A limit; null is none, or one that is at least `unset`. */
function lowest<T extends number | null>(unset = Number.POSITIVE_INFINITY): Merge<T> {
  return {
    workspaceMay: "lower it",
    override: replace,
    tighten: (base, wanted) =>
      wanted <= (base ?? unset) ? accepted<T>(wanted) : refused(base, `${wanted} is above ${base ?? unset}`),
  };
}

/** A list of what is let through: it can only lose entries. Null is everything there is. */
function subset<T extends readonly unknown[] | null>(): Merge<T> {
  return {
    workspaceMay: "remove entries",
    override: replace,
    tighten(base, wanted) {
      if (base === null) return accepted<T>(wanted);
      const value = base.filter((one) => wanted.some((other) => isDeepStrictEqual(one, other)));
      const added = wanted.some((one) => !base.some((other) => isDeepStrictEqual(one, other)));
      return added ? refused(value as unknown as T, "entries can only be taken out") : accepted(value as unknown as T);
    },
  };
}

/** A list of what is kept out: it can only gain entries. */
const union: Merge<readonly string[]> = {
  workspaceMay: "add entries",
  override: (base, own) => [...new Set([...own, ...base])],
  tighten: (base, wanted) => accepted([...new Set([...base, ...wanted])]),
};

/** Rules: the strictest that matches decides, so more of them that ask or deny can only tighten. */
const restrictions: Merge<readonly UserRule[]> = {
  workspaceMay: "add `ask` and `deny` rules",
  override: (base, own) => [...own, ...base],
  tighten(base, wanted) {
    const stricter = wanted.filter(({ decision }) => decision !== "allow");
    const value = [...base, ...stricter];
    return stricter.length < wanted.length ? refused(value, "rules that allow are left out") : accepted(value);
  },
};

/** On only where both say so. */
const both: Merge<boolean> = {
  workspaceMay: "turn it off",
  override: replace,
  tighten: (base, wanted) => (wanted && !base ? refused(base, "it is switched off") : accepted(wanted)),
};

/** Off only where both say so. */
const either: Merge<boolean> = {
  workspaceMay: "turn it on",
  override: replace,
  tighten: (base, wanted) => (base && !wanted ? refused(base, "it is switched on") : accepted(wanted)),
};

/** Of two networks what both reach. */
const narrower: Merge<Network> = {
  workspaceMay: "restrict it",
  override: replace,
  tighten(base, wanted) {
    const value = intersectNetworks(base, wanted);
    return isNetworkWithin(wanted, base) ? accepted(value) : refused(value, "it would reach more");
  },
};

/** What is no business of a less trusted file at all. */
function operatorOnly<T>(): Merge<T> {
  return {
    workspaceMay: "not change it",
    override: replace,
    tighten: (base, wanted) =>
      isDeepStrictEqual(base, wanted) ? accepted(base) : refused(base, "only the operator's file can set it"),
  };
}

type MergeTable<T> = {
  [K in keyof T]-?: Merge<T[K]> | (T[K] extends readonly unknown[] ? never : MergeTable<NonNullable<T[K]>>);
};

/** An unset tier is the toolset's own, which is never stricter than `ask`: only what is at least that can replace it. */
const PERMISSION_LEVELS: readonly Permission[] = ["autonomous", "notify", "ask", "deny"];
const permissionLevel: Merge<Permission | null> = {
  workspaceMay: "choose a stricter value",
  override: (_, own) => own,
  tighten(base, wanted) {
    if (PERMISSION_LEVELS.indexOf(wanted) >= PERMISSION_LEVELS.indexOf(base ?? "ask"))
      return { value: wanted, ignored: null };
    return { value: base, ignored: `"${wanted}" is not known to be stricter than what holds` };
  },
};

/** Seconds; of all toolsets' own deadlines, which hold where none is set. */
const SHORTEST_DEFAULT = 30;

/**
 * One rule for every key of the settings (promise 7: a workspace's file can tighten, never loosen). The compiler
 * insists that none is missing, and a test tries each.
 */
export const MERGE: MergeTable<Settings> = {
  security: strictest({ full: ["allowlist", "deny"], allowlist: ["deny"], deny: [] }),
  // `off` denies what the others ask, but lets pass what `always` asks: it neither gives way to them nor replaces them.
  ask: strictest({ "on-miss": ["always"], off: [], always: [] }),
  sandbox: strictest(STRICTER),
  network: narrower,
  writable: subset(),
  denied: union,
  user: operatorOnly(),
  require: either,
  scope: strictest({ anywhere: ["workspace"], workspace: [] }),
  rules: restrictions,
  allowlist: subset(),
  safeBins: subset(),
  allowDenied: subset(),
  env: { pass: subset(), block: union },
  limits: {
    processes: lowest(),
    cpu: lowest(),
    memoryBytes: lowest(),
    diskBytes: lowest(),
    openFiles: lowest(),
    fileSize: lowest(),
    sessions: lowest(),
    startsPerMinute: lowest(),
  },
  timeouts: { defaultSeconds: lowest(SHORTEST_DEFAULT), maxSeconds: lowest() },
  // Neither direction is the stricter one: keeping less destroys evidence, keeping more fills the disk.
  retention: { maxAgeHours: operatorOnly(), maxCount: operatorOnly(), maxBytes: operatorOnly() },
  approvals: {
    expiresMinutes: lowest(),
    quorum: {
      rule: strictest({ any: ["majority", "unanimous"], majority: ["unanimous"], unanimous: [] }),
      approvers: operatorOnly(),
    },
  },
  permissions: {
    run: permissionLevel,
    write: permissionLevel,
    kill: permissionLevel,
    extend: permissionLevel,
    remove: permissionLevel,
    list: permissionLevel,
    read: permissionLevel,
  },
  toolsets: { runner: both, process: both, exec: both, shell: both, bash: both },
  callback: operatorOnly(),
  fleet: operatorOnly(),
  durability: strictest({ process: ["power-loss"], "power-loss": [] }),
};

/** A key of a workspace's file that was not followed, and why. */
export interface Ignored {
  key: string;
  why: string;
}

type Values = Record<string, unknown>;
type Table = { [key: string]: Merge<unknown> | Table };

/** The operator's words, one over the other. */
export function override(base: Settings, own: Config | undefined): Settings {
  return own ? withQuorum(merge(MERGE as unknown as Table, base as unknown as Values, own, [], null)) : base;
}

/** A workspace's word: what would loosen is left out and noted. */
export function tighten(base: Settings, wanted: Config | undefined, ignored: Ignored[] = []): Settings {
  return wanted ? withQuorum(merge(MERGE as unknown as Table, base as unknown as Values, wanted, [], ignored)) : base;
}

function isMerge(node: Merge<unknown> | Table): node is Merge<unknown> {
  return typeof node.tighten === "function";
}

/** `ignored` is null for a word of equal trust. */
function merge(table: Table, base: Values, other: Values, path: string[], ignored: Ignored[] | null): Values {
  const result = { ...base };
  for (const [key, value] of Object.entries(other)) {
    if (value === undefined || value === null || (path.length === 0 && (key === "$schema" || key === "agents")))
      continue;
    const node = Object.hasOwn(table, key) ? table[key] : undefined;
    if (!node) throw new Error(`no merge rule for ${[...path, key].join(".")}`);
    if (!isMerge(node)) {
      result[key] = merge(node, (base[key] ?? {}) as Values, value as Values, [...path, key], ignored);
    } else if (ignored === null) {
      result[key] = node.override(base[key], value);
    } else {
      const tightened = node.tighten(base[key], value);
      result[key] = tightened.value;
      if (tightened.ignored) ignored.push({ key: [...path, key].join("."), why: tightened.ignored });
    }
  }
  return result;
}

/** All of nobody would be reached at once: a majority needs names to be one of. */
function withQuorum(values: Values): Settings {
  const settings = values as unknown as Settings;
  const { quorum } = settings.approvals;
  if (quorum.approvers.length > 0 || quorum.rule === "any") return settings;
  return { ...settings, approvals: { ...settings.approvals, quorum: { rule: "any", approvers: [] } } };
}
