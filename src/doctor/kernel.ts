import { readFileSync } from "node:fs";
import { release, type } from "node:os";
import { loadConfig } from "../config/load.ts";
import { commandUser } from "../sandbox/user.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

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
