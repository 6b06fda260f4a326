/** Reads the configuration of the hosts of this machine, without starting anything. */
import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, delimiter, isAbsolute, join } from "node:path";
import { SallyportError } from "../core/error.ts";
import { isWithin } from "../sandbox/workspace.ts";
import { isDone } from "./changes.ts";
import { type Json, openDocument, type Path, type TextDocument } from "./edit/document.ts";
import { inFile } from "./errors.ts";
import { locate, type Places, readText } from "./files.ts";
import { readHook } from "./hook-command.ts";
import { ENTRY, type Host, type HostFile, type Mode, SCOPES, type Scope, type ServerCommand } from "./hosts/host.ts";
import { HOSTS } from "./hosts/index.ts";
import { ownScript } from "./server-command.ts";

/** An entry of a host that starts our server. */
export interface Connection {
  mode: Mode;
  scope: Scope;
  /** The file with the entry, and its line. */
  path: string;
  line: number;
  name: string;
  server: ServerCommand;
  /** Why the entry must not be started. Null when it may be. */
  refusal: string | null;
}

export interface HostState {
  host: Host;
  /** The program on PATH, or the folder of the host. Null when the host is not installed. */
  installed: string | null;
  connections: Connection[];
  /** Errors in files of the host. */
  problems: string[];
  /** How commands of the host can still bypass Sallyport. Empty when it is not set up. */
  waysAround: string[];
  /** Whether the host is set up and its own shell is on, although a setting would turn it off. */
  isShellOffered: boolean;
}

/** Returns the hosts that are installed or configured on this machine. */
export function inspectHosts(places: Places, hosts: readonly Host[] = HOSTS): HostState[] {
  return hosts
    .map((host) => inspectHost(host, places))
    .filter(({ installed, connections, problems }) => installed !== null || connections.length + problems.length > 0);
}

function inspectHost(host: Host, places: Places): HostState {
  const problems: string[] = [];
  const documents = new Map<string, { path: string; document: TextDocument }>();
  for (const scope of SCOPES) {
    for (const [key, file] of Object.entries(host.files)) {
      try {
        const read = open(file, scope, places);
        if (read) documents.set(`${scope} ${key}`, read);
      } catch (error) {
        if (!(error instanceof SallyportError)) throw error;
        problems.push(error.message.replace(/\.$/, ""));
      }
    }
  }
  const servers = SCOPES.flatMap((scope) => {
    const found = documents.get(`${scope} server`);
    if (!found) return [];
    const own = scope === "user" && host.projectServers ? [host.projectServers(places.workspace)] : [];
    return [host.servers, ...own].flatMap((path) => serversOf(host, path, scope, found, places));
  });
  const hooks = SCOPES.flatMap((scope) => {
    const found = host.hook && documents.get(`${scope} ${host.hook.file}`);
    return found ? hooksOf(host, scope, found, places) : [];
  });
  const connections = [
    ...servers.filter(({ isOurs }) => isOurs).map(({ connection }) => connection),
    ...hooks.map(({ connection }) => connection),
  ];
  const others = servers.filter(({ isOurs }) => !isOurs).map(({ connection }) => connection);
  // A hook covers the commands of the host's own shell.
  const isShellOffered = connections.length > 0 && hooks.length === 0 && isShellOn(host, documents);
  const waysAround = connections.length > 0 ? waysAroundOf(host, isShellOffered, connections, others) : [];
  if (hooks.length > 0 && host.hook?.remains) waysAround.push(host.hook.remains);
  for (const { connection, failsClosed } of hooks) {
    if (!failsClosed)
      waysAround.push(
        `its hook in ${connection.path} lets a command run when the hook fails; run \`sallyport setup ${host.name} --mode hook\``,
      );
  }
  return { host, installed: installation(host, places), connections, problems, waysAround, isShellOffered };
}

function open(file: HostFile, scope: Scope, places: Places): { path: string; document: TextDocument } | null {
  const path = locate(file, scope, places);
  if (path === null) return null;
  const { text } = readText(path, scope === "project" ? places.workspace : null);
  if (text === null) return null;
  try {
    return { path, document: openDocument(file.format, text) };
  } catch (error) {
    throw inFile(path, error);
  }
}

