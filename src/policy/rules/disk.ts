import type { CommandFact } from "../../core/facts.ts";
import { normalize } from "../../shell/path.ts";
import { isFree } from "../path-classes.ts";
import { argumentValues, nameSet, nameSpan, names, operands, type Rule, type RuleContext } from "../rule.ts";

/** Programs that create, resize or destroy a file system, partition or volume whatever their arguments are. */
const ALWAYS = nameSet(
  "mkisofs-device newfs_hfs blkdiscard xfs_growfs pvcreate pvremove pvmove pvresize vgcreate vgremove vgreduce vgextend " +
    "vgsplit vgmerge vgrename lvcreate lvremove lvreduce lvresize lvextend lvconvert lvrename vgchange lvchange pvchange " +
    "swapoff flash_erase nandwrite mtd_write ubiformat sg_format sg_sanitize thin_repair nbd qemu-nbd grub-bios-setup",
);

/** Reports whether these arguments change a disk. `sub` is the first argument that is not an option. */
type Changes = (given: readonly string[], sub: string, text: string) => boolean;

const has = (given: readonly string[], pattern: RegExp): boolean => given.some((word) => pattern.test(word));
const plain = (given: readonly string[]): string[] => given.filter((word) => !word.startsWith("-"));

/**
 * Programs that also work on an image, which is a regular file. They are harmless if every path that they are given is
 * in the workspace or a temporary folder.
 */
const IMAGE_TOOLS: Record<string, Changes> = {
  mke2fs: (given) => plain(given).length > 0,
  mkdosfs: (given) => plain(given).length > 0,
  mkntfs: (given) => plain(given).length > 0,
  mkudffs: (given) => plain(given).length > 0,
  mkswap: () => true,
  newfs: () => true,
  wipefs: (given) => has(given, /^(?:-[a-zA-Z]*[ao]|--all|--offset)/) && !has(given, /^(?:-[a-zA-Z]*n|--no-act)/),
  resize2fs: (given) => !given.includes("-P"),
  e2label: (given) => plain(given).length > 1,
  fatlabel: (given) => plain(given).length > 1 || has(given, /^(?:-i|-r|--reset|--volume-id)/),
  xfs_admin: (given) => has(given, /^-[a-zA-Z]*[LUefjpOc]/),
  xfs_repair: (given) => !given.includes("-n"),
  tune2fs: (given) => !given.includes("-l"),
  btrfstune: () => true,
  reiserfstune: () => true,
  fdisk: (given) => !has(given, /^-[a-zA-Z]*[lsx]|^--list/) && given.length > 0,
  sfdisk: (given) =>
    !has(
      given,
      /^(?:-l|-d|-J|-s|-F|-V|-T|-g|--list|--dump|--json|--show|--verify|--list-free|--list-types|--no-act|-n$)/,
    ),
  cfdisk: () => true,
  gdisk: (given) => !has(given, /^(?:-l|--list)$/),
  sgdisk: (given) =>
    given.some(
      (word) =>
        !/^(?:-p|-i|-O|-v|-L|-b|--backup|--print|--info.*|--verify|--list-types|--pretend|-P)/.test(word) &&
        word.startsWith("-"),
    ) && !has(given, /^(?:-P|--pretend)$/),
  parted: (given, _sub, text) => !has(given, /^(?:-l|--list)$/) && !/\bprint\b/.test(text) && given.length > 0,
  badblocks: (given) => has(given, /^-[a-zA-Z]*[wn]/),
  debugfs: (given) => has(given, /^-[a-zA-Z]*[wf]/),
  fsck: (given) => !has(given, /^-[a-zA-Z]*[nN]/) && given.length > 0,
  e2fsck: (given) => !has(given, /^-[a-zA-Z]*n/) && given.length > 0,
  growpart: (given) => !has(given, /^(?:-N|--dry-run)$/),
};

