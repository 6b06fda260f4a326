import { isDeepStrictEqual } from "node:util";
import type { UserRule } from "../core/policy.ts";
import type { Network, Permission, Settings } from "../core/settings.ts";
import { intersectNetworks, isNetworkWithin } from "../core/settings.ts";
import { STRICTER } from "../sandbox/access.ts";
import type { Config } from "./schema.ts";

/** Defines how the values of one key in two configurations are merged. */
export interface Merge<T> {
  /** Changes that a workspace file may make to the key, for the documentation. */
  workspaceMay: string;
  /** Merges a value from an equally trusted, more specific source, such as the settings of an agent. */
  override(base: T, own: NonNullable<T>): T;
  /**
   * Merges a value from a less trusted source, which can restrict the result but never loosen it. `ignored` is the reason
   * why the value was not used, or null.
   */
  tighten(base: T, wanted: NonNullable<T>): { value: T; ignored: string | null };
}

const accepted = <T>(value: T) => ({ value, ignored: null });
const refused = <T>(value: T, ignored: string) => ({ value, ignored });
const replace = <T>(_: T, own: NonNullable<T>): T => own;

/** Merges values that are partially ordered by strictness. Values that are not comparable never replace each other. */
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

/** Merges limits. Null means no limit, or a default of at least `unset`. */
function lowest<T extends number | null>(unset = Number.POSITIVE_INFINITY): Merge<T> {
  return {
    workspaceMay: "lower it",
    override: replace,
    tighten: (base, wanted) =>
      wanted <= (base ?? unset) ? accepted<T>(wanted) : refused(base, `${wanted} is higher than ${base ?? unset}`),
  };
}

/** Merges lists of permitted entries, from which a workspace can only remove entries. Null means all entries. */
function subset<T extends readonly unknown[] | null>(): Merge<T> {
  return {
    workspaceMay: "remove entries",
    override: replace,
    tighten(base, wanted) {
      if (base === null) return accepted<T>(wanted);
      const value = base.filter((one) => wanted.some((other) => isDeepStrictEqual(one, other)));
      const added = wanted.some((one) => !base.some((other) => isDeepStrictEqual(one, other)));
      return added ? refused(value as unknown as T, "entries can only be removed") : accepted(value as unknown as T);
    },
  };
}

/** Merges lists of forbidden entries, to which a workspace can only add entries. */
const union: Merge<readonly string[]> = {
  workspaceMay: "add entries",
  override: (base, own) => [...new Set([...own, ...base])],
  tighten: (base, wanted) => accepted([...new Set([...base, ...wanted])]),
};

/** Merges rules. The strictest matching rule decides, so additional rules that ask or deny can only tighten. */
const restrictions: Merge<readonly UserRule[]> = {
  workspaceMay: "add `ask` and `deny` rules",
  override: (base, own) => [...own, ...base],
  tighten(base, wanted) {
    const stricter = wanted.filter(({ decision }) => decision !== "allow");
    const value = [...base, ...stricter];
    return stricter.length < wanted.length
      ? refused(value, 'rules with the decision "allow" are ignored')
      : accepted(value);
  },
};

/** Merges switches that are on only if both values are true. */
const both: Merge<boolean> = {
  workspaceMay: "disable it",
  override: replace,
  tighten: (base, wanted) => (wanted && !base ? refused(base, "it is disabled") : accepted(wanted)),
};

/** Merges `require`: true is the strictest value, and false, which allows commands without a sandbox, the least. */
const requirement: Merge<boolean | null> = {
  workspaceMay: "enable it",
  override: (_, own) => own,
  tighten(base, wanted) {
    if (wanted === true) return accepted(wanted);
    return base === false ? accepted(base) : refused(base, "only the operator file can disable it");
  },
};

/** Merges network settings to the access that both allow. */
const narrower: Merge<Network> = {
  workspaceMay: "restrict it",
  override: replace,
  tighten(base, wanted) {
    const value = intersectNetworks(base, wanted);
    return isNetworkWithin(wanted, base) ? accepted(value) : refused(value, "it would allow more network access");
  },
};

