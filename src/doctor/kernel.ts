import { readFileSync } from "node:fs";
import { release, type } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../config/load.ts";
import type { SandboxCapabilities } from "../core/launch.ts";
import { sandboxCapabilities } from "../executor/native/probe.ts";
import { commandUser } from "../sandbox/user.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";
import { isWritable } from "./state-folder.ts";

/** The keeper needs pidfd_open and subreapers (5.3) and confines with Landlock (5.13). */
export function checkKernel(): Finding {
  const shown = `${type()} ${release()}`;
  if (process.platform !== "linux") {
    return warn("kernel", `${shown}: the keeper runs on Linux`, "Use a Linux machine, container or virtual machine.");
  }
  const [major = 0, minor = 0] = release().split(".").map(Number);
  if (isBelow(major, minor, 5, 3)) return fail("kernel", shown, "Upgrade to Linux 5.13 or newer.");
  if (isBelow(major, minor, 5, 13))
    return warn("kernel", `${shown} has no Landlock`, "Upgrade to Linux 5.13 or newer.");
  return ok("kernel", shown);
}

function isBelow(major: number, minor: number, wantedMajor: number, wantedMinor: number): boolean {
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor);
}

/** A Node that is too old never gets this far; which one it is still helps in a bug report. */
export function checkNode(): Finding {
  return ok("node", `${process.version}, ${process.execPath}`);
}

const SANDBOX = "sandbox";
/** The ABI from which signals and abstract sockets are kept apart, too. */
const FULL_ABI = 6;

const GET_LANDLOCK =
  "Use a kernel with CONFIG_SECURITY_LANDLOCK, and `landlock` in `lsm=` on its command line; in a container, a seccomp profile that lets Landlock's calls through.";
const GET_NAMESPACES =
  "Let user namespaces be made: `sysctl kernel.unprivileged_userns_clone=1` (Debian) or `kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu); in a container, a seccomp profile that lets `unshare` and `mount` through.";

/** How far this machine gets with confining commands, and how to get further. */
export function checkSandbox(): Finding {
  return sandboxFinding(sandboxCapabilities());
}

export function sandboxFinding(tier: SandboxCapabilities): Finding {
  const { landlock, mounts, isolation, networkNamespace, seccomp } = tier;
  if (landlock === 0 && mounts === "none") {
    return warn(SANDBOX, "nothing can confine commands here, so what nobody can analyse is asked about", GET_LANDLOCK);
  }
  const has = [
    ...(landlock > 0 ? [`Landlock ABI ${landlock}`] : []),
    ...(mounts === "none" ? [] : [mounts === "root" ? "mounts as root" : "mounts through user namespaces"]),
    ...(seccomp ? ["seccomp"] : []),
    ...(isolation ? ["isolation"] : []),
    ...(networkNamespace ? ["a network of its own"] : []),
  ].join(", ");
  if (landlock === 0) return warn(SANDBOX, `${has}; no Landlock, so mounts alone keep files`, GET_LANDLOCK);
  if (mounts === "none") {
    return warn(
      SANDBOX,
      `${has}; protected spots of a workspace and files' owners and modes are not kept`,
      GET_NAMESPACES,
    );
  }
  if (!seccomp)
    return warn(SANDBOX, `${has}; system calls are not filtered`, "Use a kernel with CONFIG_SECCOMP_FILTER.");
  if (landlock < FULL_ABI) {
    const fix = "Linux 6.12 brings Landlock ABI 6.";
    return warn(SANDBOX, `${has}; signals and abstract sockets are not kept apart`, fix);
  }
  if (!isolation) return warn(SANDBOX, `${has}; the profile \`isolated\` cannot be had whole`, GET_NAMESPACES);
  if (!networkNamespace) return warn(SANDBOX, `${has}; with the network off there is no loopback`, GET_NAMESPACES);
  return ok(SANDBOX, `all of it: ${has}`);
}