const SOMETIMES: Record<string, Changes> = {
  swapon: (given) => given.length > 0 && !has(given, /^(?:-s|--show|--summary|--noheadings|--raw|--bytes)/),
  cryptsetup: (_given, sub) => !/^(?:status|luksDump|isLuks|luksUUID|benchmark|tcryptDump|bitlkDump|)$/.test(sub),
  mdadm: (given) =>
    !given.every((word) =>
      /^(?:-D|--detail|-E|--examine|-Q|--query|--scan|-s$|-v|--verbose|--brief|-b$|--export|\/|--help|--version)/.test(
        word,
      ),
    ),
  losetup: (given) =>
    given.length > 0 &&
    !given.every((word) => /^(?:-a|--all|-l|--list|-j|--associated|-J|--json|-n|-O|--output|[A-Z,]+$)/.test(word)) &&
    !has(given, /^(?:-j|--associated|-l|--list)/) &&
    !(given.length === 1 && /^(?:-f|--find|\/dev\/loop\d+)$/.test(given[0] ?? "")),
  dmsetup: (_given, sub) => !/^(?:ls|info|status|table|deps|version|targets|help|report|splitname|)$/.test(sub),
  lvm: (_given, sub) =>
    /^(?:pv|vg|lv)(?:create|remove|reduce|resize|extend|convert|rename|move|split|merge|change)$/.test(sub),
  zpool: (given, sub) =>
    sub === "import"
      ? has(given, /^-[a-zA-Z]*a/) || importsPool(given)
      : !/^(?:status|list|get|iostat|history|events|version|help|)$/.test(sub),
  zfs: (_given, sub) => !/^(?:list|get|diff|holds|version|send|userspace|groupspace|help|)$/.test(sub),
  btrfs: (_given, _sub, text) =>
    /\b(?:delete|create|add|remove|resize|balance|rescue|restore|replace|set-default|snapshot|disable|enable|repair|zero-log|chunk-recover)\b|--repair/.test(
      text,
    ) && !/^\w+ (?:status|list|show)\b|^restore .*(?:-D\b|--dry-run)/.test(text),
  bcachefs: (_given, sub) => !/^(?:show-super|list|list_journal|fs|version|help|)$/.test(sub),
  hdparm: (given) =>
    has(
      given,
      /^--(?:security|trim|write|make-bad|dco|format|fwdownload|sanitize|yes|please|Idirect)|^-[a-zA-Z]*[yYNrWSMAf]/,
    ) ||
    given.some(
      (word, index) =>
        /^-[a-zA-Z]*B\d|^-[a-zA-Z]*B$/.test(word) && /^\d+$/.test(given[index + 1] ?? word.replace(/\D/g, "")),
    ),
  nvme: (_given, sub) =>
    /^(?:format|sanitize|delete-ns|create-ns|attach-ns|detach-ns|write|write-zeroes|write-uncor|dsm|fw-.*|reset|subsystem-reset|set-feature|security-send|admin-passthru|io-passthru|resv-.*)$/.test(
      sub,
    ),
  diskutil: (_given, sub, text) =>
    !/^(?:list|info|activity|listFilesystems|verifyVolume|verifyDisk|)$/i.test(sub) &&
    !/^(?:apfs|cs|coreStorage|appleRAID) (?:list|info)/i.test(text),
  hdiutil: (_given, sub) => /^(?:erase|burn|resize)/.test(sub),
  smartctl: (given) => has(given, /^(?:-s|--set|--smart=)/),
  eject: (given) => !has(given, /^(?:-d|--default|-n|--noop)$/),
  udisksctl: (_given, sub) => !/^(?:status|info|dump|monitor|help|)$/.test(sub),
  "ceph-volume": (_given, _sub, text) => /zap|create|prepare/.test(text),
  format: (_given, sub) => /^[A-Za-z]:/.test(sub),
  kpartx: (given) => !has(given, /^-[a-zA-Z]*l/),
  partprobe: (given) => !has(given, /^(?:-[a-zA-Z]*[ds]|--dry-run|--summary)/),
  multipath: (given) => !has(given, /^-(?:l|ll|v\d?|t|T|d)$/),
  pvck: (given) => has(given, /^--repair/),
  vgcfgrestore: (given) => !has(given, /^(?:-l|--list)/),
  flashrom: (given) => has(given, /^(?:-[wEx]|--write|--erase|--extract)/),
  "bcache-super-show": () => false,
};

