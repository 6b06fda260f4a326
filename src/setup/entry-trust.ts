/** Decides whether an entry of a host runs this installation, and whether a check may start it. */
import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, delimiter, isAbsolute, join } from "node:path";
import { isWithin } from "../sandbox/workspace.ts";
import type { Places } from "./files.ts";
import type { Mode, Scope, ServerCommand } from "./hosts/host.ts";
import { ownScript } from "./server-command.ts";

/** An entry of a host that starts our server, hook or shell. */
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

/** Reports whether an entry starts `sallyport mcp` of this installation: the script with Node, or the command. */
export function isOurServer({ command, args }: ServerCommand, places: Places): boolean {
  if (realOf(command, places) === ownScript()) return args[0] === "mcp";
  return isNode(command, places) && args[1] === "mcp" && isOwnScript(args[0]);
}

/** Reports whether the program of a hook is this installation. */
export function isOurHook({ command, args }: ServerCommand, places: Places): boolean {
  return isNode(command, places) && isOwnScript(args[0]);
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

export function runsAnother({ command, args }: ServerCommand): string {
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
export function refusalOf({ command, args, env }: ServerCommand, scope: Scope, places: Places): string | null {
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

export function onPath(program: string, { env }: Places): string | null {
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    const path = join(folder, program);
    if (isAbsolute(folder) && isExecutable(path)) return path;
  }
  return null;
}

export function isExecutable(path: string): boolean {
  try {
    const status = statSync(path);
    return status.isFile() && (status.mode & 0o111) !== 0;
  } catch {
    return false;
  }
}
