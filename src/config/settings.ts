import type { Policy } from "../contract/policy.ts";
import type { Settings } from "../contract/settings.ts";

/** The part of the settings that src/policy judges by. */
export function policyOf({ security, ask, rules, allowlist, safeBins, allowDenied }: Settings): Policy {
  return { security, ask, rules, allowlist, safeBins, permits: allowDenied };
}