/** Reports whether `zpool import` names a pool. Without a pool it lists the pools that could be imported. */
function importsPool(given: readonly string[]): boolean {
  return given
    .slice(given.indexOf("import") + 1)
    .some((word, index, all) => !word.startsWith("-") && !/^-[cdoRST]$/.test(all[index - 1] ?? ""));
}

function touchesDisk(fact: CommandFact, scene: RuleContext): boolean {
  const given = argumentValues(fact);
  const [sub = ""] = operands(fact);
  for (const name of names(fact)) {
    const image = /^mkfs(?:[._]\w+)?$/.test(name)
      ? IMAGE_TOOLS.mke2fs
      : (IMAGE_TOOLS[name] ?? (/^fsck\./.test(name) ? IMAGE_TOOLS.fsck : undefined));
    if (image?.(given, sub, given.join(" "))) return !onlyImages(fact, scene);
    if (ALWAYS.has(name)) return true;
    if (
      name === "btrfs" &&
      /^(?:subvolume (?:create|snapshot|delete)|restore)$/.test(
        operands(fact)
          .slice(0, sub === "restore" ? 1 : 2)
          .join(" "),
      ) &&
      onlyImages(fact, scene)
    )
      continue;
    if (SOMETIMES[name]?.(given, sub, given.join(" "))) return true;
  }
  return false;
}

/** Reports whether every argument that could be a path is in the workspace or a temporary folder. */
function onlyImages(fact: CommandFact, scene: RuleContext): boolean {
  const words = fact.argv.slice(1).filter((word) => !(word.value ?? word.prefix).startsWith("-"));
  if (words.length === 0 || words.some((word) => word.value === null || word.glob)) return false;
  const paths = words.map((word) => normalize(word.value ?? "", fact.cwd) ?? "");
  return [...paths, ...fact.targets.map((target) => target.path)].every((path) => isFree(path, scene));
}

export const disk: Rule = {
  id: "disk",
  tier: "blocked",
  message:
    "Creates, formats, resizes or detaches a file system, partition or volume, which can destroy all data on it.",
  suggestion: "Inspect the disks with `lsblk` or `df`, and ask the user to make the change.",
  byName: true,
  find: (fact, scene) => (touchesDisk(fact, scene) ? nameSpan(fact) : null),
  catches: [
    "mkfs.ext4 /dev/sda1",
    "mkfs -t ext4 /dev/sdb",
    "mkfs.ext4 ../../disk.img",
    "mkswap /dev/sda2",
    "wipefs -a /dev/sda",
    "fdisk /dev/sda",
    "sfdisk --delete /dev/sda",
    "parted /dev/sda mklabel gpt",
    "cryptsetup luksFormat /dev/sda",
    "vgremove -f vg",
    "zpool destroy tank",
    "btrfs subvolume delete /home",
    "mdadm --zero-superblock /dev/sda1",
    "losetup -d /dev/loop0",
    "swapoff -a",
    "nvme format /dev/nvme0",
    "blkdiscard /dev/sda",
  ],
  passes: [
    "fdisk -l",
    "lsblk",
    "parted -l",
    "zpool status",
    "zfs list",
    "mdadm --detail /dev/md0",
    "losetup -a",
    "command -v mkfs.ext4",
    "swapon --show",
    "wipefs /dev/sda",
    "mkfs.ext4 disk.img",
    "zpool import",
    "kpartx -l disk.img",
    "parted --help",
    "git commit -m 'drop mkfs'",
  ],
};
