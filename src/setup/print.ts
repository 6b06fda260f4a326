/** Prints the configuration of a host instead of writing it. */
import { applyChanges } from "./changes.ts";
import { locate, type Places } from "./files.ts";
import { type Host, type Mode, readServer, type Scope, type ServerCommand, serverEntry } from "./hosts/host.ts";
import { changesOf } from "./wanted-changes.ts";

/** Any host that reads `mcpServers`, as most do. */
export const GENERIC: Host = {
  name: "default",
  title: "Other hosts",
  programs: [],
  folders: [],
  tested: null,
  source: "modelcontextprotocol.io",
  modes: ["mcp"],
  files: { server: { format: "json", user: null, project: null } },
  servers: ["mcpServers"],
  entry: serverEntry,
  read: readServer,
  settings: [],
  hook: null,
  shell: null,
  unavailable: { hook: "only hosts that are listed can", shell: "only hosts that are listed can" },
  shellTools: [],
  namespaced: true,
  serverArgs: [],
  toolsets: "bash",
  environment: "all",
  approvals: "in the host if it supports elicitation, else in the console and on the command line",
  remains: "its own shell, unless you turn it off",
};

/** Returns what a set-up adds to each file of a host, as the content of a file that has nothing else. */
export function printedFiles(
  host: Host,
  server: ServerCommand,
  scope: Scope,
  places: Places,
  mode: Mode = "mcp",
): { path: string | null; text: string }[] {
  return [...changesOf(host, server, scope, mode, places)].map(([key, changes]) => {
    const file = host.files[key] ?? host.files.server;
    return { path: locate(file, scope, places), text: applyChanges(file.format, "", changes).text };
  });
}
