/** Reads the configuration of the hosts of this machine, without starting anything. */
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { SallyportError } from "../core/error.ts";
import { isDone } from "./changes.ts";
import type { Json, Path } from "./edit/document.ts";
import { type Connection, isOurServer, onPath, refusalOf, runsAnother } from "./entry-trust.ts";
import type { Places } from "./files.ts";
import { hooksOf } from "./found-hooks.ts";
import { shellOf } from "./found-shell.ts";
import { type HostDocument, isObject, openDocuments } from "./host-documents.ts";
import { ENTRY, type Host, SCOPES } from "./hosts/host.ts";
import { HOSTS } from "./hosts/index.ts";
import { variablesOfProject } from "./project-variables.ts";
import { readRecords, type SetupRecord } from "./record.ts";

export interface HostState {
  host: Host;
  /** The program on PATH, or the folder of the host. Null when the host is not installed. */
  installed: string | null;
  connections: Connection[];
  /** Errors in files of the host. */
  problems: string[];
  /** How commands of the host can still bypass Sallyport. Empty when it is not set up. */
  waysAround: string[];
  /** Those of them that another set-up, or another file of the project, would remove. */
  avoidable: string[];
}

/** Returns the hosts that are installed or configured on this machine. */
export function inspectHosts(places: Places, hosts: readonly Host[] = HOSTS): HostState[] {
  const records = recordsOf(places);
  return hosts
    .map((host) => inspectHost(host, records, places))
    .filter(({ installed, connections, problems }) => installed !== null || connections.length + problems.length > 0);
}

function inspectHost(host: Host, records: readonly SetupRecord[], places: Places): HostState {
  const { documents, problems } = openDocuments(host, places);
  const servers = documents
    .filter(({ file }) => file === "server")
    .flatMap((found) => {
      const own = found.scope === "user" && host.projectServers ? [host.projectServers(places.workspace)] : [];
      return [host.servers, ...own].flatMap((path) => serversOf(host, path, found, places));
    });
  const ours = servers.filter(({ isOurs }) => isOurs).map(({ connection }) => connection);
  const others = servers.filter(({ isOurs }) => !isOurs).map(({ connection }) => connection);
  const hooks = hooksOf(host, documents, places);
  const shell = shellOf(host, documents, places);
  const connections = [...ours, ...hooks.connections, ...shell.connections];
  // A hook covers the commands of the host's own shell, and our shell takes its place.
  const isShellOffered =
    connections.length > 0 && hooks.connections.length + shell.connections.length === 0 && isShellOn(host, documents);
  const tools = host.shellTools.join(", ");
  const offered = `its own shell (${tools}) is still offered; run \`sallyport setup ${host.name}\``;
  const variables = connections.length > 0 ? variablesOfProject(host, documents) : [];
  const avoidable = [...(isShellOffered ? [offered] : []), ...hooks.avoidable, ...shell.avoidable, ...variables];
  const remaining = connections.length > 0 ? waysThatRemain(host, connections, others) : [];
  for (const { mode, files } of records.filter((each) => each.host === host.name)) {
    if (problems.length > 0 || connections.some((each) => each.mode === mode)) continue;
    const paths = files.map(({ path }) => path).join(" or ");
    problems.push(`what \`sallyport setup ${host.name} --mode ${mode}\` wrote is no longer in ${paths}; run it again`);
  }
  const waysAround = [...avoidable, ...remaining];
  return { host, installed: installation(host, places), connections, problems, waysAround, avoidable };
}

/** Returns the records of set-ups of the user, and of this project. */
function recordsOf({ state, workspace }: Places): SetupRecord[] {
  try {
    const here = realpathSync(workspace);
    return readRecords(state).filter((each) => each.workspace === null || each.workspace === here);
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error;
    return []; // `sallyport setup` reports it
  }
}

/** Returns the servers in a file of a host, and whether each is ours. */
function serversOf(
  host: Host,
  serversPath: Path,
  { scope, path, document }: HostDocument,
  places: Places,
): { connection: Connection; isOurs: boolean }[] {
  const servers = document.get(serversPath);
  if (typeof servers !== "object" || servers === null) return [];
  const entries: [string, Json][] = Array.isArray(servers)
    ? servers.map((entry) => [isObject(entry) ? String(entry.name) : "", entry])
    : Object.entries(servers);
  return entries.flatMap(([name, entry]) => {
    const server = isObject(entry) ? host.read(entry) : null;
    if (!server) return [];
    const line = document.lineOf([...serversPath, host.listed ? { name } : name]);
    const runsOurs = isOurServer(server, places);
    const refusal = runsOurs ? refusalOf(server, scope, places) : runsAnother(server);
    const connection = { mode: "mcp" as const, scope, path, line, name, server, refusal };
    return [{ connection, isOurs: runsOurs || name === ENTRY }];
  });
}

/** Reports whether a setting that turns off the host's own shell is missing. */
function isShellOn(host: Host, documents: readonly HostDocument[]): boolean {
  return host.settings.some(({ file, change, effect }) => {
    if (effect !== "closes") return false;
    const scopes = SCOPES.map(
      (scope) => documents.find((each) => each.scope === scope && each.file === file)?.document,
    );
    if (change.kind === "include") return !scopes.some((document) => document && isDone(document, change));
    // Of two files that set a value, that of the project counts.
    const deciding = scopes.findLast((document) => document?.get(change.path) !== undefined);
    return !deciding || !isDone(deciding, change);
  });
}

function waysThatRemain(host: Host, connections: readonly Connection[], others: readonly Connection[]): string[] {
  const ways: string[] = [];
  if (host.remains !== null && connections.some(({ mode }) => mode === "mcp")) ways.push(host.remains);
  if (host.shell?.by === "setting" && connections.some(({ mode }) => mode === "shell")) ways.push(host.shell.remains);
  if (host.hook?.remains && connections.some(({ mode }) => mode === "hook")) ways.push(host.hook.remains);
  for (const { name, server } of others) {
    const words = [name, server.command, ...server.args].join(" ");
    if (RUNS_COMMANDS.test(words) && !connections.some((ours) => ours.name === name)) {
      ways.push(`the MCP server \`${name}\` may run commands`);
    }
  }
  return ways;
}

/** Words in the names of servers that run commands. A hint, because the tools of other servers are unknown. */
const RUNS_COMMANDS = /shell|terminal|command|exec|ssh|bash|tmux|docker|kube|interpreter|code-?runner|repl/i;

function installation(host: Host, places: Places): string | null {
  for (const program of host.programs) {
    const path = onPath(program, places);
    if (path) return path;
  }
  const folder = host.folders.map((each) => join(places.home, each)).find((each) => existsSync(each));
  return folder ?? null;
}
