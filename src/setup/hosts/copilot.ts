import { type Host, readServer, serverEntry } from "./host.ts";

export const copilot: Host = {
  name: "copilot",
  title: "GitHub Copilot CLI",
  programs: ["copilot"],
  folders: [],
  tested: "1.0.102",
  source: "@github/copilot",
  modes: ["mcp", "hook"],
  files: {
    server: {
      format: "json",
      user: { folder: ".copilot", variable: { name: "COPILOT_HOME" }, names: ["mcp-config.json"] },
      project: [".github/mcp.json"],
    },
    hooks: {
      format: "json",
      user: { folder: ".copilot/hooks", variable: { name: "COPILOT_HOME", below: "hooks" }, names: ["sallyport.json"] },
      project: [".github/hooks/sallyport.json"],
    },
    // Only read, to find out whether hooks are turned off.
    settings: {
      format: "json",
      user: { folder: ".copilot", variable: { name: "COPILOT_HOME" }, names: ["settings.json"] },
      project: [".github/copilot/settings.json"],
    },
  },
  servers: ["mcpServers"],
  entry: (server) => ({ type: "local", ...serverEntry(server), tools: ["*"] }),
  read: readServer,
  settings: [],
  hook: {
    kind: "entry",
    file: "hooks",
    path: ["hooks", "preToolUse"],
    entry: (command) => ({ type: "command", bash: command, timeoutSec: 60 }),
    required: [{ kind: "default", path: ["version"], value: 1 }],
    userOnly: "it runs commands without the hooks of a project when it is started with `-p`",
    off: [{ file: "settings", path: ["disableAllHooks"], value: true }],
  },
  shell: null,
  unavailable: { shell: "it keeps a shell of its own, which no setting or variable changes" },
  shellTools: ["bash"],
  namespaced: true,
  serverArgs: [],
  toolsets: "bash",
  environment: "all",
  approvals: "in the host, except with `-p`",
  remains: "its own `bash` tool, unless it is started with `copilot --excluded-tools bash`",
  next: "Start it with `copilot --excluded-tools bash`: no configuration file turns off its own shell.",
};
