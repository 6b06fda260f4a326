import { readFileSync } from "node:fs";
import { release, type } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../config/load.ts";
import { commandUser } from "../sandbox/user.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";
import { isWritable } from "./state-folder.ts";

/**
 * Checks the version of the kernel. The keeper requires pidfd_open and subreapers (Linux 5.3), and its sandbox uses
 * Landlock (Linux 5.13).
 */
export function checkKernel(): Finding {
  const shown = `${type()} ${release()}`;
  if (process.platform !== "linux") {
    return warn(
      "kernel",
      `${shown}; the keeper runs only on Linux`,
      "Use a Linux machine, container or virtual machine.",
    );
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

/** Reports the version of Node.js for bug reports. It is always `ok`: Sallyport does not start with older versions. */
export function checkNode(): Finding {
  return ok("node", `${process.version}, ${process.execPath}`);
}

/** Reports the user that commands run as, which should not be root. */
export function checkCommandUser(): Finding {
  const name = "run as";
  const { user } = loadConfig({ workspace: process.cwd() }).settings;
  const other = commandUser(user);
  if (other) return ok(name, `${other.name} (uid ${other.ids.uid})`);
  if (process.getuid?.() !== 0) return ok(name, `you (uid ${process.getuid?.()})`);
  const fix = "Set `user` in the operator's sallyport.json to an unprivileged user that owns the workspace.";
  return warn(name, "root, with reduced capabilities", fix);
}

const CONTROLLERS = ["memory", "cpu", "pids"] as const;
type Controller = (typeof CONTROLLERS)[number];

interface ControlGroup {
  version: 1 | 2;
  /** The folder of the cgroup that this process belongs to. */
  folder: string;
}

/** Reports which cgroup controllers can limit the process tree of a command, and why others cannot. */
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
  const consequence = `${kept ? `${kept}; ` : ""}not available: ${lacking}; without them, memory and process limits are enforced by polling and CPU limits are not enforced`;
  if (first) {
    const where = `${first.folder} is not writable`;
    const fix =
      first.version === 2
        ? "Start Sallyport in a delegated cgroup: `systemd-run --user --scope -p Delegate=yes …`."
        : `Create a cgroup below ${first.folder}, \`chown\` it to your user, and start Sallyport in it.`;
    return warn("cgroup", `${consequence} (${where})`, fix);
  }
  return warn("cgroup", consequence, "Use a kernel with these controllers and mount them at /sys/fs/cgroup.");
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

/** Checks the limit on open files. Each running session needs a connection in its gateway. */
export function checkOpenFiles(): Finding {
  const limit = softLimit("Max open files");
  if (limit >= 1024) return ok("open files", limitText(limit));
  return warn(
    "open files",
    `only ${limit}, enough for about ${Math.floor(limit / 2)} sessions`,
    "Raise the limit: `ulimit -n 4096`.",
  );
}

/** Checks the limit on processes. Each session needs at least two: its keeper and its command. */
export function checkProcesses(): Finding {
  const limit = softLimit("Max processes");
  if (limit >= 512) return ok("processes", limitText(limit));
  return warn("processes", `only ${limit} for this user, including commands`, "Raise the limit: `ulimit -u 4096`.");
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
