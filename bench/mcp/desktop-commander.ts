import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { peerFolder } from "../peers.ts";
import { StdioServer } from "./server.ts";

const NAME = "@wonderwhy-er/desktop-commander";

/** A widely used MCP server for commands. Measured when it is installed (`--peers`); it is not a dependency. */
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
