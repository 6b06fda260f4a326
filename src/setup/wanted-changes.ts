/** What a set-up changes in the files of a host, by mode. */
import { type HookProgram, hookCommandLine, hookFormatOf } from "../hosts/hooks/index.ts";
import { shellShim } from "../hosts/own-shell.ts";
import { locate, type Places } from "./files.ts";
import {
  type Change,
  ENTRY,
  entryPath,
  type Host,
  type Mode,
  type Scope,
  type ServerCommand,
  SHELL_FILE,
} from "./hosts/host.ts";
import { sharedOptions } from "./server-command.ts";

/** Returns the changes of each file that a set-up requires. */
export function changesOf(
  host: Host,
  server: ServerCommand,
  scope: Scope,
  mode: Mode,
  places: Places,
): Map<string, Change[]> {
  if (mode === "hook") return hookChanges(host, server);
  if (mode === "shell") return shellChanges(host, server, places);
  const entry = host.entry(server);
  const value = host.listed ? { name: ENTRY, ...entry } : entry;
  const changes = new Map<string, Change[]>();
  const add = (file: string, change: Change) => changes.set(file, [...(changes.get(file) ?? []), change]);
  const settings = host.settings.filter(
    ({ file, scope: only }) =>
      (only ?? scope) === scope && host.files[file]?.[scope] && !(scope === "project" && host.projectRemains),
  );
  for (const { file, change, effect } of settings) if (effect === "required") add(file, change);
  add("server", { kind: "set", path: entryPath(host), value });
  for (const { file, change, effect } of settings) if (effect !== "required") add(file, change);
  return new Map(
    Object.keys(host.files)
      .flatMap((file) => [[file, changes.get(file) ?? []] as const])
      .filter(([, each]) => each.length > 0),
  );
}

/** A hook has the same program and settings as the server. */
function hookChanges({ name, title, hook }: Host, server: ServerCommand): Map<string, Change[]> {
  const format = hookFormatOf(name);
  if (!hook || !format) throw new Error(`${title} has no hook`);
  const { command, args, env } = server;
  const [script = ""] = args;
  const program: HookProgram = { argv: [command, script, "hook", name, ...sharedOptions(server)], env };
  if (hook.kind === "script")
    return new Map([[hook.file, [{ kind: "set", path: [], value: hook.script.write(program) }]]]);
  const value = hook.entry(hookCommandLine(format, program));
  return new Map([[hook.file, [...(hook.required ?? []), { kind: "include", path: hook.path, value }]]]);
}

/** The shell has the same settings as the server, except for those that only a server has. */
function shellChanges({ title, shell, files }: Host, server: ServerCommand, places: Places): Map<string, Change[]> {
  const file = files[SHELL_FILE];
  const path = file && locate(file, "user", places);
  if (!shell || !path) throw new Error(`the shell of ${title} cannot be replaced`);
  const shim: Change = { kind: "set", path: [], value: shellShim(sharedOptions(server)) };
  const changes = new Map<string, Change[]>([[SHELL_FILE, [shim]]]);
  if (shell.by === "setting") changes.set(shell.file, [{ kind: "set", path: shell.path, value: path }]);
  return changes;
}
