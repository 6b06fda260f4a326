/** Finds the hooks of a host that run `sallyport hook`, and what keeps them from covering its commands. */
import { type FoundHook, hookFormatOf, readHookCommandLine } from "../hosts/hooks/index.ts";
import { isSameJson } from "./changes.ts";
import type { Json } from "./edit/document.ts";
import { type Connection, isExecutable, isOurHook, refusalOf, runsAnother } from "./entry-trust.ts";
import type { Places } from "./files.ts";
import { type HostDocument, isObject } from "./host-documents.ts";
import { ENTRY, type EntryHook, type Host } from "./hosts/host.ts";

export function hooksOf(
  host: Host,
  documents: readonly HostDocument[],
  places: Places,
): { connections: Connection[]; avoidable: string[] } {
  const { hook } = host;
  const connections: Connection[] = [];
  const avoidable: string[] = [];
  if (!hook) return { connections, avoidable };
  const again = `run \`sallyport setup ${host.name} --mode hook\``;
  for (const { scope, path, document } of documents.filter(({ file }) => file === hook.file)) {
    const line = hook.kind === "entry" ? document.lineOf(hook.path) : 1;
    for (const { found, covers } of foundIn(host, document.get(hook.kind === "entry" ? hook.path : []))) {
      const [command = "", ...args] = found.argv;
      const server = { command, args, env: { ...found.env } };
      const isRun = host.files[hook.file]?.executable !== true || isExecutable(path);
      const refusal = !isRun
        ? `the file is not executable; run \`chmod u+x\` on it`
        : isOurHook(server, places)
          ? refusalOf(server, scope, places)
          : runsAnother(server);
      connections.push({ mode: "hook", scope, path, line, name: ENTRY, server, refusal });
      if (!found.failsClosed) avoidable.push(`its hook in ${path} lets a command run when the hook fails; ${again}`);
      if (!covers) avoidable.push(`its hook in ${path} does not cover all tools that run commands; ${again}`);
    }
  }
  if (connections.length > 0) avoidable.push(...switchedOff(host, documents));
  return { connections, avoidable };
}

/** A hook without a matcher is called for every tool. */
const EVERY_TOOL: readonly unknown[] = [undefined, "", "*", ".*"];

function foundIn(host: Host, value: Json | undefined): { found: FoundHook; covers: boolean }[] {
  const { hook } = host;
  const format = hookFormatOf(host.name);
  if (!hook || !format) return [];
  if (hook.kind === "script") {
    const found = typeof value === "string" ? hook.script.read(value) : null;
    return found ? [{ found, covers: true }] : [];
  }
  return (Array.isArray(value) ? value : []).flatMap((entry) =>
    commandsIn(entry).flatMap((text) => {
      const found = readHookCommandLine(format, text);
      return found && isObject(entry) ? [judged(found, entry, hook.entry(text))] : [];
    }),
  );
}

function judged(found: FoundHook, entry: { [key: string]: Json }, expected: ReturnType<EntryHook["entry"]>) {
  const { matcher, failClosed = false } = entry;
  const failsClosed = found.failsClosed && (failClosed === true || expected.failClosed === undefined);
  return { found: { ...found, failsClosed }, covers: EVERY_TOOL.includes(matcher) || matcher === expected.matcher };
}

/** Returns the commands of all hooks below a value. Copilot CLI names the key after the shell. */
function commandsIn(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(commandsIn);
  if (!isObject(value)) return [];
  const own = [value.command, value.bash].filter((each) => typeof each === "string");
  return [...own, ...(value.hooks === undefined ? [] : commandsIn(value.hooks))];
}

/** A project, which agents can write to, can turn off the hooks of the user in some hosts. */
function switchedOff({ hook }: Host, documents: readonly HostDocument[]): string[] {
  return (hook?.off ?? []).flatMap(({ file, path, value }) =>
    documents
      .filter((each) => each.file === file && isOff(each.document.get(path), value))
      .map((each) => `its hooks are turned off in ${each.path}:${each.document.lineOf(path)}`),
  );
}

function isOff(found: Json | undefined, value: Json): boolean {
  if (found === undefined) return false;
  return Array.isArray(value) && Array.isArray(found)
    ? value.some((each) => found.includes(each))
    : isSameJson(found, value);
}
