import { spawnSync } from "node:child_process";
import type { SandboxCapabilities } from "../../core/launch.ts";
import { readProbeCache, writeProbeCache } from "./probe-cache.ts";
import { keeperBinary } from "./zygote.ts";

const NOTHING: SandboxCapabilities = {
  landlock: 0,
  mounts: "none",
  isolation: false,
  networkNamespace: false,
  seccomp: false,
};
/** Making a network namespace waits in line with all who make or remove one. */
const PATIENCE_MS = 60_000;

let known: SandboxCapabilities | null = null;

/** What the keeper can confine commands with on this machine; asked once. Nothing, where the keeper cannot say. */
export function sandboxTier(): SandboxCapabilities {
  known ??= probe() ?? NOTHING;
  return known;
}

/** The same, from an answer that was kept in the state folder if nothing it hangs on has changed since. */
export function cachedSandboxTier(state: string): SandboxCapabilities {
  if (known !== null) return known;
  const keeper = keeperBinary();
  const kept = tierIn(readProbeCache(state, keeper));
  if (kept !== null) {
    known = kept;
    return kept;
  }
  const asked = probe();
  // What did not work this time, for want of memory for instance, may the next.
  if (asked?.isolation && asked.networkNamespace && asked.seccomp) writeProbeCache(state, keeper, asked);
  known = asked ?? NOTHING;
  return known;
}

function probe(): SandboxCapabilities | null {
  const { stdout } = spawnSync(keeperBinary(), ["probe"], { env: {}, encoding: "utf8", timeout: PATIENCE_MS });
  try {
    return tierIn(JSON.parse(stdout));
  } catch {
    return null;
  }
}

/** Null: it is no such answer. */
function tierIn(answer: unknown): SandboxCapabilities | null {
  if (typeof answer !== "object" || answer === null) return null;
  const { landlock, mounts, isolation, networkNamespace, seccomp } = answer as Partial<SandboxCapabilities>;
  if (typeof landlock !== "number" || !Number.isInteger(landlock) || landlock < 0) return null;
  if (mounts !== "root" && mounts !== "user" && mounts !== "none") return null;
  if (typeof isolation !== "boolean" || typeof networkNamespace !== "boolean" || typeof seccomp !== "boolean")
    return null;
  return { landlock, mounts, isolation, networkNamespace, seccomp };
}
