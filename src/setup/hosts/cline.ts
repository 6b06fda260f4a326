import { clineScript } from "../../hosts/hooks/index.ts";
import { type Host, readServer, serverEntry } from "./host.ts";

export const cline: Host = {
  name: "cline",
  title: "Cline CLI",
  programs: ["cline"],
  folders: [],
  tested: "3.0.65",
  source: "cline",
  modes: ["mcp", "hook"],
  files: {
    server: {
      format: "json",
      user: {
        folder: ".cline/data/settings",
        variable: { name: "CLINE_DATA_DIR", below: "settings" },
        names: ["cline_mcp_settings.json"],
      },
      project: null,
    },
    settings: {
      format: "json",
      user: {
        folder: ".cline/data/settings",
        variable: { name: "CLINE_DATA_DIR", below: "settings" },
        names: ["global-settings.json"],
      },
      project: null,
    },
    hook: {
      format: "text",
      user: { folder: ".cline/hooks", names: ["PreToolUse"] },
      project: null,
      executable: true,
    },
  },
  servers: ["mcpServers"],
  entry: (server) => ({ type: "stdio", ...serverEntry(server) }),
  read(entry) {
    const { transport } = entry;
    const isNested = typeof transport === "object" && transport !== null && !Array.isArray(transport);
    return readServer(isNested ? transport : entry);
  },
  settings: [
    {
      file: "settings",
      effect: "closes",
      change: { kind: "include", path: ["disabledTools"], value: "run_commands" },
    },
  ],
  hook: { kind: "script", file: "hook", script: clineScript },
  shell: null,
  unavailable: { shell: "it runs /bin/bash, which no setting or variable changes" },
  shellTools: ["run_commands"],
  namespaced: true,
  serverArgs: [],
  toolsets: "bash",
  environment: "all",
  approvals: "in the console and on the command line",
  remains: null,
};
