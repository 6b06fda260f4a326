import type { Modes, Security } from "../core/policy.ts";

const SECURITY: readonly Security[] = ["full", "allowlist", "deny"];
const DEFAULT_MODES: Modes = { security: "full", ask: "on-miss" };

/** What the modes of everybody with a say come to. */
export interface EffectiveModes {
  security: Security;
  /** What is done about a miss: with `ask` off nobody is asked, so it is denied. */
  miss: "ask" | "deny";
  /** Every command is asked for. */
  always: boolean;
}

/**
 * The operator says what holds; agent, workspace and request can each make it stricter, none can loosen it. "off" and
 * "always" are not more and less of one thing: one denies what would be asked, the other asks what would be allowed.
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
