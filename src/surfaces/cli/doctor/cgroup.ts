import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Finding, ok, warn } from "./finding.ts";
import { isWritable } from "./state-folder.ts";

const ROOT = "/sys/fs/cgroup";

/** Where a command's memory, processor and process count can be limited as a whole. */
export function checkCgroup(): Finding {
  if (!existsSync(join(ROOT, "cgroup.controllers"))) {
    const fix = "Use a system with the unified hierarchy (systemd does so by default).";
    return warn("cgroup", "no cgroup v2 here; limits hold per process, not per command", fix);
  }
  const own = /^0::(.*)$/m.exec(readFileSync("/proc/self/cgroup", "utf8"))?.[1] ?? "/";
  const folder = join(ROOT, own);
  const controllers = readIfThere(join(folder, "cgroup.controllers")).trim();
  if (!isWritable(folder)) {
    const fix = "Have it delegated: `systemd-run --user --scope -p Delegate=yes …`.";
    return warn("cgroup", `v2, but ${folder} is not ours; limits hold per process, not per command`, fix);
  }
  return ok("cgroup", `v2 at ${own}: ${controllers || "no controllers"}`);
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
