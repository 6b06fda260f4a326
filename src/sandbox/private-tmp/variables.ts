import { join } from "node:path";

/** Variables that set cache folders. Programs that use $XDG_CACHE_HOME (pip, uv, go, deno …) need no entry. */
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
 * Returns variables that move temporary files and caches to the private directory, since commands cannot write to the
 * home directory. The user's own caches are not writable, because their contents run later outside the sandbox.
 * `kept` lists the names that the operator passes through unchanged.
 */
export function privateTmpVariables(folder: string, kept: readonly string[]): Record<string, string> {
  const all: Record<string, string> = { TMPDIR: folder, TMP: folder, TEMP: folder, TMUX_TMPDIR: folder };
  for (const [name, place] of Object.entries(CACHES)) all[name] = join(folder, place);
  return Object.fromEntries(Object.entries(all).filter(([name]) => !kept.includes(name)));
}