/** Returns the servers in a file of a host, and whether each is ours. */
function serversOf(
  host: Host,
  serversPath: Path,
  scope: Scope,
  { path, document }: { path: string; document: TextDocument },
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

/** Returns the hooks in a file of a host that run `sallyport hook`. */
function hooksOf(
  host: Host,
  scope: Scope,
  { path, document }: { path: string; document: TextDocument },
  places: Places,
): { connection: Connection; failsClosed: boolean }[] {
  const list = host.hook && document.get(host.hook.path);
  if (!host.hook || !Array.isArray(list)) return [];
  const line = document.lineOf(host.hook.path);
  return commandsIn(list).flatMap((text) => {
    const found = readHook(host.name, text);
    if (!found) return [];
    const [command = "", ...args] = found.argv;
    const server = { command, args, env: {} };
    const isOurs = isNode(command, places) && isOwnScript(args[0]);
    const refusal = isOurs ? refusalOf(server, scope, places) : runsAnother(server);
    return [
      {
        connection: { mode: "hook" as const, scope, path, line, name: ENTRY, server, refusal },
        failsClosed: found.failsClosed,
      },
    ];
  });
}

/** Returns the commands of all hooks below a value. */
function commandsIn(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(commandsIn);
  if (!isObject(value)) return [];
  const own = typeof value.command === "string" ? [value.command] : [];
  return [...own, ...(value.hooks === undefined ? [] : commandsIn(value.hooks))];
}

function isObject(value: Json): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reports whether an entry starts `sallyport mcp` of this installation: the script with Node, or the command. */
function isOurServer({ command, args }: ServerCommand, places: Places): boolean {
  if (realOf(command, places) === ownScript()) return args[0] === "mcp";
  return isNode(command, places) && args[1] === "mcp" && isOwnScript(args[0]);
}

function isNode(command: string, places: Places): boolean {
  return (
    /^node(?:js)?(?:\.exe)?$/.test(basename(command)) || realOf(command, places) === realpathSync(process.execPath)
  );
}

/** Reports whether Node would run our script. It finds a relative path in the working directory, not on PATH. */
function isOwnScript(path: string | undefined): boolean {
  return path !== undefined && isAbsolute(path) && existsSync(path) && realpathSync(path) === ownScript();
}

function realOf(command: string, places: Places): string | null {
  const path = isAbsolute(command) ? command : /[\\/]/.test(command) ? null : onPath(command, places);
  return path && existsSync(path) ? realpathSync(path) : null;
}

function runsAnother({ command, args }: ServerCommand): string {
  const [script] = args;
  const missing = [command, ...(script && isAbsolute(script) ? [script] : [])].find(
    (path) => isAbsolute(path) && !existsSync(path),
  );
  if (missing) return `${missing} does not exist; run \`sallyport setup\` again`;
  return `the entry runs another program: ${[command, ...args].join(" ").slice(0, 200)}`;
}

/** Options of `mcp` that may be in a project, which agents can write to. None of them runs anything. */
const HARMLESS = /^--(?:tools|agent|workspace|answer-within|on-disconnect|approvals|structured|prefix|headless)(?:=|$)/;

/**
 * Returns why an entry must not be started. The file of a project is less trusted: a variable such as NODE_OPTIONS, or
 * another state folder, would let it decide what the check runs (invariant 7).
 */
function refusalOf({ command, args, env }: ServerCommand, scope: Scope, places: Places): string | null {
  const program = realOf(command, places);
  // A relative path would be resolved in the project.
  if (program === null) return `${command} is not an existing program; run \`sallyport setup\` again`;
  if (scope === "user") return null;
  const [variable] = Object.keys(env).filter(
    (name) => name !== "XDG_CONFIG_HOME" || env[name] !== places.env.XDG_CONFIG_HOME,
  );
  if (variable !== undefined) return `the entry sets the variable ${variable}, and files of a project are less trusted`;
  const given = args.slice(args[1] === "hook" ? 3 : args.indexOf("mcp") + 1);
  const option = given.find(
    (arg, index) =>
      arg.startsWith("-") && !HARMLESS.test(arg) && !(arg === "--state" && given[index + 1] === places.state),
  );
  if (option !== undefined) return `the entry has the option ${option}, and files of a project are less trusted`;
  if (isWithin(program, realpathSync(places.workspace)) || (statSync(program).mode & 0o022) !== 0) {
    return `the entry starts ${program}, which others can change`;
  }
  // A program of this name can also be elsewhere in the repository that the project is part of.
  if ([ownScript(), realpathSync(process.execPath), realOf("node", places)].includes(program)) return null;
  return `the entry starts ${program}, which is not the Node of this check; run \`sallyport setup\` again`;
}

/** Reports whether a setting that turns off the host's own shell is missing. */
function isShellOn(host: Host, documents: ReadonlyMap<string, { document: TextDocument }>): boolean {
  return host.settings.some(({ file, change, effect }) => {
    if (effect !== "closes") return false;
    const scopes = SCOPES.map((scope) => documents.get(`${scope} ${file}`)?.document);
    if (change.kind === "include") return !scopes.some((document) => document && isDone(document, change));
    // Of two files that set a value, that of the project counts.
    const deciding = scopes.findLast((document) => document?.get(change.path) !== undefined);
    return !deciding || !isDone(deciding, change);
  });
}

function waysAroundOf(
  host: Host,
  isShellOffered: boolean,
  connections: readonly Connection[],
  others: readonly Connection[],
): string[] {
  const ways: string[] = [];
  if (isShellOffered) {
    ways.push(`its own shell (${host.shellTools.join(", ")}) is still offered; run \`sallyport setup ${host.name}\``);
  }
  if (host.remains !== null && connections.some(({ mode }) => mode === "mcp")) ways.push(host.remains);
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

function onPath(program: string, { env }: Places): string | null {
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    const path = join(folder, program);
    if (isAbsolute(folder) && isExecutable(path)) return path;
  }
  return null;
}

function isExecutable(path: string): boolean {
  try {
    const status = statSync(path);
    return status.isFile() && (status.mode & 0o111) !== 0;
  } catch {
    return false;
  }
}
