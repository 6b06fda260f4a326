import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { peerFolder } from "../peers.ts";
import { StdioServer } from "./server.ts";

const NAME = "@wonderwhy-er/desktop-commander";

/**
 * Starts Desktop Commander, a widely used MCP server that runs commands. Returns null if it is not installed (`--peers`
 * installs it).
 */
export async function desktopCommander(): Promise<StdioServer | null> {
  let manifest: string;
  try {
    manifest = createRequire(`${peerFolder(NAME)}package.json`).resolve(`${NAME}/package.json`);
  } catch {
    return null;
  }
  const { bin } = JSON.parse(readFileSync(manifest, "utf8")) as { bin: Record<string, string> };
  const program = bin["desktop-commander"];
  if (program === undefined) return null;
  const server = new StdioServer(process.execPath, [join(dirname(manifest), program)]);
  await server.initialize();
  return server;
}
