import type { Settings } from "../core/settings.ts";
import type { Merge } from "./merge-kinds.ts";
import { MERGE } from "./merge-table.ts";
import type { Config } from "./schema.ts";

/** A key of a workspace's file that was not followed, and why. */
export interface Ignored {
  key: string;
  why: string;
}

type Values = Record<string, unknown>;
type Table = { [key: string]: Merge<unknown> | Table };

/** The operator's words, one over the other. */
export function override(base: Settings, own: Config | undefined): Settings {
  return own ? settled(merge(MERGE as unknown as Table, base as unknown as Values, own, [], null)) : base;
}

/** A workspace's word: what would loosen is left out and noted. */
export function tighten(base: Settings, wanted: Config | undefined, ignored: Ignored[] = []): Settings {
  return wanted ? settled(merge(MERGE as unknown as Table, base as unknown as Values, wanted, [], ignored)) : base;
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
function settled(values: Values): Settings {
  const settings = values as unknown as Settings;
  const { quorum } = settings.approvals;
  if (quorum.approvers.length > 0 || quorum.rule === "any") return settings;
  return { ...settings, approvals: { ...settings.approvals, quorum: { rule: "any", approvers: [] } } };
}
