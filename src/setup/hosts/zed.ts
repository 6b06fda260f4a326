import { type Host, readServer } from "./host.ts";

export const zed: Host = {
  name: "zed",
  title: "Zed",
  programs: ["zed", "zeditor"],
  folders: [".config/zed"],
  tested: null,
  source: "zed.dev/docs",
  modes: ["mcp"],
  files: {
    server: {
      format: "json",
      user: {
        folder: ".config/zed",
        variable: { name: "XDG_CONFIG_HOME", below: "zed" },
        names: ["settings.json"],
      },
      project: [".zed/settings.json"],
    },
  },
  servers: ["context_servers"],
  entry: ({ command, args, env }) => ({ command, args, env }),
  read: readServer,
  settings: [
    {
      file: "server",
      effect: "closes",
      change: { kind: "set", path: ["agent", "tool_permissions", "tools", "terminal", "default"], value: "deny" },
    },
  ],
  hook: null,
  shell: null,
  unavailable: { hook: "it has no hooks", shell: "its agent runs /bin/sh, and no setting changes that" },
  shellTools: ["terminal"],
  namespaced: true,
  serverArgs: [],
  toolsets: "bash",
  environment: "desktop",
  approvals: "in the console and on the command line",
  remains: null,
  projectRemains: "its terminal tool, because Zed reads the permissions of tools only from the user's settings",
  next: "Zed 0.224 or newer is required: earlier versions ignore the permissions of tools.",
};
