import type { CommandFact } from "../../core/facts.ts";
import { argumentValues, nameSet, nameSpan, names, operands, type Rule } from "../rule.ts";

/** Programs that create, resize or destroy a file system, partition or volume whatever their arguments are. */
const ALWAYS = nameSet(
  "mke2fs mkdosfs mkntfs mkswap mkudffs mkisofs-device newfs newfs_hfs wipefs blkdiscard resize2fs e2label xfs_admin " +
    "xfs_growfs xfs_repair pvcreate pvremove pvmove pvresize vgcreate vgremove vgreduce vgextend vgsplit vgmerge vgrename vgcfgrestore " +
    "lvcreate lvremove lvreduce lvresize lvextend lvconvert lvrename swapoff fatlabel sgdisk-restore partprobe kpartx flashrom " +
    "flash_erase nandwrite mtd_write ubiformat sg_format sg_sanitize dcfldd-device multipath bcache-super-show thin_repair pvck btrfstune reiserfstune",
);

const READS =
  /^(?:-l|--list|-L|--help|-h|--version|-V|-v|--show|-s|--summary|--dump|-d|--json|-J|--noheadings|-n|--no-act|--bytes|-p|--print)$/;

interface Sometimes {
  /** Reports whether these arguments change a disk. */
  changes(given: readonly string[], sub: string, text: string): boolean;
}

const SOMETIMES: Record<string, Sometimes> = {
  fdisk: {
    changes: (given) => !given.some((word) => /^-[a-zA-Z]*[lsx]/.test(word) || word === "--list") && given.length > 0,
  },
  sfdisk: {
    changes: (given) =>
      !given.some((word) =>
        /^(?:-l|-d|-J|-s|-F|-V|-T|-g|--list|--dump|--json|--show|--verify|--list-free|--list-types|--version|--help)/.test(
          word,
        ),
      ),
  },
  tune2fs: { changes: (given) => !given.includes("-l") },
  swapon: {
    changes: (given) =>
      given.length > 0 && !given.some((word) => /^(?:-s|--show|--summary|-V|--version|-h|--help)/.test(word)),
  },
  cfdisk: { changes: () => true },
  gdisk: { changes: (given) => !given.includes("-l") },
  sgdisk: {
    changes: (given) =>
      given.some(
        (word) => !/^(?:-p|-i|-O|-v|-L|--print|--info.*|--verify|--list-types)/.test(word) && word.startsWith("-"),
      ),
  },
  parted: {
    changes: (given, _sub, text) =>
      !given.some((word) => word === "-l" || word === "--list") && !/\bprint\b/.test(text) && given.length > 0,
  },
  cryptsetup: { changes: (_given, sub) => !/^(?:status|luksDump|isLuks|luksUUID|benchmark|)$/.test(sub) },
  mdadm: {
    changes: (given) => !given.every((word) => /^(?:-D|--detail|-E|--examine|-Q|--query|--scan|-s|\/|-v)/.test(word)),
  },
  losetup: {
    changes: (given) =>
      given.length > 0 &&
      !given.every((word) => /^(?:-a|--all|-l|--list|-j|--associated|-J|--json|-n|-O|--output|[A-Z,]+$)/.test(word)),
  },
  dmsetup: { changes: (_given, sub) => !/^(?:ls|info|status|table|deps|version|targets|help|report|)$/.test(sub) },
  lvm: {
    changes: (_given, sub) =>
      /^(?:pv|vg|lv)(?:create|remove|reduce|resize|extend|convert|rename|move|split|merge)$/.test(sub),
  },
  vgchange: { changes: () => true },
  lvchange: { changes: () => true },
  pvchange: { changes: () => true },
  zpool: { changes: (_given, sub) => !/^(?:status|list|get|iostat|history|events|version|)$/.test(sub) },
  zfs: { changes: (_given, sub) => !/^(?:list|get|diff|holds|version|)$/.test(sub) },
  btrfs: {
    changes: (_given, _sub, text) =>
      /\b(?:delete|create|add|remove|resize|balance|rescue|restore|replace|set-default|snapshot|disable|enable|repair|zero-log|chunk-recover)\b|--repair/.test(
        text,
      ),
  },
  bcachefs: { changes: (_given, sub) => !/^(?:show-super|list|fs|version|)$/.test(sub) },
  hdparm: {
    changes: (given) =>
      given.some(
        (word) =>
          /^--(?:security|trim|write|make-bad|dco|format|fwdownload|sanitize|yes|please|Idirect)/.test(word) ||
          /^-[a-zA-Z]*[yYNrWBSMAf]/.test(word),
      ),
  },
  nvme: {
    changes: (_given, sub) =>
      /^(?:format|sanitize|delete-ns|create-ns|attach-ns|detach-ns|write|write-zeroes|write-uncor|dsm|fw-.*|reset|subsystem-reset|set-feature|security-send|admin-passthru|io-passthru|resv-.*)$/.test(
        sub,
      ),
  },
  badblocks: { changes: (given) => given.some((word) => /^-[a-zA-Z]*[wn]/.test(word)) },
  debugfs: { changes: (given) => given.some((word) => /^-[a-zA-Z]*[wf]/.test(word)) },
  fsck: { changes: (given) => !given.some((word) => /^-[a-zA-Z]*N/.test(word)) },
  e2fsck: { changes: (given) => !given.some((word) => /^-[a-zA-Z]*n/.test(word)) },
  diskutil: { changes: (_given, sub) => !/^(?:list|info|activity|listFilesystems|)$/i.test(sub) },
  hdiutil: { changes: (_given, sub) => /^(?:erase|burn|resize)/.test(sub) },
  smartctl: { changes: (given) => given.some((word) => /^(?:-s|-t|--set|--test|-X|--smart=)/.test(word)) },
  eject: { changes: () => true },
  udisksctl: { changes: (_given, sub) => !/^(?:status|info|dump|monitor|help|)$/.test(sub) },
  growpart: { changes: () => true },
  "ceph-volume": { changes: (_given, _sub, text) => /zap|create|prepare/.test(text) },
  nbd: { changes: () => true },
  "qemu-nbd": { changes: () => true },
  "grub-bios-setup": { changes: () => true },
  format: { changes: (_given, sub) => /^[A-Za-z]:/.test(sub) },
};

