import { createHash } from "node:crypto";
import { renameSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readIfExists } from "./fd-exhaustion.ts";
import { bornOf, exists, livesAs } from "./process-table.ts";
import type { Root } from "./process-tree.ts";

/** Who keeps a session, and which process it is: enough to know both again, whoever has their pids by then. */
export interface Owner {
  keeper: number;
  keeperBorn: string;
  main: Root | null;
}

const FILE = "owner";
/** What `ps` shows of a portable keeper, before its folder. */
export const TITLE = "keeper: portable ";

export function noteOwner(folder: string, main: Root | null): void {
  const owner: Owner = { keeper: process.pid, keeperBorn: bornOf(process.pid) ?? "", main };
  const path = join(folder, FILE);
  writeFileSync(`${path}.new`, JSON.stringify(owner), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** Nobody keeps it any more: said even where the disk had no room for an exit record. */
export function noteNobody(folder: string): void {
  try {
    truncateSync(join(folder, FILE), 0);
  } catch {
    // It was never noted, or the folder is gone.
  }
}

/** Whether the portable keeper of that pid still has a session; null: none ever had it. */
export function keepsStill(folder: string, keeperPid: number): boolean | null {
  const size = statSync(join(folder, FILE), { throwIfNoEntry: false })?.size;
  // It is noted right after the folder is made. Until then there is only its title to go by.
  if (size === undefined)
    return process.platform === "linux" ? (isPortable(keeperPid) ? true : null) : exists(keeperPid);
  const owner = readOwner(folder);
  return owner !== null && isKept(owner);
}

function isPortable(pid: number): boolean {
  return readIfExists(`/proc/${pid}/cmdline`, "latin1")?.startsWith(TITLE) ?? false;
}

/** Null: the session is not kept by a portable keeper, or its file cannot be understood. */
export function readOwner(folder: string): Owner | null {
  const text = readIfExists(join(folder, FILE));
  if (text === null) return null;
  try {
    const owner = JSON.parse(text) as Owner;
    const { keeper, keeperBorn, main } = owner;
    const sound = Number.isSafeInteger(keeper) && keeper > 1 && typeof keeperBorn === "string";
    const mainSound =
      main === null || (Number.isSafeInteger(main.pid) && main.pid > 1 && typeof main.born === "string");
    return sound && mainSound ? owner : null;
  } catch {
    return null;
  }
}

export function isKept({ keeper, keeperBorn }: Owner): boolean {
  return livesAs(keeper, keeperBorn);
}

/** Where gateways reach the keeper of a session. Windows has no sockets in folders: there it is a pipe by its name. */
export function ctlPath(folder: string, platform: NodeJS.Platform = process.platform): string {
  return platform === "win32" ? pipeName(folder) : join(folder, "ctl");
}

export function pipeName(path: string): string {
  return `\\\\.\\pipe\\sallyport-${createHash("sha256").update(path.toLowerCase()).digest("hex").slice(0, 32)}`;
}
