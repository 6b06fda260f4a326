import { readFileSync } from "node:fs";
import { release } from "node:os";
import { type Finding, ok, warn } from "./finding.ts";

/** The kernel versions that brought a new Landlock ABI, newest first. */
const ABI_SINCE: [major: number, minor: number, abi: number][] = [
  [6, 15, 7],
  [6, 12, 6],
  [6, 10, 5],
  [6, 7, 4],
  [6, 2, 3],
  [5, 19, 2],
  [5, 13, 1],
];

const FIX =
  "Boot with `lsm=landlock,…` on the kernel's command line, or use a kernel built with CONFIG_SECURITY_LANDLOCK.";

/** Only a system call tells the ABI for certain; the list of active modules and the kernel's version come close. */
export function checkLandlock(): Finding {
  const [major = 0, minor = 0] = release().split(".").map(Number);
  const abi = ABI_SINCE.find(([wanted, since]) => major > wanted || (major === wanted && minor >= since))?.[2];
  if (process.platform !== "linux" || abi === undefined) return warn("landlock", "not in this kernel", FIX);
  const modules = activeModules();
  if (modules === null)
    return warn(
      "landlock",
      `cannot tell; this kernel can have ABI ${abi}`,
      "Mount securityfs on /sys/kernel/security to see.",
    );
  return modules.includes("landlock")
    ? ok("landlock", `on, ABI ${abi} or newer`)
    : warn("landlock", "switched off", FIX);
}

function activeModules(): string[] | null {
  try {
    return readFileSync("/sys/kernel/security/lsm", "utf8").trim().split(",");
  } catch {
    return null;
  }
}
