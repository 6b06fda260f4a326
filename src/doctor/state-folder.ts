import { execFileSync } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { CHOOSE_FILE_SYSTEM, missingInFileSystem } from "../executor/native/suitable.ts";
import { fileSystemType } from "../storage/file-system.ts";
import { formatSize } from "../text/format.ts";
import { findOnPath } from "./executor.ts";
import { type Finding, fail, type Machine, ok, warn } from "./finding.ts";

const CHOOSE_ANOTHER = "Choose another folder with `--state DIR` or SALLYPORT_STATE.";

/** Checks that only this user can access the state folder, which contains session logs and the keeper's sockets. */
export function checkStateFolder({ state }: Machine): Finding {
  const place = existingPart(state);
  const stats = statSync(place);
  if (!stats.isDirectory()) return fail("state folder", `${place} is not a folder`, CHOOSE_ANOTHER);
  if (!isWritable(place)) return fail("state folder", `cannot write to ${place}`, CHOOSE_ANOTHER);
  if (place !== state) return ok("state folder", `${state}, created on first use`);
  return checkOwnership(state, stats);
}

function checkOwnership(state: string, stats: Stats): Finding {
  const mode = stats.mode & 0o777;
  if (process.getuid && stats.uid !== process.getuid()) {
    return fail("state folder", `${state} belongs to another user (uid ${stats.uid})`, CHOOSE_ANOTHER);
  }
  if (mode !== 0o700) {
    return warn(
      "state folder",
      `${state} is accessible to other users (mode ${mode.toString(8)})`,
      `Run \`chmod 700 ${state}\`.`,
    );
  }
  return ok("state folder", `${state}, mode 700`);
}

/** Returns the folder itself or its nearest existing parent. */
function existingPart(folder: string): string {
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

const IN_MEMORY = ["tmpfs", "ramfs"];
const OVER_NETWORK = ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs"];

const GIB = 1024 ** 3;
const FULL_BYTES = 1024 ** 2;
const LEAST_INODES = 64;
const CHOOSE_LOCAL_DISK = "Choose a folder on a local disk with `--state DIR` or SALLYPORT_STATE.";

/** Checks for free space for logs, and for a file system with what a state folder needs, as a gateway does. */
export function checkDisk({ state }: Machine): Finding {
  const place = realpathSync(existingPart(state));
  const missing = missingInFileSystem(place);
  if (missing !== null && missing !== "unknown") return fail("disk", missing, CHOOSE_FILE_SYSTEM);
  const { bavail, bsize, files, ffree } = statfsSync(place);
  const name = fileSystemType(place) ?? "unknown file system";
  const free = bavail * bsize;
  const message = `${name}, ${formatSize(free)} free`;
  // File systems that create inodes on demand report that they have none.
  if (files > 0 && ffree < LEAST_INODES)
    return fail("disk", `${message}, but only ${ffree} inodes`, "Remove files: `sallyport clean --keep 10`.");
  if (free < FULL_BYTES)
    return fail("disk", `${message}; new commands are refused`, "Free some space: `sallyport clean --keep 10`.");
  if (OVER_NETWORK.includes(name))
    return warn("disk", `${message}; a network file system may corrupt the database`, CHOOSE_LOCAL_DISK);
  if (IN_MEMORY.includes(name))
    return warn("disk", `${message}; logs use memory and are lost when the machine restarts`, CHOOSE_LOCAL_DISK);
  if (free < GIB / 16) return fail("disk", message, "Free some space: `sallyport clean --keep 10`.");
  if (free < GIB) return warn("disk", message, "Free some space: `sallyport clean --older-than 1d`.");
  return ok("disk", message);
}

const HOLE_PUNCHING = "hole punching";
const PROBE_BYTES = 1024 * 1024;

/** Checks for hole punching, which the disk cap uses to drop the middle of a long log. */
export async function checkHolePunching({ state }: Machine): Promise<Finding> {
  const program = findOnPath(["fallocate"]);
  if (!program) return warn(HOLE_PUNCHING, "not checked: `fallocate` is not installed", "Install util-linux.");
  let folder: string | null = null;
  try {
    folder = mkdtempSync(join(existingPart(state), ".sallyport-doctor-"));
    return punch(program, join(folder, "probe"));
  } catch (error) {
    const reason = error instanceof Error ? error.message.trim().split("\n").at(-1) : String(error);
    return warn(
      HOLE_PUNCHING,
      `does not work: ${reason}`,
      "Use a state folder on ext4, xfs, btrfs or tmpfs, or `--disk-cap 0`.",
    );
  } finally {
    if (folder) rmSync(folder, { recursive: true, force: true });
  }
}

function punch(program: string, file: string): Finding {
  writeFileSync(file, Buffer.alloc(PROBE_BYTES, 1), { flush: true });
  const before = statSync(file).blocks;
  execFileSync(program, ["--punch-hole", "--offset", "0", "--length", String(PROBE_BYTES / 2), file], {
    stdio: "pipe",
  });
  const { blocks, size } = statSync(file);
  if (size === PROBE_BYTES && blocks < before) return ok(HOLE_PUNCHING, "works");
  return warn(HOLE_PUNCHING, "does not free disk space", "Use a state folder on ext4, xfs, btrfs or tmpfs.");
}
