import { type Host, readServer, serverEntry } from "./host.ts";

export const claudeCode: Host = {
  name: "claude-code",
  title: "Claude Code",
  programs: ["claude"],
  folders: [],
  tested: "2.1.328",
  source: "@anthropic-ai/claude-code",
  modes: ["mcp", "hook"],
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
    file: "settings",
    path: ["hooks", "PreToolUse"],
    entry: (command) => ({ matcher: "Bash|Monitor|PowerShell|REPL", hooks: [{ type: "command", command }] }),
  },
  shellTools: ["Bash", "Monitor"],
  namespaced: true,
  serverArgs: [],
  toolsets: "bash",
  environment: "all",
  approvals: "in the host, except with `-p`",
  remains: null,
  projectNext: "Claude Code asks once whether to use the server of this project.",
};
