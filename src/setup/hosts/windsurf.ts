import { EDITOR, type Host, readServer, serverEntry } from "./host.ts";

export const windsurf: Host = {
  name: "windsurf",
  title: "Windsurf",
  programs: ["windsurf"],
  folders: [".codeium/windsurf"],
  tested: null,
  source: "docs.windsurf.com",
  modes: ["mcp"],
  files: {
    server: { format: "json", user: { folder: ".codeium/windsurf", names: ["mcp_config.json"] }, project: null },
  },
  servers: ["mcpServers"],
  entry: serverEntry,
  read: readServer,
  settings: [],
  hook: null,
  shell: null,
  unavailable: EDITOR,
  shellTools: ["run_command"],
  namespaced: true,
  serverArgs: [],
  toolsets: "bash",
  environment: "desktop",
  approvals: "in the console and on the command line",
  remains: "its terminal tool",
  next: "Do not let Cascade run terminal commands by itself, and reject its requests: no setting removes its terminal tool. Pass `--workspace DIR`, because Windsurf does not start servers in your project.",
};
