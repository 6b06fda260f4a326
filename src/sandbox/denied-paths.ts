import { join, resolve } from "node:path";
import { BROWSERS, CREDENTIALS, HISTORIES, SYSTEM_CREDENTIALS } from "./credential-paths.ts";
import { LinkResolver, parentOf } from "./paths/links.ts";
import type { MountTable } from "./paths/mounts.ts";
import { isWithin } from "./workspace.ts";

/** Paths in a home directory that are denied to all sandboxed commands. */
const DENIED_IN_HOME: readonly string[] = [...CREDENTIALS, ...HISTORIES, ...BROWSERS].map(({ path }) => path);

/** The homes whose built-in paths are denied to the commands of a gateway. */
export interface Homes {
  /** The homes of the gateway's user and of the user that commands run as. All built-in paths in them are denied. */
  own: readonly string[];
  /** The homes of other users, if commands run as root. Only paths that exist are denied, because there can be many. */
  others: readonly string[];
}

/** Returns the built-in denied paths in these homes, except those that the operator made readable. */
export function credentialPaths(
  { own, others }: Homes,
  readable: readonly string[],
  resolver = new LinkResolver(),
): string[] {
  const inOwn = own.filter(isHome).flatMap((home) => credentialsIn(resolve(home)));
  const inOthers = others
    .filter((home) => isHome(home) && !own.includes(home))
    .flatMap((home) => existingCredentials(resolve(home), resolver));
  return [...inOwn, ...inOthers].filter((path) => !readable.some((one) => isWithin(path, one)));
}

/**
 * Folders below a home directory that a variable moves elsewhere. In the base directories of XDG, only paths that exist
 * are denied, because other programs share them.
 */
const MOVED_BY: Readonly<Record<string, { folder: string; shared?: true }>> = {
  CLAUDE_CONFIG_DIR: { folder: ".claude" },
  CODEX_HOME: { folder: ".codex" },
  CONTINUE_GLOBAL_DIR: { folder: ".continue" },
  COPILOT_HOME: { folder: ".copilot" },
  DOCKER_CONFIG: { folder: ".docker" },
  QWEN_HOME: { folder: ".qwen" },
  GH_CONFIG_DIR: { folder: ".config/gh" },
  GNUPGHOME: { folder: ".gnupg" },
  XDG_CONFIG_HOME: { folder: ".config", shared: true },
  XDG_DATA_HOME: { folder: ".local/share", shared: true },
};

/**
 * Returns the built-in denied paths in folders that variables have moved, such as that of `CODEX_HOME` (invariant 7). A
 * folder that contains one of `kept`, such as the workspace, is not denied.
 */
export function movedCredentialPaths(
  env: Readonly<Record<string, string | undefined>>,
  kept: readonly string[],
): string[] {
  const resolver = new LinkResolver();
  return Object.entries(MOVED_BY).flatMap(([variable, { folder, shared }]) => {
    const moved = env[variable];
    if (!moved?.startsWith("/")) return [];
    return DENIED_IN_HOME.filter((name) => isWithin(`/${name}`, `/${folder}`))
      .map((name) => resolve(moved, name.slice(folder.length + 1)))
      .filter((path) => (!shared || resolver.exists(path)) && !kept.some((each) => isWithin(each, path)));
  });
}

function credentialsIn(home: string): string[] {
  return DENIED_IN_HOME.map((name) => `${home}/${name}`);
}

function isHome(home: string): boolean {
  return home.startsWith("/") && home !== "/";
}

function existingCredentials(home: string, resolver: LinkResolver): string[] {
  const entries = new Set(resolver.list(home));
  return DENIED_IN_HOME.filter((name) => entries.has(name.split("/", 1)[0] as string))
    .map((name) => join(home, name))
    .filter((path) => resolver.exists(path));
}

interface DenyInput {
  homes: Homes;
  /** The paths in `readable` of the operator's configuration. */
  readable: readonly string[];
  /** The result of `movedCredentialPaths`. */
  moved: readonly string[];
  /** The state folder and the operator's configuration folder (invariant 7). */
  keepOut: readonly string[];
  /** The paths in `denied` of the operator's and the workspace's configuration. */
  added: readonly string[];
  /**
   * Whether commands run as root, whom file permissions do not keep from the system's credentials. A mask disappears
   * when its file is replaced, as `useradd` does; a file that is denied stays unreadable.
   */
  root: boolean;
  mounts: MountTable;
}

export interface DeniedPaths {
  /**
   * The denied paths, resolved as far as they exist, and their further paths. Of a link, both the link and its target
   * are denied.
   */
  denied: string[];
  /** The links that lead to them. A command that could replace one would choose what the path refers to. */
  links: string[];
}

/** Returns all denied paths. They are the same as long as the input is, and everything that `resolver` has looked up. */
export function deniedPaths(
  { homes, readable, moved, keepOut, added, root, mounts }: DenyInput,
  resolver = new LinkResolver(),
): DeniedPaths {
  const system = root ? SYSTEM_CREDENTIALS.map(({ path }) => path) : [];
  const given = [...keepOut, ...added].map((path) => resolve(path));
  const elsewhere = moved.filter((path) => !readable.some((one) => isWithin(path, one)));
  const named = [...credentialPaths(homes, readable, resolver), ...elsewhere, ...system, ...given];
  const denied = new Set<string>();
  const links = new Set<string>();
  for (const path of named) {
    const found = resolver.resolve(path);
    denied.add(resolver.resolveParent(path)).add(found.real);
    for (const link of found.links) links.add(link);
  }
  const all = mounts.withAliases(withoutNested([...denied]), { within: true });
  return { denied: withoutNested([...all, ...mounts.kernelMounts]), links: mounts.withAliases([...links]) };
}

/** Removes paths that are inside another path of the list. */
export function withoutNested(paths: string[]): string[] {
  const all = new Set(paths);
  return paths.filter((path) => {
    for (let above = parentOf(path); above !== "/"; above = parentOf(above)) if (all.has(above)) return false;
    return true;
  });
}
