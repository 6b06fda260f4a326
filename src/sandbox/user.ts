import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { SallyportError } from "../core/error.ts";
import type { SandboxSpec } from "../core/launch.ts";
import type { Homes } from "./denied-paths.ts";

/** The unprivileged user that commands run as. */
export interface CommandUser {
  name: string;
  home: string;
  ids: NonNullable<SandboxSpec["user"]>;
}

interface Accounts {
  passwd: string;
  group: string;
  /** The uid of this process. */
  uid: number;
}

function systemAccounts(): Accounts {
  const read = (path: string) => {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return "";
    }
  };
  return { passwd: read("/etc/passwd"), group: read("/etc/group"), uid: process.getuid?.() ?? -1 };
}

/**
 * Resolves the configured `user`: a name in /etc/passwd, a uid, or `uid:gid` for a user that only a directory service
 * knows. Returns null for the gateway's own user.
 */
export function commandUser(wanted: string | null, accounts = systemAccounts()): CommandUser | null {
  if (wanted === null) return null;
  const { passwd, group, uid: own } = accounts;
  const [id, gid] = /^(\d+)(?::(\d+))?$/.exec(wanted)?.slice(1).map(Number) ?? [];
  const rows = passwd.split("\n").map((line) => line.split(":"));
  const row = rows.find((fields) => (id === undefined ? fields[0] === wanted : Number(fields[2]) === id));
  if (!row && (id === undefined || gid === undefined || Number.isNaN(gid))) throw unknownUser(wanted);
  const name = row?.[0] ?? String(id);
  const uid = row ? Number(row[2]) : Number(id);
  if (uid === own) return null;
  if (own !== 0) throw notRoot(wanted);
  const main = gid === undefined || Number.isNaN(gid) ? Number(row?.[3]) : gid;
  const others = group
    .split("\n")
    .map((line) => line.split(":"))
    .filter((fields) => fields[3]?.split(",").includes(name))
    .map((fields) => Number(fields[2]));
  const groups = [...new Set([main, ...others])].filter(Number.isInteger);
  return { name, home: row?.[5] || "/", ids: { uid, gid: main, groups } };
}

function unknownUser(wanted: string): SallyportError {
  return new SallyportError("InvalidConfiguration", `The user "${wanted}" in \`user\` does not exist.`, [
    { action: "fix_configuration", hint: "Use a name from `/etc/passwd`, or numeric IDs as `UID:GID`." },
  ]);
}

function notRoot(wanted: string): SallyportError {
  const message = `Only root can run commands as the user "${wanted}" (\`user\`). Sallyport runs as UID ${process.getuid?.()}.`;
  return new SallyportError("InvalidConfiguration", message, [
    { action: "fix_configuration", hint: "Remove `user` from sallyport.json to run commands as the current user." },
  ]);
}

/** Folders that accounts of services name as their home, and that contain no files of a user. */
const SHARED_HOMES = /^\/(?:[^/]+|usr\/.*|run\/.*|proc\/.*)$/;

/**
 * Returns the homes with credentials that a command could read. A command that runs as root can read those of every
 * account; the permissions of files protect them from other users.
 */
export function homesOf(home: string, user: CommandUser | null, accounts = systemAccounts()): Homes {
  const own = new Set([home, ...passwdHome(), ...(user ? [user.home] : [])]);
  if (accounts.uid !== 0 || user !== null) return { own: [...own], others: [] };
  const homes = accounts.passwd.split("\n").flatMap((line) => line.split(":")[5] ?? []);
  const others = homes.filter((one) => one === "/root" || (one.startsWith("/") && !SHARED_HOMES.test(one)));
  return { own: [...own], others: [...new Set(others)] };
}

/** The home in the account of this process, which `HOME` may not name. A process may have no account. */
function passwdHome(): string[] {
  try {
    return [userInfo().homedir];
  } catch {
    return [];
  }
}

/** Variables that name root's own paths, which another user cannot access. */
const ROOT_VARIABLES = [
  "XDG_RUNTIME_DIR",
  "XDG_CONFIG_HOME",
  "XDG_STATE_HOME",
  "XDG_DATA_HOME",
  "XDG_CACHE_HOME",
  "MAIL",
];

/** Adapts the environment of the gateway to another user. */
export function environmentAsUser(
  env: Readonly<Record<string, string>>,
  user: CommandUser | null,
): Record<string, string> {
  if (user === null) return { ...env };
  const rest = Object.fromEntries(Object.entries(env).filter(([name]) => !ROOT_VARIABLES.includes(name)));
  return { ...rest, HOME: user.home, USER: user.name, LOGNAME: user.name };
}
