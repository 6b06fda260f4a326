import { type Host, readServer, SHELL_FILE, serverEntry, shellFile } from "./host.ts";

export const claudeCode: Host = {
  name: "claude-code",
  title: "Claude Code",
  programs: ["claude"],
  folders: [],
  tested: "2.1.328",
  source: "@anthropic-ai/claude-code",
  modes: ["mcp", "hook", "shell"],
  files: {
    server: {
      format: "json",
      user: { folder: "", variable: { name: "CLAUDE_CONFIG_DIR" }, names: [".claude.json"] },
      project: [".mcp.json"],
    },
    settings: {
      format: "json",
      user: { folder: ".claude", variable: { name: "CLAUDE_CONFIG_DIR" }, names: ["settings.json"] },
      project: [".claude/settings.json"],
    },
    // Settings of one person in a project. They are read, and not written.
    local: { format: "json", user: null, project: [".claude/settings.local.json"] },
    [SHELL_FILE]: shellFile("claude-code"),
  },
  servers: ["mcpServers"],
  // Where `claude mcp add` writes by default.
  projectServers: (workspace) => ["projects", workspace, "mcpServers"],
  entry: (server) => ({ type: "stdio", ...serverEntry(server) }),
  read: readServer,
  settings: [
    { file: "settings", effect: "closes", change: { kind: "include", path: ["permissions", "deny"], value: "Bash" } },
    {
      file: "settings",
      effect: "closes",
      change: { kind: "include", path: ["permissions", "deny"], value: "Monitor" },
    },
    {
      file: "settings",
      effect: "allows",
      change: { kind: "include", path: ["permissions", "allow"], value: "mcp__sallyport" },
    },
  ],
  hook: {
    kind: "entry",
    file: "settings",
    path: ["hooks", "PreToolUse"],
    entry: (command) => ({ matcher: "Bash|Monitor|PowerShell|REPL", hooks: [{ type: "command", command }] }),
    remains: "a project can turn hooks off with `disableAllHooks` in its `.claude/settings.json`",
    off: ["settings", "local"].map((file) => ({ file, path: ["disableAllHooks"], value: true })),
  },
  shell: {
    by: "setting",
    file: "settings",
    path: ["env", "CLAUDE_CODE_SHELL"],
    remains: "a project can name another shell with `env` in its `.claude/settings.json`",
  },
  unavailable: {},
  shellTools: ["Bash", "Monitor"],
  namespaced: true,
  serverArgs: [],
  toolsets: "bash",
  environment: "all",
  variables: { files: ["settings", "local"], path: ["env"] },
  approvals: "in the host, except with `-p`",
  remains: null,
  projectNext: "Claude Code asks once whether to use the server of this project.",
};
