import type { SandboxCapabilities } from "../core/launch.ts";

/** Nothing here keeps a command in bounds: it is judged as an unconfined one. Null: the executor cannot confine. */
export function confines(tier: SandboxCapabilities | null): tier is SandboxCapabilities {
  return tier !== null && (tier.landlock > 0 || tier.mounts !== "none");
}
