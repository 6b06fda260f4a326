import { EDITOR, type Host, readServer, serverEntry } from "./host.ts";

export const vscode: Host = {
  name: "vscode",
  title: "VS Code",
  programs: ["code"],
  folders: [".config/Code", "Library/Application Support/Code"],
  tested: null,
  source: "code.visualstudio.com/docs/copilot",
  modes: ["mcp"],
  files: {
    server: {
      format: "json",
      user: { folder: ".config/Code/User", macFolder: "Library/Application Support/Code/User", names: ["mcp.json"] },
      project: [".vscode/mcp.json"],
    },
  },
  servers: ["servers"],
  entry: (server) => ({ type: "stdio", ...serverEntry(server) }),
  read: readServer,
  settings: [],
  hook: null,
  shell: null,
  unavailable: { hook: "its hooks still change between versions", shell: EDITOR.shell },
  shellTools: ["run_in_terminal"],
  namespaced: true,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the editor replaces this variable
  serverArgs: ["--workspace", "${workspaceFolder}"],
  toolsets: "bash",
  environment: "desktop",
  approvals: "in the host",
  remains: "its terminal tools, until you deselect them in the Chat view",
  next: "In the Chat view, choose Configure Tools and deselect the built-in terminal tools: no setting does that.",
};
