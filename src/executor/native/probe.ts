import { spawnSync } from "node:child_process";
import { readFileSync, readlinkSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SandboxCapabilities } from "../../core/launch.ts";
import { keeperBinary } from "./zygote.ts";

const NAME = "probed.json";
/**
 * How long a result is used. The fingerprint cannot detect every change, such as a new filter outside this container.
 */
const CACHE_TTL_MS = 3600 * 1000;

const NAMESPACES = ["user", "mnt", "pid", "net", "ipc", "uts"];
const SETTINGS = [
  "kernel/random/boot_id",
  "kernel/osrelease",
  "kernel/unprivileged_userns_clone",
  "kernel/apparmor_restrict_unprivileged_userns",
  "kernel/yama/ptrace_scope",
  ...NAMESPACES.map((name) => `user/max_${name}_namespaces`),
];

/** The lines of /proc/self/status with user IDs, capabilities, no_new_privs and seccomp filters. */
const PRIVILEGES = /^(?:Uid|Gid|Groups|Cap\w+|NoNewPrivs|Seccomp\w*):.*$/gm;

interface CachedProbe {
  atMs: number;
  circumstances: string;
  tier: unknown;
}

/**
 * Returns the result of a probe within the last hour, if the keeper and the environment have not changed since;
 * otherwise null. A probe takes longer than everything else in a short run of the command line. The cache can be
 * trusted because commands cannot write to the state folder (invariant 7).
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

/** Stores the result of a probe. Best effort: without a cache, the next gateway probes again. */
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

/** Returns everything that can change the result of a probe and can be read without probing. */
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
  socketBroker: false,
  unsupported: { shared: everyMode(["seccomp"]), isolated: everyMode(["seccomp"]) },
};

function everyMode<T>(value: T): Record<Mode, T> {
  return { on: value, off: value, ports: value };
}

const MODES = ["on", "off", "ports"] as const;
type Mode = (typeof MODES)[number];

/** The timeout is long because the kernel creates and removes network namespaces one at a time. */
const PROBE_TIMEOUT_MS = 60_000;

let known: SandboxCapabilities | null = null;

/**
 * Returns the sandbox features of this machine, probed once per process. If the probe fails, all are reported as
 * missing.
 */
export function sandboxCapabilities(): SandboxCapabilities {
  known ??= probe() ?? NOTHING;
  return known;
}

/** Returns the sandbox features of this machine, from the cache in the state folder if it is still valid. */
export function cachedSandboxCapabilities(state: string): SandboxCapabilities {
  if (known !== null) return known;
  const keeper = keeperBinary();
  const kept = parseCapabilities(readProbeCache(state, keeper));
  if (kept !== null) {
    known = kept;
    return kept;
  }
  const asked = probe();
  // Only complete results are cached: a feature may have failed temporarily, for example for lack of memory.
  if (asked?.isolation && asked.networkNamespace && asked.socketBroker) writeProbeCache(state, keeper, asked);
  known = asked ?? NOTHING;
  return known;
}

/**
 * Forgets the capabilities, because a keeper has found a feature missing that they contain. The next command probes the
 * machine again.
 */
export function forgetCapabilities(state: string): void {
  known = null;
  rmSync(join(state, NAME), { force: true });
}

function probe(): SandboxCapabilities | null {
  const { stdout } = spawnSync(keeperBinary(), ["probe"], { env: {}, encoding: "utf8", timeout: PROBE_TIMEOUT_MS });
  try {
    return parseCapabilities(JSON.parse(stdout));
  } catch {
    return null;
  }
}

/** Validates the output of a probe. Returns null if it is invalid. */
function parseCapabilities(answer: unknown): SandboxCapabilities | null {
  if (typeof answer !== "object" || answer === null) return null;
  const { landlock, mounts, isolation, networkNamespace, seccomp, socketBroker, unsupported } =
    answer as Partial<SandboxCapabilities>;
  if (typeof landlock !== "number" || !Number.isInteger(landlock) || landlock < 0) return null;
  if (mounts !== "root" && mounts !== "user" && mounts !== "none") return null;
  if (typeof isolation !== "boolean" || typeof networkNamespace !== "boolean") return null;
  if (typeof seccomp !== "boolean" || typeof socketBroker !== "boolean") return null;
  if (!isListed(unsupported)) return null;
  return { landlock, mounts, isolation, networkNamespace, seccomp, socketBroker, unsupported };
}

function isListed(value: unknown): value is SandboxCapabilities["unsupported"] {
  const { shared, isolated } = (value ?? {}) as Record<string, Record<string, unknown> | undefined>;
  return [shared, isolated].every((lists) => MODES.every((mode) => Array.isArray(lists?.[mode])));
}