function touchesDisk(fact: CommandFact): boolean {
  const given = argumentValues(fact);
  const [sub = ""] = operands(fact);
  for (const name of names(fact)) {
    if (/^(?:mkfs|fsck|xfs_mkfs|mkfs_.*)(?:\.\w+)?$/.test(name) && name.startsWith("mkfs"))
      return !given.every((word) => READS.test(word)) || given.length === 0;
    if (/^fsck\./.test(name)) return SOMETIMES.fsck?.changes(given, sub, "") ?? true;
    if (ALWAYS.has(name)) {
      if (name === "wipefs") return given.some((word) => /^(?:-[a-z]*[ao]|--all|--offset)/.test(word));
      return !(given.length > 0 && given.every((word) => /^(?:--help|--version|-V|--show.*|-s)$/.test(word)));
    }
    const some = SOMETIMES[name];
    if (some?.changes(given, sub, given.join(" "))) return true;
  }
  return false;
}

export const disk: Rule = {
  id: "disk",
  tier: "blocked",
  message:
    "Creates, formats, resizes or detaches a file system, partition or volume, which can destroy all data on it.",
  suggestion: "Inspect the disks with `lsblk` or `df`, and ask the user to make the change.",
  find: (fact) => (touchesDisk(fact) ? nameSpan(fact) : null),
  catches: [
    "mkfs.ext4 /dev/sda1",
    "mkfs -t ext4 x",
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
    "git commit -m 'drop mkfs'",
  ],
};
