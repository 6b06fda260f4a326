/** The command with which a host starts our server. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Host, ServerCommand } from "./hosts/host.ts";

/** Returns the script of the command line of this installation. */
export function ownScript(): string {
  return realpathSync(fileURLToPath(new URL("../../bin/sallyport.js", import.meta.url)));
}

export interface ServerOptions {
  agent: string;
  toolsets: string;
  /** The workspace. Null for the folder in which the host starts the server. */
  workspace: string | null;
  state: string;
}

/** Returns the options that a hook and a shell share with the server. */
export function sharedOptions({ args }: ServerCommand): string[] {
  return ["--agent", "--state"].flatMap((name) => {
    const at = args.indexOf(name);
    return at < 0 ? [] : args.slice(at, at + 2);
  });
}

/**
 * Returns the command with absolute paths, because hosts start servers with a minimal PATH. Some hosts do not pass on
 * the environment either, so the state folder and the folder of the configuration are part of the command if they are
 * not the default ones.
 */
export function serverCommand(host: Host, options: ServerOptions, env: NodeJS.ProcessEnv, home: string): ServerCommand {
  const { agent, toolsets, workspace, state } = options;
  const hostArgs = workspace === null ? host.serverArgs : ["--workspace", workspace];
  const isDefaultState = state === join(home, ".local/state/sallyport");
  const { XDG_CONFIG_HOME: config } = env;
  return {
    command: process.execPath,
    args: [
      ownScript(),
      "mcp",
      "--agent",
      agent,
      ...(toolsets === "bash" ? [] : ["--tools", toolsets]),
      ...hostArgs,
      ...(isDefaultState ? [] : ["--state", state]),
    ],
    env: config && config !== join(home, ".config") ? { XDG_CONFIG_HOME: config } : {},
  };
}
