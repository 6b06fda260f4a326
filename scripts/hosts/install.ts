import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Headless } from "./headless/headless.ts";
import { run } from "./process.ts";

const INSTALL_TIMEOUT_MS = 15 * 60_000;

export interface Installed {
  /** The program to start. */
  program: string;
  version: string;
}

/** The default folder of the hosts: gigabytes that are worth keeping between runs. */
export function defaultCache(): string {
  const base = process.env.XDG_CACHE_HOME;
  if (base) return join(base, "sallyport-hosts");
  return fileURLToPath(new URL("../../node_modules/.cache/sallyport-hosts", import.meta.url));
}

/** Installs the newest version of a host from npm, or finds the installed one if `update` is false. */
export async function install(host: Headless, cache: string, update: boolean): Promise<Installed> {
  const folder = join(cache, host.name);
  const program = join(folder, "node_modules/.bin", host.program);
  if (update || !existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
    const args = ["install", "--no-audit", "--no-fund", "--loglevel", "error", `${host.package}@latest`];
    const env = { ...process.env, HOME: homedir() };
    const { code, stderr } = await run("npm", args, { cwd: folder, env, timeoutMs: INSTALL_TIMEOUT_MS });
    if (code !== 0) throw new Error(`npm could not install ${host.package}: ${stderr.trim().split("\n").at(-1)}`);
  }
  const manifest = join(folder, "node_modules", host.package, "package.json");
  return { program, version: (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version };
}
