import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * What we measure ourselves against but do not depend on, at pinned versions. Installed on demand (`--peers`) beside the
 * results; without that, or without a registry, their rows say that they are not there.
 */
const PEERS: Record<string, string> = {
  "@anthropic-ai/sandbox-runtime": "0.0.83",
  "@openai/codex": "0.166.0",
  "@wonderwhy-er/desktop-commander": "0.2.52",
};

/** What one of them depends on by a version that not every registry has. */
const OVERRIDES = { "typedarray.prototype.slice": "1.0.5" };

/** Each in a folder of its own: one that cannot be installed must not keep the others away. */
export function peerFolder(name: string): string {
  return fileURLToPath(new URL(`out/peers/${name.replace("/", "+")}/`, import.meta.url));
}

export function installPeers(): void {
  for (const [name, version] of Object.entries(PEERS)) {
    const cwd = peerFolder(name);
    mkdirSync(cwd, { recursive: true });
    writeFileSync(
      `${cwd}package.json`,
      JSON.stringify({ private: true, dependencies: { [name]: version }, overrides: OVERRIDES }),
    );
    // Their own install scripts are not ours to run.
    const words = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    const { status } = spawnSync("npm", words, { cwd, stdio: ["ignore", "ignore", "inherit"] });
    if (status !== 0) process.stderr.write(`${name} could not be installed; its row will say so\n`);
  }
}

/** Where a peer's program is: installed on demand, in our own node_modules, or on the PATH. */
export function peerProgram(name: string): string | null {
  const own = fileURLToPath(new URL("../node_modules/.bin", import.meta.url));
  const installed = Object.keys(PEERS).map((peer) => `${peerFolder(peer)}node_modules/.bin`);
  const folders = [...installed, own, ...(process.env.PATH ?? "").split(":")];
  return folders.map((folder) => `${folder}/${name}`).find((path) => existsSync(path)) ?? null;
}
