import { type Host, readServer, SHELL_FILE, serverEntry, shellFile } from "./host.ts";

export const gemini: Host = {
  name: "gemini",
  title: "Gemini CLI",
  programs: ["gemini"],
  folders: [],
  tested: "0.61.0",
  source: "@google/gemini-cli",
  modes: ["mcp", "hook", "shell"],
  files: {
    server: {
      format: "json",
      user: { folder: ".gemini", names: ["settings.json"] },
      project: [".gemini/settings.json"],
    },
    [SHELL_FILE]: shellFile("gemini"),
  },
  servers: ["mcpServers"],
  // Without `trust`, the tools are hidden from the model with `-p`.
  entry: (server) => ({ ...serverEntry(server), trust: true }),
  read: readServer,
  settings: [
    {
      file: "server",
      effect: "closes",
      change: { kind: "include", path: ["tools", "exclude"], value: "run_shell_command" },
    },
  ],
  hook: {
    kind: "entry",
    file: "server",
    path: ["hooks", "BeforeTool"],
    entry: (command) => ({
      matcher: "run_shell_command",
      hooks: [{ name: "sallyport", type: "command", command, timeout: 60_000 }],
    }),
    next: "Gemini CLI asks its user about a command that requires approval; with `-p`, such a command ends its session.",
    userOnly: "it runs commands without the hooks of a project that is not trusted",
    off: [
      { file: "server", path: ["hooksConfig", "enabled"], value: false },
      { file: "server", path: ["hooksConfig", "disabled"], value: ["sallyport"] },
    ],
  },
  shell: { by: "variable", name: "PATH" },
  unavailable: {},
  shellTools: ["run_shell_command"],
  namespaced: true,
  serverArgs: [],
  toolsets: "bash",
  environment: "all",
  approvals: "in the console and on the command line",
  remains: null,
  next: "Gemini CLI starts servers only in folders that you trust, also those of your own settings.",
};