/** Least privilege: root's commands are better somebody else's. */
export function checkCommandUser(): Finding {
  const name = "run as";
  const { user } = loadConfig({ workspace: process.cwd() }).settings;
  const other = commandUser(user);
  if (other) return ok(name, `${other.name} (uid ${other.ids.uid})`);
  if (process.getuid?.() !== 0) return ok(name, `you (uid ${process.getuid?.()})`);
  const fix = "Name an ordinary user as `user` in the operator's sallyport.json, and give them the workspace.";
  return warn(name, "root, with few capabilities left", fix);
}

const CONTROLLERS = ["memory", "cpu", "pids"] as const;
type Controller = (typeof CONTROLLERS)[number];

interface ControlGroup {
  version: 1 | 2;
  /** The group this process is in. */
  folder: string;
}

/** Where a command's memory, processors and processes can be limited as a whole, and why not where they cannot. */
export function checkCgroup(): Finding {
  const places = CONTROLLERS.map((kind) => ({ kind, place: controlGroupOf(kind) }));
  const missing = places.filter(({ place }) => place === null).map(({ kind }) => kind);
  const closed = places.flatMap(({ kind, place }) => (place && !isWritable(place.folder) ? [{ kind, ...place }] : []));
  const had = places.filter(({ kind, place }) => place && !closed.some((one) => one.kind === kind));
  const versions = [...new Set(had.map(({ place }) => place?.version))].map((version) => `v${version}`).join(" and ");
  const kept = had.length === 0 ? "" : `${versions}: ${had.map(({ kind }) => kind).join(", ")}`;
  if (missing.length === 0 && closed.length === 0) return ok("cgroup", kept);
  const [first] = closed;
  const lacking = [...missing, ...closed.map(({ kind }) => kind)].join(", ");
  const consequence = `${kept ? `${kept}; ` : ""}no ${lacking}: those limits are watched, and cpu is not kept`;
  if (first) {
    const where = `${first.folder} is not ours`;
    const fix =
      first.version === 2
        ? "Have it delegated: `systemd-run --user --scope -p Delegate=yes …`."
        : `Have it handed over: \`chown\` a group below ${first.folder} and start Sallyport in it.`;
    return warn("cgroup", `${consequence} (${where})`, fix);
  }
  return warn("cgroup", consequence, "Use a kernel with these controllers, mounted on /sys/fs/cgroup.");
}

function controlGroupOf(kind: Controller): ControlGroup | null {
  const own = read("/proc/self/cgroup");
  let first: ControlGroup | null = null;
  for (const line of read("/proc/self/mountinfo").split("\n")) {
    const [place = "", rest = ""] = line.split(" - ");
    const mount = place.split(" ")[4] ?? "";
    const [type, , options = ""] = rest.split(" ");
    if (type === "cgroup2") {
      const folder = join(mount, /^0::(.*)$/m.exec(own)?.[1] ?? "/");
      if (read(join(folder, "cgroup.controllers")).split(/\s/).includes(kind)) return { version: 2, folder };
    } else if (type === "cgroup" && options.split(",").includes(kind)) {
      const path = own.split("\n").find((each) => each.split(":")[1]?.split(",").includes(kind)) ?? "";
      first = { version: 1, folder: join(mount, path.split(":")[2] ?? "/") };
    }
  }
  return first;
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** A running session costs its gateway a connection, and its keeper a handful of descriptors of its own. */
export function checkOpenFiles(): Finding {
  const limit = softLimit("Max open files");
  if (limit >= 1024) return ok("open files", limitText(limit));
  return warn(
    "open files",
    `only ${limit}, enough for about ${Math.floor(limit / 2)} sessions`,
    "Raise it: `ulimit -n 4096`.",
  );
}

/** A keeper and its command are two processes at least. */
export function checkProcesses(): Finding {
  const limit = softLimit("Max processes");
  if (limit >= 512) return ok("processes", limitText(limit));
  return warn("processes", `only ${limit} for this user, commands included`, "Raise it: `ulimit -u 4096`.");
}

function softLimit(name: string): number {
  try {
    const value = new RegExp(`^${name}\\s+(\\S+)`, "m").exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return value === undefined || value === "unlimited" ? Number.POSITIVE_INFINITY : Number(value);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function limitText(limit: number): string {
  return limit === Number.POSITIVE_INFINITY ? "no limit" : `up to ${limit}`;
}
