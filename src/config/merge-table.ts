import type { Permission, Settings } from "../core/settings.ts";
import { STRICTER } from "../sandbox/profile.ts";
import {
  both,
  either,
  lowest,
  type Merge,
  narrower,
  operatorOnly,
  restrictions,
  strictest,
  subset,
  union,
} from "./merge-kinds.ts";

type MergeTable<T> = {
  [K in keyof T]-?: Merge<T[K]> | (T[K] extends readonly unknown[] ? never : MergeTable<NonNullable<T[K]>>);
};

/** An unset tier is the toolset's own, which is never stricter than `ask`: only what is at least that can replace it. */
const TIERS: readonly Permission[] = ["autonomous", "notify", "ask", "deny"];
const tier: Merge<Permission | null> = {
  workspaceMay: "choose a stricter value",
  override: (_, own) => own,
  tighten(base, wanted) {
    if (TIERS.indexOf(wanted) >= TIERS.indexOf(base ?? "ask")) return { value: wanted, ignored: null };
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
  permissions: { run: tier, write: tier, kill: tier, extend: tier, remove: tier, list: tier, read: tier },
  toolsets: { runner: both, process: both, exec: both, shell: both, bash: both },
  callback: operatorOnly(),
  fleet: operatorOnly(),
  durability: strictest({ process: ["power-loss"], "power-loss": [] }),
};
