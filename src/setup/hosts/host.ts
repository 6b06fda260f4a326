import type { HookScript } from "../../hosts/hooks/index.ts";
import type { Format, Json, Path } from "../edit/document.ts";

/** How a host starts the server. */
export interface ServerCommand {
  command: string;
  args: string[];
  env: Record<string, string>;
}

/** How the commands of a host reach Sallyport. */
export const MODES = ["mcp", "hook", "shell"] as const;
export type Mode = (typeof MODES)[number];

export const SCOPES = ["user", "project"] as const;
export type Scope = (typeof SCOPES)[number];

/** A file of the user: `folder`, or the folder that a variable names. */
export interface UserFile {
  /** The default folder, relative to the home directory. */
  folder: string;
  /** The default folder on macOS, if it is another one. */
  macFolder?: string;
  /** The variable that names the folder, and the path below it. */
  variable?: { name: string; below?: string };
  /** The name of the file. Of several names, the first one that exists is used, or else the first. */
  names: readonly [string, ...string[]];
}

/** A configuration file of a host. Null where the host reads no such file. */
export interface HostFile {
  format: Format;
  user: UserFile | null;
  /** The path in a workspace. Of several, the first one that exists is used, or else the first. */
  project: readonly [string, ...string[]] | null;
  /** The path below the state folder, for a file of our own. It is the same in every scope. */
  state?: string;
  /** The host runs the file. */
  executable?: boolean;
}

/** A change of one value in a configuration file. */
export type Change =
  /** Sets the value, whatever it was. */
  | { kind: "set"; path: Path; value: Json }
  /** Sets the value if there is none. */
  | { kind: "default"; path: Path; value: Json }
  /** Adds the value to a list, unless the list has it. */
  | { kind: "include"; path: Path; value: Json };

/** A change apart from the entry of the server. */
export interface Setting {
  /** The key of the file in `Host.files`. */
  file: string;
  change: Change;
  /** What the change does. `closes` switches off the host's own shell; `allows` lets the host call our tools. */
  effect: "closes" | "allows" | "required";
  /** The only scope in which the host accepts the value. */
  scope?: Scope;
}

/** A hook of a host, which runs `sallyport hook` before each command of its own shell. */
export type Hook = EntryHook | ScriptHook;

interface AnyHook {
  /** The key of the file in `Host.files`. */
  file: string;
  /** The way around that remains with the hook. */
  remains?: string;
  /** What the user has to do after set-up. */
  next?: string;
  /** Why a hook of a project would leave a way around, as the end of a sentence. */
  userOnly?: string;
  /** Values with which any of the files of the host, also in a project, turns hooks off. */
  off?: readonly { file: string; path: Path; value: Json }[];
}

/** A hook in a list of a configuration file. */
export interface EntryHook extends AnyHook {
  kind: "entry";
  path: Path;
  entry(command: string): { [key: string]: Json };
  /** Other values that the file needs. */
  required?: readonly Change[];
}

/** A hook that is a file of its own. */
export interface ScriptHook extends AnyHook {
  kind: "script";
  script: HookScript;
}

/** How the host can be given another shell for its commands. */
export type ShellUse =
  /** A value in one of its files names the program. `remains` is the way around that remains. */
  | { by: "setting"; file: string; path: Path; remains: string }
  /** Only its environment does: the program itself, or with PATH the folder in which it is `bash`. */
  | { by: "variable"; name: string };

/** What is known about one agent host. The documentation and `sallyport setup` use the same data. */
export interface Host {
  name: string;
  title: string;
  /** Its programs, of which one must be on PATH for the host to count as installed. */
  programs: readonly string[];
  /** Folders below the home directory that the host creates. For editors, whose program need not be on PATH. */
  folders: readonly string[];
  /** The version with which this was tried. Null for hosts whose documentation is the source. */
  tested: string | null;
  /** The source of the facts: the package that was tried, or the documentation. */
  source: string;
  modes: readonly Mode[];
  files: { server: HostFile } & Record<string, HostFile>;
  /** The path of the table or list of servers, and the entry of one. */
  servers: Path;
  /** The table of servers that the file of the user has for one project. */
  projectServers?(workspace: string): Path;
  /** The entry is an element of a list, with this as its `name`. */
  listed?: boolean;
  entry(server: ServerCommand): { [key: string]: Json };
  /** Returns how an entry starts its server. Null when it is not a program, for example a URL. */
  read(entry: { [key: string]: Json }): ServerCommand | null;
  settings: readonly Setting[];
  /** Null where no hook covers all commands of the host. */
  hook: Hook | null;
  /** Null where its shell cannot be replaced. */
  shell: ShellUse | null;
  /** Why the host cannot be set up in a mode, as the end of a sentence. */
  unavailable: Readonly<Partial<Record<Mode, string>>>;
  /** The names of the host's own tools that run commands. */
  shellTools: readonly string[];
  /** Whether the model sees a server's tools under names of their own, so that a built-in tool cannot replace them. */
  namespaced: boolean;
  /** Arguments of the server that this host needs. */
  serverArgs: readonly string[];
  /** The toolsets to use. */
  toolsets: string;
  /** `all`: the server gets the environment of the host. `desktop`: that of a desktop session. Else these variables. */
  environment: "all" | "desktop" | readonly string[];
  /** Where its files, also those of a project, set variables of the host. */
  variables?: { files: readonly string[]; path: Path };
  /** Where approval requests appear. */
  approvals: string;
  /** The way around Sallyport that remains after set-up. Null when the host's own shell is off. */
  remains: string | null;
  /** The same for a set-up of a project, if it differs. */
  projectRemains?: string;
  /** What the user has to know or do after set-up. */
  next?: string;
  /** What the user has to know about a set-up in a project. */
  projectNext?: string;
}

/** Reads the entry that most hosts use: `command`, `args` and `env`. */
export function readServer(entry: { [key: string]: Json }): ServerCommand | null {
  const { command, args, env } = entry;
  return typeof command === "string" ? { command, args: strings(args), env: variables(env) } : null;
}

export function strings(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

export function variables(value: Json | undefined): Record<string, string> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, String(each)]));
}

/** Returns the entry that most hosts use. `env` is left out when it is empty. */
export function serverEntry({ command, args, env }: ServerCommand): { [key: string]: Json } {
  return Object.keys(env).length > 0 ? { command, args, env } : { command, args };
}

/** The name of the server in every host. */
export const ENTRY = "sallyport";

/** Returns the path of our entry in the file of servers. */
export function entryPath({ servers, listed }: Host): Path {
  return [...servers, listed ? { name: ENTRY } : ENTRY];
}

/** The key of the file with our shell in `Host.files`. */
export const SHELL_FILE = "shell";

/** Returns our shell for a host. It is in the state folder, which commands cannot reach (invariant 7). */
export function shellFile(host: string): HostFile {
  return { format: "text", user: null, project: null, state: `shells/${host}/bash`, executable: true };
}

/** Why an editor has no `hook` or `shell` mode. */
export const EDITOR = {
  hook: "it has no hook that can replace a command",
  shell: "it types commands into a terminal, where the agent could answer approval requests itself",
} as const;
