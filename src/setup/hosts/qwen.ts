import { type Host, readServer, SHELL_FILE, serverEntry, shellFile } from "./host.ts";

export const qwen: Host = {
  name: "qwen",
  title: "Qwen Code",
  programs: ["qwen"],
  folders: [],
  tested: "0.24.4",
  source: "@qwen-code/qwen-code",
  modes: ["mcp", "shell"],
  files: {
    server: { format: "json", user: { folder: ".qwen", names: ["settings.json"] }, project: [".qwen/settings.json"] },
    [SHELL_FILE]: shellFile("qwen"),
  },
  servers: ["mcpServers"],
  // Without `alwaysLoadTools`, the model has to search for the tools first.
  entry: (server) => ({ ...serverEntry(server), trust: true, alwaysLoadTools: true }),
  read: readServer,
  settings: [
    {
      file: "server",
      effect: "closes",
      change: { kind: "include", path: ["permissions", "deny"], value: "run_shell_command" },
    },
  ],
  hook: null,
  shell: { by: "variable", name: "PATH" },
  unavailable: { hook: "it does not run the command that a hook answers with" },
  shellTools: ["run_shell_command"],
  namespaced: true,
  serverArgs: [],
  toolsets: "bash",
  environment: "all",
  variables: { files: ["server"], path: ["env"] },
  approvals: "in the console and on the command line",
  remains: null,
};
