import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * The npm packages that Sallyport is compared with, at pinned versions. `--peers` installs them next to the results.
 * Without this option, or without a registry, their rows say that they are not installed.
 */
const PEERS: Record<string, string> = {
  "@anthropic-ai/sandbox-runtime": "0.0.83",
  "@openai/codex": "0.166.0",
  "@wonderwhy-er/desktop-commander": "0.2.52",
  "mcp-server-commands": "0.5.0",
};

/** Overrides for dependencies whose version is not available in every registry. */
const OVERRIDES = { "typedarray.prototype.slice": "1.0.5" };

/** Installs each peer into a separate folder, so that one failure does not affect the others. */
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
    // Install scripts of other packages are not run.
    const words = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    const { status } = spawnSync("npm", words, { cwd, stdio: ["ignore", "ignore", "inherit"] });
    if (status !== 0) process.stderr.write(`${name} could not be installed; its row will say so\n`);
  }
}

/** Returns the path of a peer's program: installed on demand, in node_modules, or on PATH. */
export function peerProgram(name: string): string | null {
  const own = fileURLToPath(new URL("../node_modules/.bin", import.meta.url));
  const installed = Object.keys(PEERS).map((peer) => `${peerFolder(peer)}node_modules/.bin`);
  const folders = [...installed, own, ...(process.env.PATH ?? "").split(":")];
  return folders.map((folder) => `${folder}/${name}`).find((path) => existsSync(path)) ?? null;
}
