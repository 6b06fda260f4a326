/**
 * Whether a text so much as names what a hard block stops. Only for one that is too much to be analysed: without this a
 * long comment or five hundred harmless commands would carry a blocked one past its block (promise 3), and asking about
 * every long text would ask about each long file that is written from a here-document.
 */
export function mayBeBlocked(text: string): boolean {
  if (text.length > MOST) return true;
  return NAMES.test(text.replace(/["'\\\n]+/g, (marks) => (marks.includes("\n") ? "\n" : "")));
}

/** Twice what the kernel takes as one text: who sends more wants it to take long. */
const MOST = 256 << 10;

const POWER = "shutdown|reboot|halt|poweroff|telinit|init\\s+[0-6]|kexec|rtcwake|pm-\\w+|systemctl|loginctl|ipmitool";
const DISK =
  "mkfs[\\w.]*|mke2fs|mkswap|wipefs|[sc]?fdisk|s?gdisk|parted|blkdiscard|cryptsetup|(?:lv|vg|pv)remove|zpool|zfs|hdparm|nvme";
const WALL = "ip6?tables|nft|ufw|setenforce|aa-teardown|firewall-cmd";
const BOOT = "grub2?-\\w+|update-grub2?|efibootmgr|update-initramfs|dracut|kernel-install";
/** Deleting, overwriting and opening up what is vital: with a path that starts at the root or at home. */
const VITAL = "(?:rm|shred|chmod|chown|find|truncate)\\s[^\\n;|&]{0,100}?[\\s=](?:/|~|\\$HOME|\\$\\{HOME)";
const DEVICE = "(?:of=|>\\s*|\\s)/dev/(?:sd|nvme|vd|xvd|hd|mmcblk|mapper|disk|mem|dm-)|/proc/sysrq|/sys/power";
const BOMB = "\\(\\s*\\)\\s*\\{[^|}\\n]{0,80}\\|[^&}\\n]{0,80}&";
const NAMES = new RegExp(`(?<![\\w.-])(?:${[POWER, DISK, WALL, BOOT, VITAL].join("|")})(?![\\w-])|${DEVICE}|${BOMB}`);
