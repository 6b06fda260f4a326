import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { loadConfig } from "../../config/load.ts";
import { networkText } from "../../sandbox/access.ts";
import type { Io } from "../command.ts";
import { printJson } from "../io.ts";
import { resolveProfile, withoutSlash } from "./resolve-profile.ts";
import type { ProgramOptions } from "./start-program.ts";

/** Prints what a profile means on this machine: what the program could access, and what is set for it. */
export function printProfile(
  { profile, agent }: Pick<ProgramOptions, "profile" | "agent">,
  { json, io }: { json: boolean; io: Io },
): number {
  const workspace = realpathSync.native(".");
  const home = process.env.HOME || homedir();
  const resolved = resolveProfile(profile, { home, workspace, env: process.env, runFolder: "/tmp/sallyport-agent-…" });
  const settings = loadConfig({ workspace }).forAgent(agent);
  const sandbox = settings.sandbox === "off" ? "workspace-write" : settings.sandbox;
  if (json) {
    printJson({ ...resolved, agent, workspace, sandbox, network: settings.network }, io);
    return 0;
  }
  const shown = (path: string) => (path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path);
  const missing = (path: string) => (resolved.notCreated.includes(path) ? " (must not appear)" : " (will be created)");
  const paths = (list: readonly string[]) =>
    list.map((path) => `${shown(path)}${existsSync(withoutSlash(path)) ? "" : missing(path)}`);
  const rows: [string, readonly string[]][] = [
    ["Program", [resolved.program ?? `not found${profile.install ? `; install it with \`${profile.install}\`` : ""}`]],
    ["Agent", [agent]],
    ["Sandbox", [`${sandbox}, ${networkText(settings.network)}`]],
    ["Can write", [`${shown(workspace)} (workspace)`, ...settings.writable.map(shown), ...paths(resolved.writable)]],
    ["But not", paths(resolved.protected)],
    ["Can also read", resolved.readable.map(shown)],
    [
      "Variables",
      [
        ...resolved.variables.map((name) => `${name} (inherited)`),
        ...Object.entries(resolved.environment).map(([name, value]) => `${name}=${value}`),
      ],
    ],
    ["Arguments", resolved.arguments.length > 0 ? [resolved.arguments.join(" ")] : []],
    ["Files", Object.keys(resolved.files)],
    ["Remains", resolved.remains],
  ];
  const lines = rows.flatMap(([label, values]) => values.map((value, index) => line(index === 0 ? label : "", value)));
  io.out(`${resolved.title}\n${lines.join("")}`);
  return 0;
}

function line(label: string, value: string): string {
  return `  ${label.padEnd(14)} ${value}\n`;
}
