import { readFileSync } from "node:fs";
import { type Finding, ok, warn } from "./finding.ts";

/** A running session costs its gateway a connection, and its keeper a handful of descriptors of its own. */
export function checkOpenFiles(): Finding {
  const limit = softLimit("Max open files");
  if (limit >= 1024) return ok("open files", shown(limit));
  return warn(
    "open files",
    `only ${limit}, enough for about ${Math.floor(limit / 2)} sessions`,
    "Raise it: `ulimit -n 4096`.",
  );
}

/** A keeper and its command are two processes at least. */
export function checkProcesses(): Finding {
  const limit = softLimit("Max processes");
  if (limit >= 512) return ok("processes", shown(limit));
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

function shown(limit: number): string {
  return limit === Number.POSITIVE_INFINITY ? "no limit" : `up to ${limit}`;
}
