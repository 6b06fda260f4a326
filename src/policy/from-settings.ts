import type { Policy } from "../core/policy.ts";
import type { Settings } from "../core/settings.ts";

/** The part of the settings that src/policy judges by. */
export function policyOf({ security, ask, rules, allowlist, safeBins, allowDenied }: Settings): Policy {
  return { security, ask, rules, allowlist, safeBins, permits: allowDenied };
}
