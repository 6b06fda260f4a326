import { type Host, SHELL_FILE, shellFile, strings, variables } from "./host.ts";

export const goose: Host = {
  name: "goose",
  title: "goose",
  programs: ["goose"],
  folders: [".config/goose"],
  tested: null,
  source: "github.com/block/goose",
  modes: ["mcp", "shell"],
  files: {
    server: {
      format: "yaml",
      user: {
        folder: ".config/goose",
        variable: { name: "XDG_CONFIG_HOME", below: "goose" },
        names: ["config.yaml"],
      },
      project: null,
    },
    [SHELL_FILE]: shellFile("goose"),
  },
  servers: ["extensions"],
  entry: ({ command, args, env }) => ({
    enabled: true,
    type: "stdio",
    name: "sallyport",
    description: "Runs commands through Sallyport",
    cmd: command,
    args,
    envs: env,
    timeout: 300,
  }),
  read: ({ cmd, args, envs }) =>
    typeof cmd === "string" ? { command: cmd, args: strings(args), env: variables(envs) } : null,
  settings: [
    {
      file: "server",
      effect: "required",
      change: {
        kind: "default",
        path: ["extensions", "developer"],
        value: { enabled: true, type: "platform", name: "developer", description: "", bundled: true },
      },
    },
    {
      file: "server",
      effect: "closes",
      // All tools of the extension but its shell. Unknown names are ignored; older versions have `text_editor`.
      change: {
        kind: "set",
        path: ["extensions", "developer", "available_tools"],
        value: ["write", "edit", "tree", "text_editor", "analyze"],
      },
    },
  ],
  hook: null,
  shell: { by: "variable", name: "GOOSE_SHELL" },
  unavailable: { hook: "it has no hooks" },
  shellTools: ["shell"],
  namespaced: true,
  serverArgs: [],
  toolsets: "bash",
  environment: "all",
  approvals: "in the console and on the command line",
  remains: null,
};
