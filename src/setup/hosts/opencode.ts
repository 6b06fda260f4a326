import { opencodePlugin } from "../../hosts/hooks/index.ts";
import { type Host, SHELL_FILE, shellFile, strings, variables } from "./host.ts";

export const opencode: Host = {
  name: "opencode",
  title: "opencode",
  programs: ["opencode"],
  folders: [],
  tested: "1.18.33",
  source: "opencode-ai",
  modes: ["mcp", "hook", "shell"],
  files: {
    server: {
      format: "json",
      user: {
        folder: ".config/opencode",
        variable: { name: "XDG_CONFIG_HOME", below: "opencode" },
        names: ["opencode.json", "opencode.jsonc"],
      },
      project: ["opencode.json", "opencode.jsonc"],
    },
    plugin: {
      format: "text",
      user: {
        folder: ".config/opencode",
        variable: { name: "XDG_CONFIG_HOME", below: "opencode" },
        names: ["plugin/sallyport.js"],
      },
      project: [".opencode/plugin/sallyport.js"],
    },
    [SHELL_FILE]: shellFile("opencode"),
  },
  servers: ["mcp"],
  entry: ({ command, args, env }) => ({
    type: "local",
    command: [command, ...args],
    ...(Object.keys(env).length > 0 ? { environment: env } : {}),
    enabled: true,
    // In milliseconds; the default of 5 seconds is shorter than many commands.
    timeout: 60_000,
  }),
  read(entry) {
    const [command, ...args] = strings(entry.command);
    return command === undefined ? null : { command, args, env: variables(entry.environment) };
  },
  settings: [
    { file: "server", effect: "closes", change: { kind: "set", path: ["permission", "bash"], value: "deny" } },
  ],
  hook: { kind: "script", file: "plugin", script: opencodePlugin },
  shell: {
    by: "setting",
    file: "server",
    path: ["shell"],
    remains: "a project can name another shell with `shell` in its `opencode.json`",
  },
  unavailable: {},
  shellTools: ["bash"],
  namespaced: true,
  serverArgs: [],
  toolsets: "bash",
  environment: "all",
  approvals: "in the console and on the command line",
  remains: null,
};
