import { closeSync, constants, lstatSync, openSync, readdirSync, unlinkSync } from "node:fs";
import { isId } from "../core/id.ts";

/** Where the exec toolset's plain logs are, within the workspace; each is named by its session's id. */
export const EXEC_LOG_FOLDER = ".tmp/exec";

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const SUFFIX = ".log";

/**
 * Removes logs older than `maxAgeMs` of sessions that do not run any more. Each folder is entered through the
 * descriptor of the one above: a link that an agent put in its place leads nowhere.
 */
export function cleanExecLogs(workspace: string, maxAgeMs: number, isLive: (id: string) => boolean): number {
  const folder = enter(workspace);
  if (folder === null) return 0;
  try {
    const place = `/proc/self/fd/${folder}`;
    const old = readdirSync(place).filter((name) => isOld(place, name, Date.now() - maxAgeMs, isLive));
    for (const name of old) unlinkSync(`${place}/${name}`);
    return old.length;
  } finally {
    closeSync(folder);
  }
}

function isOld(place: string, name: string, beforeMs: number, isLive: (id: string) => boolean): boolean {
  const id = name.slice(0, -SUFFIX.length);
  if (!name.endsWith(SUFFIX) || !isId(id)) return false;
  const stat = lstatSync(`${place}/${name}`, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.mtimeMs < beforeMs && !isLive(id);
}

/** Null: there is no such folder. */
function enter(workspace: string): number | null {
  let at = -1;
  try {
    at = openSync(workspace, FOLDER);
    for (const name of EXEC_LOG_FOLDER.split("/")) {
      const next = openSync(`/proc/self/fd/${at}/${name}`, FOLDER);
      closeSync(at);
      at = next;
    }
    return at;
  } catch {
    if (at >= 0) closeSync(at);
    return null;
  }
}
