import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { StdioServer } from "./server.ts";

/** The best known MCP server for commands, where it happens to be installed: it is no dependency of ours. */
export async function desktopCommander(): Promise<StdioServer | null> {
  let manifest: string;
  try {
    manifest = fileURLToPath(import.meta.resolve("@wonderwhy-er/desktop-commander/package.json"));
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
