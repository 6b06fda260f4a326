import { readFileSync, readlinkSync } from "node:fs";
import type { ForegroundProcess, InputState } from "../executor.ts";
import type { Reply } from "./connection.ts";

/** A keeper says which process it is about; what that is stands in /proc. */
export function inputStateOf({
  reading = null,
  echo = true,
  canonical = true,
  foreground = 0,
  bytes = 0,
}: Reply): InputState {
  return { reading, echo, canonical, foreground: foreground > 0 ? processOf(foreground) : null, bytes };
}

function processOf(pid: number): ForegroundProcess {
  return {
    pid,
    program: seen(() => readlinkSync(`/proc/${pid}/exe`)),
    argv: seen(() => readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1)) ?? [],
    cwd: seen(() => readlinkSync(`/proc/${pid}/cwd`)),
  };
}

/** It may have ended meanwhile, or belong to another user. */
function seen<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}
