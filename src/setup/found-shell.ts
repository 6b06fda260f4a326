/** Finds whether our shell is the shell of a host, and what keeps the host from using it. */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { isOwnShell } from "../hosts/own-shell.ts";
import { quoteWord } from "../shell/quote.ts";
import type { Connection } from "./entry-trust.ts";
import { locate, type Places } from "./files.ts";
import type { HostDocument } from "./host-documents.ts";
import { ENTRY, type Host, SHELL_FILE } from "./hosts/host.ts";

export function shellOf(
  host: Host,
  documents: readonly HostDocument[],
  places: Places,
): { connections: Connection[]; avoidable: string[] } {
  const { shell } = host;
  if (!shell) return { connections: [], avoidable: [] };
  if (shell.by === "variable") return shellByVariable(host, documents, places);
  const values = documents.flatMap(({ file, scope, path, document }) => {
    const value = file === shell.file || scope === "project" ? document.get(shell.path) : undefined;
    return typeof value === "string" ? [{ scope, path, line: document.lineOf(shell.path), value }] : [];
  });
  const user = values.find(({ scope }) => scope === "user");
  const expected = pathOf(host, places);
  // Another path than that of `setup` can be the user's own choice of a shell.
  if (!user || (user.value !== expected && !isOurs(user.value, places))) return { connections: [], avoidable: [] };
  const avoidable = values
    .filter(({ scope, value }) => scope === "project" && value !== user.value)
    .map(({ path, line }) => `the project sets another shell in ${path}:${line}`);
  return { connections: [connectionOf(user, user.value, places)], avoidable };
}

function shellByVariable(host: Host, documents: readonly HostDocument[], places: Places) {
  const [found] = documents.filter(({ file }) => file === SHELL_FILE);
  if (!found) return { connections: [], avoidable: [] };
  const line = startupLine(host, places);
  const way = `its own shell, unless it is started with this line in the startup file of your shell: ${line}`;
  const avoidable = isInStartupFile(line, places) ? [] : [way];
  return { connections: [connectionOf({ path: found.path, line: 1 }, found.path, places)], avoidable };
}

function connectionOf({ path, line }: { path: string; line: number }, command: string, places: Places): Connection {
  const refusal = existsSync(command)
    ? isOurs(command, places)
      ? null
      : `${command} is not the shell of this installation; run \`sallyport setup\` again`
    : `${command} does not exist; run \`sallyport setup\` again`;
  return { mode: "shell", scope: "user", path, line, name: ENTRY, server: { command, args: [], env: {} }, refusal };
}

function isOurs(path: string, places: Places): boolean {
  return isAbsolute(path) && existsSync(path) && isOwnShell(path, realpathSync(places.workspace));
}

function pathOf({ files }: Host, places: Places): string | null {
  return files[SHELL_FILE] ? locate(files[SHELL_FILE], "user", places) : null;
}

/** Returns the line with which the user's shell starts a host with our shell. Empty for hosts that need none. */
export function startupLine(host: Host, places: Places): string {
  const { shell, programs } = host;
  const path = pathOf(host, places);
  const [program = host.name] = programs;
  if (shell?.by !== "variable" || path === null) return "";
  const value = shell.name === "PATH" ? `${quoteWord(dirname(path))}:"$PATH"` : quoteWord(path);
  return `alias ${program}=${quoteWord(`${shell.name}=${value} ${program}`)}`;
}

/** Files in which users define aliases. A line elsewhere is not found, which the check then reports. */
const STARTUP_FILES = [
  ".bashrc",
  ".bash_aliases",
  ".bash_profile",
  ".profile",
  ".zshrc",
  ".zprofile",
  ".zshenv",
  ".config/fish/config.fish",
];

function isInStartupFile(line: string, { home }: Places): boolean {
  return STARTUP_FILES.some((name) => {
    try {
      const lines = readFileSync(join(home, name), "utf8").split("\n");
      return lines.some((each) => each.trim() === line);
    } catch {
      return false; // does not exist, or cannot be read
    }
  });
}
