import { type Host, readServer, serverEntry } from "./host.ts";

export const codex: Host = {
  name: "codex",
  title: "Codex",
  programs: ["codex"],
  folders: [],
  tested: "0.169.0",
  source: "@openai/codex",
  modes: ["mcp", "hook"],
  files: {
    server: {
      format: "toml",
      user: { folder: ".codex", variable: { name: "CODEX_HOME" }, names: ["config.toml"] },
      project: [".codex/config.toml"],
    },
    hooks: {
      format: "json",
      user: { folder: ".codex", variable: { name: "CODEX_HOME" }, names: ["hooks.json"] },
      project: [".codex/hooks.json"],
    },
  },
  servers: ["mcp_servers"],
  entry: (server) => ({
    ...serverEntry(server),
    tool_timeout_sec: 60,
    // Without this, `codex exec` refuses every call. Sallyport decides about the commands.
    default_tools_approval_mode: "approve",
  }),
  read: readServer,
  settings: [
    { file: "server", effect: "closes", change: { kind: "set", path: ["features", "shell_tool"], value: false } },
  ],
  hook: {
    kind: "entry",
    file: "hooks",
    path: ["hooks", "PreToolUse"],
    entry: (command) => ({ matcher: "Bash", hooks: [{ type: "command", command, timeout: 60 }] }),
    remains: "Codex skips the hook until you trust it",
    next: "Start Codex once and trust the new hook.",
    userOnly: "it runs commands without the hooks of a project that is not trusted",
    // The second is the earlier name, which it still reads.
    off: ["hooks", "codex_hooks"].map((name) => ({ file: "server", path: ["features", name], value: false })),
  },
  shell: null,
  unavailable: { shell: "it runs the login shell of the user database or /bin/bash, and no setting changes that" },
  shellTools: ["shell", "exec_command"],
  namespaced: true,
  serverArgs: [],
  toolsets: "bash",
  // Codex starts servers with these variables and those of the entry.
  environment: ["HOME", "LOGNAME", "PATH", "SHELL", "USER", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ"],
  approvals: "in the host, except with `codex exec`",
  remains: null,
  projectNext: "Codex reads this file only in a project that you trust.",
};
