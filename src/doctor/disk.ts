import { statfsSync } from "node:fs";
import { formatSize } from "../text/size.ts";
import { type Finding, fail, type Machine, ok, warn } from "./finding.ts";
import { existingPart } from "./state-folder.ts";

/** From linux/magic.h. */
const FILE_SYSTEMS: Record<number, string> = {
  61267: "ext4",
  1481003842: "xfs",
  2435016766: "btrfs",
  16914836: "tmpfs",
  2240043254: "ramfs",
  2035054128: "overlayfs",
  801189825: "zfs",
  4076150800: "f2fs",
  26985: "nfs",
  4283649346: "cifs",
  4266872130: "smb2",
  16914839: "9p",
  1702057286: "fuse",
  19780: "vfat",
};
const IN_MEMORY = ["tmpfs", "ramfs"];
const OVER_NETWORK = ["nfs", "cifs", "smb2", "9p"];

const ROOM = 1024 ** 3;
const ELSEWHERE = "Choose a folder on a local disk with `--state DIR` or SALLYPORT_STATE.";

/** Logs want room; SQLite in WAL mode wants a local file system. */
export function checkDisk({ state }: Machine): Finding {
  const { type, bavail, bsize } = statfsSync(existingPart(state));
  const name = FILE_SYSTEMS[type] ?? `file system 0x${type.toString(16)}`;
  const free = bavail * bsize;
  const message = `${name}, ${formatSize(free)} free`;
  if (OVER_NETWORK.includes(name))
    return warn("disk", `${message}: a network file system may corrupt the database`, ELSEWHERE);
  if (IN_MEMORY.includes(name))
    return warn("disk", `${message}: logs take memory and are gone after a restart`, ELSEWHERE);
  if (free < ROOM / 16) return fail("disk", message, "Free some space: `sallyport clean --keep 10`.");
  if (free < ROOM) return warn("disk", message, "Free some space: `sallyport clean --older-than 1d`.");
  return ok("disk", message);
}
