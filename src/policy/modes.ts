import type { Modes, Security } from "../core/policy.ts";

const SECURITY: readonly Security[] = ["full", "allowlist", "deny"];
const DEFAULT_MODES: Modes = { security: "full", ask: "on-miss" };

/** The result of merging the modes of the operator, the agent, the workspace and the request. */
export interface EffectiveModes {
  security: Security;
  /** Decision for a command that is not allowed: `ask`, or `deny` if `ask` is `off`. */
  miss: "ask" | "deny";
  /** True when every command requires approval. */
  always: boolean;
}

/**
 * Merges modes. The operator's modes apply; the agent, the workspace and the request can only tighten them. `off` and
 * `always` are not comparable: `off` denies what would require approval, `always` requires approval for what would be
 * allowed.
 */
export function effectiveModes(operator: Partial<Modes>, ...others: (Partial<Modes> | undefined)[]): EffectiveModes {
  const first = { security: operator.security ?? DEFAULT_MODES.security, ask: operator.ask ?? DEFAULT_MODES.ask };
  const all = [first, ...others.filter((modes) => modes !== undefined)];
  const security = Math.max(...all.map((modes) => SECURITY.indexOf(modes.security ?? "full")));
  return {
    security: SECURITY[security] ?? "deny",
    miss: all.some(({ ask }) => ask === "off") ? "deny" : "ask",
    always: all.some(({ ask }) => ask === "always"),
  };
}
