import { homedir } from "node:os";
import { isAbsolute, relative, resolve } from "node:path";
import { agentName, toAgentName } from "../../core/names.ts";
import { localPlaces } from "../../setup/check.ts";
import { unifiedDiff } from "../../setup/edit/diff.ts";
import type { Places } from "../../setup/files.ts";
import { startupLine } from "../../setup/found-shell.ts";
import { type Host, MODES, type Mode, SCOPES, type Scope } from "../../setup/hosts/host.ts";
import { findHost, HOST_NAMES } from "../../setup/hosts/index.ts";
import { changedFiles, type Plan } from "../../setup/plan.ts";
import { nearest } from "../../text/nearest.ts";
import { visible } from "../../text/visible.ts";
import { type Command, type Invocation, UsageError } from "../command.ts";
import { printJson } from "../io.ts";
import { stateFolder } from "../open.ts";
import { choiceOption, TOOLSETS, textOption, toolsetsOf } from "../options.ts";
import { assertPerson } from "../person.ts";
import { confirm, fileDiff } from "../terminal/file-changes.ts";
import { printChecks } from "./setup-check.ts";

export const setup: Command = {
  name: "setup",
  summary: "Connect an agent host, such as Claude Code or Codex",
  usage:
    "sallyport setup HOST [OPTIONS]\n       sallyport setup --check [HOST]\n       sallyport setup --print [NAME] [OPTIONS]",
  description: `
    Adds Sallyport as an MCP server to the configuration of an agent host, and turns off the host's own shell where a
    setting does that. With --mode hook or --mode shell, the host keeps its shell tool, and its commands run through
    Sallyport. Shows the changes first and, on a terminal, asks before writing them. Comments, formatting and the order
    of keys stay as they are. --remove restores what was there before.

    With --check, starts the server of each host exactly as the host would, lists its tools, and reports how commands can
    still bypass Sallyport. The exit code is 1 if a host is set up but does not work.`,
  options: {
    scope: { type: "string" },
    mode: { type: "string" },
    tools: { type: "string" },
    workspace: { type: "string" },
    remove: { type: "boolean" },
    check: { type: "boolean" },
    print: { type: "boolean" },
    "dry-run": { type: "boolean", short: "n" },
    yes: { type: "boolean", short: "y" },
  },
  help: {
    scope: "SCOPE: Change the files of the user, or those of the project in the current directory (default: user)",
    mode: "MODE: How commands reach Sallyport: mcp, as tools of an MCP server; hook, from a hook of the host; shell, with sallyport-sh as its shell (default: mcp)",
    tools: `NAME,...: Toolsets to serve: ${TOOLSETS.join(", ")} (default: bash, or what the host needs)`,
    workspace: "DIR: Workspace of the commands (default: the directory in which the host starts the server)",
    agent: "NAME: Agent that the commands belong to (default: the name of the host)",
    remove: "Take back what setup has written",
    check: "Check the hosts of this machine, or one of them",
    print: "Print the configuration instead of writing it; NAME can be any host",
    "dry-run": "Show the changes without writing them",
    yes: "Do not ask on a terminal",
    json: "Print JSON: what was done, or the result of --check",
  },
  sections: { Hosts: HOST_NAMES.join(", ") },
  choices: { scope: SCOPES, mode: MODES, tools: TOOLSETS },
  examples: [
    ["Connect Claude Code", "sallyport setup claude-code"],
    ["Show what would be written for Codex in this project", "sallyport setup codex --scope project --dry-run"],
    ["Check all hosts of this machine", "sallyport setup --check"],
    ["Take it back", "sallyport setup claude-code --remove"],
    ["Print the entry for a host that is not listed", "sallyport setup --print my-host"],
  ],
  run: async (invocation) => {
    const { values, positionals, rest } = invocation;
    const [name, unexpected] = [...positionals, ...(rest ?? [])];
    if (unexpected !== undefined) throw new UsageError(`unexpected argument \`${unexpected}\` for \`setup\``);
    rejectConflicts(values);
    if (values.check) return check(name, invocation);
    if (values.print) return print(name, invocation);
    if (name === undefined) throw new UsageError(`no host given; use one of ${HOST_NAMES.join(", ")}`);
    return change(hostNamed(name), invocation);
  },
};

