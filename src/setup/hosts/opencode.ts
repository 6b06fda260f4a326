import { type Host, strings, variables } from "./host.ts";

export const opencode: Host = {
  name: "opencode",
  title: "opencode",
  programs: ["opencode"],
  folders: [],
  tested: "1.18.33",
  source: "opencode-ai",
  modes: ["mcp"],
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
  hook: null,
  shellTools: ["bash"],
  namespaced: true,
  serverArgs: [],
  toolsets: "bash",
  environment: "all",
  approvals: "in the console and on the command line",
  remains: null,
};
