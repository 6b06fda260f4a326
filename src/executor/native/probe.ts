import { spawnSync } from "node:child_process";
import { readFileSync, readlinkSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SandboxCapabilities } from "../../core/launch.ts";
import { keeperBinary } from "./zygote.ts";

const NAME = "probed.json";
/** For what cannot be seen from here, such as a filter that somebody put around all of us. */
const CACHE_TTL_MS = 3600 * 1000;

const NAMESPACES = ["user", "mnt", "pid", "net", "ipc", "uts"];
const SETTINGS = [
  "kernel/random/boot_id",
  "kernel/osrelease",
  "kernel/unprivileged_userns_clone",
  "kernel/apparmor_restrict_unprivileged_userns",
  ...NAMESPACES.map((name) => `user/max_${name}_namespaces`),
];

/** Who we are, what we may do, and whether a filter or a ban on new privileges is upon us already. */
const PRIVILEGES = /^(?:Uid|Gid|Groups|Cap\w+|NoNewPrivs|Seccomp\w*):.*$/gm;

interface CachedProbe {
  atMs: number;
  circumstances: string;
  tier: unknown;
}

/**
 * The machine's answer as it was given within the hour, by this keeper and under these circumstances; null: there is
 * none. Trying it out anew takes longer than all the rest of a short command line. The state folder is nobody's to
 * write but ours (promise 7).
 */
export function readProbeCache(state: string, keeper: string): unknown {
  try {
    const { atMs, circumstances, tier } = JSON.parse(readFileSync(join(state, NAME), "utf8")) as CachedProbe;
    const age = Date.now() - atMs;
    return age >= 0 && age < CACHE_TTL_MS && circumstances === environmentFingerprint(keeper) ? tier : null;
  } catch {
    return null;
  }
}

/** Nobody is troubled where it cannot be kept: it is only asked again. */
export function writeProbeCache(state: string, keeper: string, tier: SandboxCapabilities): void {
  const own = join(state, `${NAME}.${process.pid}`);
  try {
    const kept: CachedProbe = { atMs: Date.now(), circumstances: environmentFingerprint(keeper), tier };
    writeFileSync(own, JSON.stringify(kept), { mode: 0o600, flag: "wx" });
    renameSync(own, join(state, NAME));
  } catch {
    rmSync(own, { force: true });
  }
}

/** All that the answer hangs on and that can be seen without trying. */
function environmentFingerprint(keeper: string): string {
  const { dev, ino, size, mtimeMs, ctimeMs } = statSync(keeper);
  const root = statSync("/");
  return [
    `${keeper} ${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`,
    `${root.dev}:${root.ino}`,
    ...SETTINGS.map((name) => read(`/proc/sys/${name}`)),
    ...NAMESPACES.map((name) => link(`/proc/self/ns/${name}`)),
    read("/proc/self/attr/current"),
    ...(read("/proc/self/status").match(PRIVILEGES) ?? []),
  ].join("\n");
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1").trim();
  } catch {
    return "";
  }
}

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

const NOTHING: SandboxCapabilities = {
  landlock: 0,
  mounts: "none",
  isolation: false,
  networkNamespace: false,
  seccomp: false,
};

/** Making a network namespace waits in line with all who make or remove one. */
const PROBE_TIMEOUT_MS = 60_000;

let known: SandboxCapabilities | null = null;

/** What the keeper can confine commands with on this machine; asked once. Nothing, where the keeper cannot say. */
export function sandboxCapabilities(): SandboxCapabilities {
  known ??= probe() ?? NOTHING;
  return known;
}

/** The same, from an answer that was kept in the state folder if nothing it hangs on has changed since. */
export function cachedSandboxCapabilities(state: string): SandboxCapabilities {
  if (known !== null) return known;
  const keeper = keeperBinary();
  const kept = parseCapabilities(readProbeCache(state, keeper));
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
  const { stdout } = spawnSync(keeperBinary(), ["probe"], { env: {}, encoding: "utf8", timeout: PROBE_TIMEOUT_MS });
  try {
    return parseCapabilities(JSON.parse(stdout));
  } catch {
    return null;
  }
}

/** Null: it is no such answer. */
function parseCapabilities(answer: unknown): SandboxCapabilities | null {
  if (typeof answer !== "object" || answer === null) return null;
  const { landlock, mounts, isolation, networkNamespace, seccomp } = answer as Partial<SandboxCapabilities>;
  if (typeof landlock !== "number" || !Number.isInteger(landlock) || landlock < 0) return null;
  if (mounts !== "root" && mounts !== "user" && mounts !== "none") return null;
  if (typeof isolation !== "boolean" || typeof networkNamespace !== "boolean" || typeof seccomp !== "boolean")
    return null;
  return { landlock, mounts, isolation, networkNamespace, seccomp };
}