function rejectConflicts(values: Invocation["values"]): void {
  const actions = ["check", "print", "remove"].filter((name) => values[name]);
  if (actions.length > 1) throw new UsageError(`\`--${actions[0]}\` cannot be combined with \`--${actions[1]}\``);
}

function hostNamed(name: string): Host {
  const host = findHost(name.toLowerCase());
  if (host) return host;
  const near = nearest(name, [...HOST_NAMES]);
  const hint = near ? `did you mean \`${near}\`?` : `use one of ${HOST_NAMES.join(", ")}`;
  throw new UsageError(
    `unknown host \`${visible(name)}\`; ${hint} \`sallyport setup --print ${/^[\w-]+$/.test(name) ? name : "NAME"}\` prints the entry for any other host`,
  );
}

async function check(name: string | undefined, { values, io }: Invocation): Promise<number> {
  const { checkHosts } = await import("../../setup/check.ts");
  const hosts = name === undefined ? undefined : [hostNamed(name)];
  const found = await checkHosts(localPlaces(stateFolder(values)), hosts);
  if (values.json) printJson(found, io);
  else printChecks(found, hosts?.[0] ?? null, io);
  return found.some(({ status }) => status === "broken") ? 1 : 0;
}

async function commandFor(host: Host, { values }: Invocation) {
  const { serverCommand } = await import("../../setup/server-command.ts");
  const places = localPlaces(stateFolder(values));
  const tools = textOption(values, "tools");
  const workspace = textOption(values, "workspace");
  const options = {
    agent: agentName(textOption(values, "agent") ?? host.name),
    toolsets: tools === undefined ? host.toolsets : toolsetsOf(tools).join(","),
    workspace: workspace === undefined ? null : resolve(workspace),
    state: places.state,
  };
  return { places, server: serverCommand(host, options, places.env, places.home) };
}

async function print(name: string | undefined, invocation: Invocation): Promise<number> {
  const { values, io } = invocation;
  const known = name === undefined ? null : findHost(name.toLowerCase());
  const { GENERIC, printedFiles } = await import("../../setup/print.ts");
  const host = known ?? { ...GENERIC, name: toAgentName(name ?? "default") };
  const { server, places } = await commandFor(host, invocation);
  const scope = scopeOption(values);
  const mode = (await modeOption(host, values)) ?? "mcp";
  for (const { path, text } of printedFiles(host, server, scope, places, mode)) {
    if (path !== null) io.err(`${shortened(path)}:\n`);
    io.out(text);
  }
  if (mode === "shell") io.err(startupNote(host, places));
  return 0;
}

const OR = new Intl.ListFormat("en", { type: "disjunction" });

/** Options that only the MCP server has. */
const SERVER_OPTIONS = ["tools", "workspace"];

async function modeOption(host: Host, values: Invocation["values"]): Promise<Mode | null> {
  const mode = choiceOption(values, "mode", MODES) ?? null;
  if (mode === null || mode === "mcp") return mode;
  const option = SERVER_OPTIONS.find((name) => values[name] !== undefined);
  if (option !== undefined) throw new UsageError(`\`--${option}\` cannot be combined with \`--mode ${mode}\``);
  if (host.modes.includes(mode)) return mode;
  const others = host.modes.map((each) => `\`--mode ${each}\``);
  // A profile runs the whole host in a sandbox, with our shell in it where that is possible.
  const { profileNames } = await import("../agent/profile.ts");
  if (profileNames().includes(host.name)) others.push(`\`sallyport agent ${host.name}\``);
  const why = host.unavailable[mode] ?? "this is not supported";
  throw new UsageError(`${host.title} cannot be set up with \`--mode ${mode}\`: ${why}; use ${OR.format(others)}`);
}

function scopeOption(values: Invocation["values"]): Scope {
  return choiceOption(values, "scope", SCOPES) ?? "user";
}

