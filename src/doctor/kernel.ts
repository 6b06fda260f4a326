import { release, type } from "node:os";
import { type Finding, fail, ok, warn } from "./finding.ts";

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