/** Returns the merge rule for a key that a workspace file cannot change. */
function operatorOnly<T>(): Merge<T> {
  return {
    workspaceMay: "not change it",
    override: replace,
    tighten: (base, wanted) =>
      isDeepStrictEqual(base, wanted) ? accepted(base) : refused(base, "only the operator file can set it"),
  };
}

type MergeTable<T> = {
  [K in keyof T]-?: Merge<T[K]> | (T[K] extends readonly unknown[] ? never : MergeTable<NonNullable<T[K]>>);
};

/**
 * An unset permission is that of the toolset, which is never stricter than `ask`. Only `ask` and `deny` can replace it.
 */
const PERMISSION_LEVELS: readonly Permission[] = ["autonomous", "notify", "ask", "deny"];
const permissionLevel: Merge<Permission | null> = {
  workspaceMay: "choose a stricter value",
  override: (_, own) => own,
  tighten(base, wanted) {
    if (PERMISSION_LEVELS.indexOf(wanted) >= PERMISSION_LEVELS.indexOf(base ?? "ask"))
      return { value: wanted, ignored: null };
    return { value: base, ignored: `"${wanted}" is not stricter than the current permission` };
  },
};

/** The shortest default timeout of any toolset, in seconds, which applies when none is configured. */
const SHORTEST_DEFAULT = 30;

/**
 * The merge rule of every key (invariant 7: a workspace file can tighten settings, never loosen them). The type requires
 * an entry for every key, and a test exercises each.
 */
export const MERGE: MergeTable<Settings> = {
  security: strictest({ full: ["allowlist", "deny"], allowlist: ["deny"], deny: [] }),
  // `off` denies commands that the others ask about, but allows commands that `always` asks about, so it is not
  // comparable with them.
  ask: strictest({ "on-miss": ["always"], off: [], always: [] }),
  sandbox: strictest(STRICTER),
  network: narrower,
  writable: subset(),
  readable: subset(),
  denied: union,
  sockets: subset(),
  user: operatorOnly(),
  require: requirement,
  maskFailure: strictest({ warn: ["kill"], kill: [] }),
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
  // Neither direction is stricter: keeping less destroys evidence, keeping more fills the disk.
  retention: { maxAgeHours: operatorOnly(), maxCount: operatorOnly(), maxBytes: operatorOnly() },
  approvals: {
    expiresMinutes: lowest(),
    quorum: {
      rule: strictest({ any: ["majority", "unanimous"], majority: ["unanimous"], unanimous: [] }),
      approvers: operatorOnly(),
    },
    commandLine: strictest({ anywhere: ["script", "terminal"], script: ["terminal"], terminal: [] }),
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

/** A key of a workspace file whose value was ignored, and the reason. */
export interface Ignored {
  key: string;
  why: string;
}

type Values = Record<string, unknown>;
type Table = { [key: string]: Merge<unknown> | Table };

/** Merges trusted configuration over `base`. */
export function override(base: Settings, own: Config | undefined): Settings {
  return own ? withQuorum(merge(MERGE as unknown as Table, base as unknown as Values, own, [], null)) : base;
}

/** Merges the configuration of a workspace. Values that would loosen `base` are skipped and added to `ignored`. */
export function tighten(base: Settings, wanted: Config | undefined, ignored: Ignored[] = []): Settings {
  return wanted ? withQuorum(merge(MERGE as unknown as Table, base as unknown as Values, wanted, [], ignored)) : base;
}

function isMerge(node: Merge<unknown> | Table): node is Merge<unknown> {
  return typeof node.tighten === "function";
}

/** Merges key by key. `ignored` is null when `other` is as trusted as `base`. */
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

/** Resets the quorum rule to `any` when there are no approvers, since a majority of an empty list is always reached. */
function withQuorum(values: Values): Settings {
  const settings = values as unknown as Settings;
  const { quorum } = settings.approvals;
  if (quorum.approvers.length > 0 || quorum.rule === "any") return settings;
  return { ...settings, approvals: { ...settings.approvals, quorum: { rule: "any", approvers: [] } } };
}
