/**
 * Whether a text so much as names what a hard block stops. Only for one that is too much to be analysed: without this a
 * long comment or five hundred harmless commands would carry a blocked one past its block (promise 3), and asking about
 * every long text would ask about each long file that is written from a here-document.
 */
export function mentionsBlockedCommand(text: string): boolean {
  if (text.length > MAX_TEXT) return true;
  return BLOCKED_NAMES.test(text.replace(/["'\\\n]+/g, (marks) => (marks.includes("\n") ? "\n" : "")));
}

/** Twice what the kernel takes as one text: who sends more wants it to take long. */
const MAX_TEXT = 256 << 10;

const POWER_NAMES =
  "shutdown|reboot|halt|poweroff|telinit|init\\s+[0-6]|kexec|rtcwake|pm-\\w+|systemctl|loginctl|ipmitool";
const DISK_NAMES =
  "mkfs[\\w.]*|mke2fs|mkswap|wipefs|[sc]?fdisk|s?gdisk|parted|blkdiscard|cryptsetup|(?:lv|vg|pv)remove|zpool|zfs|hdparm|nvme";
const FIREWALL_NAMES = "ip6?tables|nft|ufw|setenforce|aa-teardown|firewall-cmd";
const BOOT_NAMES = "grub2?-\\w+|update-grub2?|efibootmgr|update-initramfs|dracut|kernel-install";
/** Deleting, overwriting and opening up what is vital: with a path that starts at the root or at home. */
const VITAL_PATHS = "(?:rm|shred|chmod|chown|find|truncate)\\s[^\\n;|&]{0,100}?[\\s=](?:/|~|\\$HOME|\\$\\{HOME)";
const DEVICE_PATHS = "(?:of=|>\\s*|\\s)/dev/(?:sd|nvme|vd|xvd|hd|mmcblk|mapper|disk|mem|dm-)|/proc/sysrq|/sys/power";
const FORK_BOMB = "\\(\\s*\\)\\s*\\{[^|}\\n]{0,80}\\|[^&}\\n]{0,80}&";
const BLOCKED_NAMES = new RegExp(
  `(?<![\\w.-])(?:${[POWER_NAMES, DISK_NAMES, FIREWALL_NAMES, BOOT_NAMES, VITAL_PATHS].join("|")})(?![\\w-])|${DEVICE_PATHS}|${FORK_BOMB}`,
);
