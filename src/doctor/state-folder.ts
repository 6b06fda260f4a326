import { accessSync, constants, existsSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { type Finding, fail, type Machine, ok, warn } from "./finding.ts";

const ELSEWHERE = "Choose another with `--state DIR` or SALLYPORT_STATE.";

/** Ours alone, or able to become so: commands' output and the keeper's sockets lie there. */
export function checkStateFolder({ state }: Machine): Finding {
  const place = existingPart(state);
  const stats = statSync(place);
  if (!stats.isDirectory()) return fail("state folder", `${place} is not a folder`, ELSEWHERE);
  if (!isWritable(place)) return fail("state folder", `cannot write to ${place}`, ELSEWHERE);
  if (place !== state) return ok("state folder", `${state}, made at first use`);
  return checkOwnership(state, stats);
}

function checkOwnership(state: string, stats: Stats): Finding {
  const mode = stats.mode & 0o777;
  if (process.getuid && stats.uid !== process.getuid()) {
    return fail("state folder", `${state} belongs to another user (uid ${stats.uid})`, ELSEWHERE);
  }
  if (mode !== 0o700) {
    return warn("state folder", `${state} is open to others (mode ${mode.toString(8)})`, `Run \`chmod 700 ${state}\`.`);
  }
  return ok("state folder", `${state}, mode 700`);
}

/** The folder itself, or the nearest one above it that exists. */
export function existingPart(folder: string): string {
  let place = folder;
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place);
  return place;
}

export function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
