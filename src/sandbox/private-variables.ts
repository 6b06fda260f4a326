import { join } from "node:path";
import type { CommandUser } from "./user.ts";

/** Where programs put what they may lose. Those that ask $XDG_CACHE_HOME (pip, uv, go, deno …) need no line of their own. */
const CACHES: Readonly<Record<string, string>> = {
  XDG_CACHE_HOME: "cache",
  npm_config_cache: "cache/npm",
  YARN_CACHE_FOLDER: "cache/yarn",
  BUN_INSTALL_CACHE_DIR: "cache/bun",
  CARGO_HOME: "cache/cargo",
  GOMODCACHE: "cache/go-mod",
  GRADLE_USER_HOME: "cache/gradle",
  NUGET_PACKAGES: "cache/nuget",
};

/**
 * A home is not theirs to write to, so commands get a temporary folder and caches of their own. Never a person's caches:
 * what a command puts there would run later, unconfined. `kept`: names the operator lets through as they are.
 */
export function privateVariables(folder: string, kept: readonly string[]): Record<string, string> {
  const all: Record<string, string> = { TMPDIR: folder, TMP: folder, TEMP: folder, TMUX_TMPDIR: folder };
  for (const [name, place] of Object.entries(CACHES)) all[name] = join(folder, place);
  return Object.fromEntries(Object.entries(all).filter(([name]) => !kept.includes(name)));
}

/** Root's own places are of no use to another user, and not theirs to look into. */
const OF_ROOT = ["XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "MAIL"];

export function asUser(env: Readonly<Record<string, string>>, user: CommandUser | null): Record<string, string> {
  if (user === null) return { ...env };
  const rest = Object.fromEntries(Object.entries(env).filter(([name]) => !OF_ROOT.includes(name)));
  return { ...rest, HOME: user.home, USER: user.name, LOGNAME: user.name };
}
