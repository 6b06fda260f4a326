import type { Ask, Security } from "../contract/verdict.ts";

const SECURITY: readonly Security[] = ["full", "allowlist", "deny"];
const ASK: readonly Ask[] = ["off", "on-miss", "always"];

export interface Modes {
  security: Security;
  ask: Ask;
}

export const DEFAULT_MODES: Modes = { security: "full", ask: "on-miss" };

/** The stricter of several: operator, agent, workspace and request can each tighten, none can loosen another. */
export function strictest(first: Modes, ...others: (Partial<Modes> | undefined)[]): Modes {
  const result = { ...first };
  for (const other of others) {
    if (other?.security && SECURITY.indexOf(other.security) > SECURITY.indexOf(result.security))
      result.security = other.security;
    if (other?.ask && ASK.indexOf(other.ask) > ASK.indexOf(result.ask)) result.ask = other.ask;
  }
  return result;
}
