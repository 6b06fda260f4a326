import { EDITOR, type Host, readServer, serverEntry } from "./host.ts";

export const cursor: Host = {
  name: "cursor",
  title: "Cursor",
  programs: ["cursor", "cursor-agent"],
  folders: [".cursor"],
  tested: null,
  source: "cursor.com/docs",
  modes: ["mcp", "hook"],
  files: {
    server: { format: "json", user: { folder: ".cursor", names: ["mcp.json"] }, project: [".cursor/mcp.json"] },
    cli: {
      format: "json",
      user: { folder: ".cursor", variable: { name: "XDG_CONFIG_HOME", below: "cursor" }, names: ["cli-config.json"] },
      project: [".cursor/cli.json"],
    },
    hooks: { format: "json", user: { folder: ".cursor", names: ["hooks.json"] }, project: [".cursor/hooks.json"] },
  },
  servers: ["mcpServers"],
  entry: serverEntry,
  read: readServer,
  settings: [
    { file: "cli", effect: "required", scope: "user", change: { kind: "default", path: ["version"], value: 1 } },
    { file: "cli", effect: "required", change: { kind: "default", path: ["permissions", "allow"], value: [] } },
    {
      file: "cli",
      effect: "closes",
      change: { kind: "include", path: ["permissions", "deny"], value: "Shell(**)" },
    },
  ],
  hook: {
    kind: "entry",
    file: "hooks",
    path: ["hooks", "preToolUse"],
    // Without `failClosed`, Cursor runs the command when the hook fails.
    entry: (command) => ({ command, matcher: "Shell", failClosed: true, timeout: 60 }),
    required: [{ kind: "default", path: ["version"], value: 1 }],
    next: "The hook follows the documentation of Cursor 3.9 and was not tried: check that `sallyport ps -a` lists the first command.",
  },
  shell: null,
  unavailable: { shell: EDITOR.shell },
  shellTools: ["run_terminal_cmd", "Shell"],
  namespaced: true,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the editor replaces this variable
  serverArgs: ["--workspace", "${workspaceFolder}"],
  toolsets: "bash",
  environment: "desktop",
  approvals: "in the host",
  remains: "the terminal tool of the editor (that of the Cursor CLI is off)",
  next: "In the editor, keep Auto-Run off for terminal commands and reject them: no setting removes its terminal tool.",
};