async function change(host: Host, invocation: Invocation): Promise<number> {
  const { values, io } = invocation;
  // A command of an agent must not change how its host is confined (invariant 7).
  await assertPerson();
  const scope = scopeOption(values);
  const { assertScope, carryOut, planRemoval, planSetup, recordedMode } = await import("../../setup/plan.ts");
  const given = await modeOption(host, values);
  const { server, places } = await commandFor(host, invocation);
  const mode = given ?? (values.remove ? recordedMode(host, scope, places) : null) ?? "mcp";
  assertScope(host, scope, mode);
  const options = { host, scope, mode, places } as const;
  const plan = values.remove ? planRemoval(options, server) : planSetup(options, server);
  const changed = changedFiles(plan);
  if (changed.length === 0) {
    if (!values["dry-run"]) carryOut(plan);
    return report(plan, values.remove ? "not set up" : "already set up", invocation);
  }
  if (!values.json) for (const file of changed) io.out(fileDiff(file, io));
  if (values["dry-run"]) return report(plan, "not changed", invocation);
  const asks = io.isTTY.stdin && io.isTTY.stderr && !values.yes;
  const what = changed.length === 1 ? "this change" : `these changes to ${changed.length} files`;
  if (asks && !(await confirm(`Write ${what}?`, io))) {
    io.err("Nothing was written.\n");
    return 1;
  }
  carryOut(plan);
  return report(plan, values.remove ? "removed" : "set up", invocation);
}

type Outcome = "set up" | "already set up" | "removed" | "not set up" | "not changed";

function report(plan: Plan, outcome: Outcome, { values, io }: Invocation): number {
  const { host, scope, mode } = plan;
  const files = changedFiles(plan).map(({ path, text, after }) => ({
    path,
    ...(outcome === "not changed" ? { diff: unifiedDiff(path, text, after) } : {}),
  }));
  const line = mode === "shell" ? startupLine(host, localPlaces(plan.state)) : "";
  if (values.json) {
    printJson({ host: host.name, scope, mode, outcome, files, ...(line ? { startupLine: line } : {}) }, io);
    return 0;
  }
  if (outcome === "not changed") return 0;
  const place = scope === "project" ? " in this project" : "";
  // "Codex is removed" would read as if the program were.
  const removed = `Sallyport is removed from ${host.title}${place}.`;
  io.err(`${outcome === "removed" ? removed : `${host.title} is ${outcome}${place}.`}\n`);
  if (outcome === "removed" && !plan.recorded) {
    io.err("No earlier setup is recorded in this state folder, so every value that setup writes was removed.\n");
  }
  if (outcome === "removed" && line)
    io.err(`Delete this line from the startup file of your shell, if it is there:\n\n  ${line}\n`);
  if (outcome !== "set up" && outcome !== "already set up") return 0;
  const { remains, next } = notesOf(host, mode, scope);
  if (remains) io.err(`Commands can still bypass Sallyport: ${remains}.\n`);
  if (next) io.err(`${next}\n`);
  if (mode === "shell") io.err(startupNote(host, localPlaces(plan.state)));
  if (scope === "project") io.err(`${[host.projectNext, PROJECT].filter(Boolean).join(" ")}\n`);
  if (outcome === "set up") io.err(`Restart ${host.title}, then run \`sallyport setup --check\`.\n`);
  return 0;
}

function notesOf(
  host: Host,
  mode: Mode,
  scope: Scope,
): { remains?: string | null | undefined; next?: string | undefined } {
  if (mode === "hook") return host.hook ?? {};
  if (mode === "shell") return host.shell?.by === "setting" ? host.shell : {};
  return scope === "project" && host.projectRemains ? { ...host, remains: host.projectRemains } : host;
}

/** Says how to start a host that can be given a shell only by its environment. Empty for the others. */
function startupNote(host: Host, places: Places): string {
  const line = startupLine(host, places);
  if (line === "") return "";
  return `${host.title} has no setting for its shell. Add this line to the startup file of your shell, such as ~/.bashrc, and start it from a new shell:\n\n  ${line}\n\n`;
}

const PROJECT =
  "The files contain paths of this machine, so do not commit them. Sandboxed commands cannot change them; other programs can.";

/** Shortens a path below the home directory. */
function shortened(path: string): string {
  const inside = relative(homedir(), path);
  return inside.startsWith("..") || isAbsolute(inside) ? path : `~/${inside}`;
}
