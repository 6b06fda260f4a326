/** Checks the connection of each host, by starting the server as the host would. */
import { homedir } from "node:os";
import type { Connection } from "./entry-trust.ts";
import type { Places } from "./files.ts";
import type { Host } from "./hosts/host.ts";
import { type HostState, inspectHosts } from "./inspect.ts";
import { probeHook, probeServer, probeShell } from "./probe.ts";

export interface CheckedConnection {
  mode: Connection["mode"];
  scope: Connection["scope"];
  file: string;
  line: number;
  name: string;
  command: string[];
  status: "connected" | "failed" | "not started";
  /** The tools that the server offers. Null for a hook and a shell, and unless it is connected. */
  tools: string[] | null;
  message: string | null;
}

export interface HostCheck {
  host: string;
  title: string;
  /** The program or folder of the host. Null when only its configuration exists. */
  installed: string | null;
  status: "connected" | "broken" | "not set up";
  connections: CheckedConnection[];
  problems: string[];
  /** How commands of the host can bypass Sallyport. */
  waysAround: string[];
}

/** Returns the places of this process. */
export function localPlaces(state: string): Places {
  const { env, platform } = process;
  return { home: env.HOME || homedir(), workspace: process.cwd(), state, env, platform };
}

/** Checks the hosts that are installed or configured. */
export async function checkHosts(places: Places, hosts?: readonly Host[]): Promise<HostCheck[]> {
  const checks: HostCheck[] = [];
  // One after the other, since the first server may have to prepare the state folder for all.
  for (const state of inspectHosts(places, hosts)) checks.push(await checkHost(state, places));
  return checks;
}

async function checkHost(
  { host, installed, connections, problems, waysAround }: HostState,
  places: Places,
): Promise<HostCheck> {
  const checked: CheckedConnection[] = [];
  for (const connection of connections) checked.push(await checkConnection(host, connection, places));
  const clashes = host.namespaced
    ? []
    : checked.flatMap(({ tools }) => (tools ?? []).filter((tool) => host.shellTools.includes(tool)));
  const ways = clashes.map((tool) => `its own tool \`${tool}\` replaces the one of Sallyport with the same name`);
  const isBroken = problems.length > 0 || checked.some(({ status }) => status !== "connected");
  const status = isBroken ? "broken" : checked.length > 0 ? "connected" : "not set up";
  return {
    host: host.name,
    title: host.title,
    installed,
    status,
    connections: checked,
    problems,
    waysAround: [...waysAround, ...ways],
  };
}

async function checkConnection(host: Host, connection: Connection, places: Places): Promise<CheckedConnection> {
  const { mode, scope, path: file, line, name, server, refusal } = connection;
  const command = [server.command, ...server.args];
  const about = { mode, scope, file, line, name, command };
  if (refusal !== null) return { ...about, status: "not started", tools: null, message: refusal };
  // biome-ignore lint/suspicious/noTemplateCurlyInString: editors replace this variable
  const args = server.args.map((arg) => arg.replaceAll("${workspaceFolder}", places.workspace));
  const env = { ...hostEnvironment(host, places.env), ...server.env };
  if (mode !== "mcp") {
    const probe = mode === "hook" ? probeHook : probeShell;
    const failure = await probe({ command: server.command, args, env, cwd: places.workspace });
    return { ...about, status: failure === null ? "connected" : "failed", tools: null, message: failure };
  }
  const { tools, failure } = await probeServer({ command: server.command, args, env, cwd: places.workspace });
  return { ...about, status: failure === null ? "connected" : "failed", tools, message: failure };
}

/** Variables of a desktop session, which starts programs without the settings of a shell. */
const DESKTOP = ["HOME", "USER", "LOGNAME", "SHELL", "LANG", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"];
const DESKTOP_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Returns the environment in which the host starts servers. */
function hostEnvironment({ environment }: Host, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (environment === "all") return env;
  const names = environment === "desktop" ? DESKTOP : environment;
  const kept = Object.fromEntries(names.filter((name) => env[name] !== undefined).map((name) => [name, env[name]]));
  return environment === "desktop" ? { ...kept, PATH: DESKTOP_PATH } : kept;
}
