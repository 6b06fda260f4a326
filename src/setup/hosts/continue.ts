import { type Host, readServer, SHELL_FILE, serverEntry, shellFile } from "./host.ts";

export const continueCli: Host = {
  name: "continue",
  title: "Continue CLI",
  programs: ["cn"],
  folders: [],
  tested: "1.5.47",
  source: "@continuedev/cli",
  modes: ["mcp", "shell"],
  files: {
    server: {
      format: "yaml",
      user: { folder: ".continue", variable: { name: "CONTINUE_GLOBAL_DIR" }, names: ["config.yaml"] },
      project: null,
    },
    permissions: {
      format: "yaml",
      user: { folder: ".continue", variable: { name: "CONTINUE_GLOBAL_DIR" }, names: ["permissions.yaml"] },
      project: null,
    },
    [SHELL_FILE]: shellFile("continue"),
  },
  servers: ["mcpServers"],
  listed: true,
  entry: serverEntry,
  read: readServer,
  settings: [
    { file: "server", effect: "required", change: { kind: "default", path: ["name"], value: "Local Config" } },
    { file: "server", effect: "required", change: { kind: "default", path: ["version"], value: "1.0.0" } },
    { file: "server", effect: "required", change: { kind: "default", path: ["schema"], value: "v1" } },
    { file: "permissions", effect: "closes", change: { kind: "include", path: ["exclude"], value: "Bash" } },
    { file: "permissions", effect: "allows", change: { kind: "include", path: ["allow"], value: "exec" } },
    { file: "permissions", effect: "allows", change: { kind: "include", path: ["allow"], value: "process" } },
  ],
  hook: null,
  shell: { by: "variable", name: "SHELL" },
  unavailable: { hook: "it has no hooks" },
  shellTools: ["Bash"],
  // Its own tools replace those of a server that have the same name.
  namespaced: false,
  serverArgs: [],
  toolsets: "shell",
  environment: "all",
  approvals: "in the console and on the command line",
  remains: null,
};
