import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { peerFolder } from "../peers.ts";
import { StdioServer } from "./server.ts";

/** Starts an MCP server from npm. Returns null if it is not installed (`--peers` installs it). */
export async function peerServer(
  name: string,
  program: string,
  options: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
): Promise<StdioServer | null> {
  let manifest: string;
  try {
    manifest = createRequire(`${peerFolder(name)}package.json`).resolve(`${name}/package.json`);
  } catch {
    return null;
  }
  const { bin } = JSON.parse(readFileSync(manifest, "utf8")) as { bin: Record<string, string> };
  const script = bin[program];
  if (script === undefined) return null;
  const server = new StdioServer(process.execPath, [join(dirname(manifest), script)], options);
  await server.initialize();
  return server;
}

/** Starts Desktop Commander, a widely used MCP server that runs commands. */
export function desktopCommander(): Promise<StdioServer | null> {
  return peerServer("@wonderwhy-er/desktop-commander", "desktop-commander");
}
