import type { CommandFact } from "../../core/facts.ts";
import {
  argumentValues,
  isCommand,
  isNamed,
  nameSet,
  nameSpan,
  names,
  onlyPrintsHelp,
  operands,
  type Rule,
} from "../rule.ts";

/** The arguments with which these programs only show or check something. */
const SHOWS: Record<string, RegExp> = {
  sudo: /^(?:--version|-V|--help|-h)$/,
  sudoedit: /^(?:--version|-V|--help|-h)$/,
  visudo: /^(?:-c|--check)(?: |$)/,
  doas: /^-C /,
  schroot: /^(?:-l|--list|-i|--info|--location|--config)(?: |$)/,
  "start-stop-daemon": /(?:^| )(?:-T|--status|-t|--test)(?: |$)/,
  "systemd-nspawn": /^--version/,
  // ast-grep is also named `sg`.
  sg: /^(?:run|scan|test|new|lsp|completions|help)\b|(?:^| )(?:-p|--pattern)[ =]/,
};
const ASKS = /^(?:--list|-l|--print)$/;
const BECOMES = nameSet(
  "sudo sudoedit su doas pkexec runuser setpriv gosu su-exec chroot nsenter unshare newgrp sg login capsh machinectl systemd-run pivot_root switch_root visudo vipw vigr dzdo please sux kdesu gksu gksudo ksu calife super suexec setuidgid chpst s6-setuidgid s6-applyuidgid start-stop-daemon systemd-nspawn run0 runas chroot_safe schroot arch-chroot proot bwrap-suid sudo-rs doas-rs",
);

const MOUNTS = nameSet(
  "mount umount mount.cifs mount.nfs umount.nfs fusermount fusermount3 sshfs bindfs mount_nfs guestmount curlftpfs",
);

export const privilege: Rule = {
  id: "privilege",
  tier: "deny",
  message: "Runs as another user, with other privileges, or outside the supervised process tree.",
  suggestion: "Run the command as the current user, or tell the user which privileges it needs and why.",
  find: (fact) => {
    if (!isNamed(fact, BECOMES)) return null;
    const given = argumentValues(fact);
    if (names(fact).some((name) => SHOWS[name]?.test(given.join(" ")))) return null;
    if (
      isCommand(fact, "machinectl") &&
      !/^(?:shell|login|start|enable|kill|poweroff|reboot|terminate|remove|import.*|pull.*|bind|copy.*|clone|rename|edit|clean|stop|disable|set-limit)$/.test(
        operands(fact)[0] ?? "",
      )
    )
      return null;
    const lists = given.length > 0 && given.every((word) => ASKS.test(word)) && !isCommand(fact, "sudo");
    return lists || onlyPrintsHelp(fact) ? null : nameSpan(fact);
  },
  catches: [
    "sudo id",
    "sudo -n true",
    "su - root",
    "doas id",
    "pkexec id",
    "chroot / id",
    "nsenter -t 1 -a sh",
    "systemd-run --pty id",
    "machinectl shell",
    "bash -c 'sudo id'",
    "/usr/bin/./sudo id",
    "unshare -r id",
    "runuser -u x id",
  ],
  passes: [
    'echo "don\'t sudo"',
    "grep sudo file",
    "getent group sudo",
    "which sudo",
    "man su",
    "git commit -m 'sudo'",
    "sudo --version",
  ],
};

export const mounting: Rule = {
  id: "mount",
  tier: "deny",
  byName: true,
  message: "Mounts or unmounts a file system.",
  suggestion: "List mounts with `mount` or `findmnt`, and copy the files you need into the workspace.",
  find: (fact) => {
    if (!isNamed(fact, MOUNTS)) return null;
    const given = argumentValues(fact);
    const lists =
      names(fact)[0] === "mount" &&
      !given.some(
        (word, index) => !/^(?:-l|--show-labels|-v|-h|--help|-V|--version|-t)$/.test(word) && given[index - 1] !== "-t",
      );
    return lists || given.some((word) => /^(?:--help|--version|-h|-V)$/.test(word)) ? null : nameSpan(fact);
  },
  catches: [
    "mount /dev/sda1 /mnt",
    "mount -o remount,rw /",
    "umount /home",
    "mount --bind / x",
    "fusermount -u x",
    "mount -a",
  ],
  passes: ["mount", "mount -l", "mount -t ext4", "cat /proc/mounts", "findmnt"],
};

const ACCOUNTS = nameSet(
  "passwd chpasswd useradd userdel usermod groupadd groupdel groupmod adduser deluser addgroup delgroup gpasswd chsh chfn chage newusers pwconv pwunconv grpconv grpunconv pwck grpck vipw faillock pam-auth-update authconfig authselect dscl sysadminctl realm setcap newuidmap newgidmap htpasswd-system loginctl-enable",
);

/** The arguments with which these programs only show or check something. */
const SHOWS_ACCOUNTS: Record<string, RegExp> = {
  passwd: /^(?!.*(?:-d|--delete))(?:.* )?(?:-S|--status)(?: |$)/,
  chage: /^(?!.*-[dEImMW]\b)(?:.* )?(?:-l|--list)(?: |$)/,
  chsh: /^(?:-l|--list-shells)$/,
  faillock: /^(?!.*--reset)/,
  authconfig: /^--(?:test|probe)/,
  authselect: /^(?:list|show|current|check|test|requirements)/,
  setcap: /^(?:-q )?-v /,
  pwck: /^(?:-[a-zA-Z]*r|--read-only)/,
  grpck: /^(?:-[a-zA-Z]*r|--read-only)/,
  realm: /^(?:list|discover)/,
  dscl: /(?:^| )-?(?:read|readall|list|ls|search|diff|cat)(?: |$)/,
  useradd: /^-D$|^--defaults$/,
};

export const accounts: Rule = {
  id: "accounts",
  tier: "deny",
  byName: true,
  message: "Changes user accounts, passwords or groups, or adds setuid, setgid or capabilities to a file.",
  suggestion: "Inspect accounts with `id`, `getent` or `getcap`, and ask the user to make the change.",
  find: (fact) => {
    const given = argumentValues(fact);
    if (setsUid(fact)) return nameSpan(fact);
    if (!isNamed(fact, ACCOUNTS)) return null;
    const text = given.join(" ");
    if (names(fact).some((name) => SHOWS_ACCOUNTS[name]?.test(text))) return null;
    return given.some((word) => /^(?:--help|--version)$/.test(word)) ? null : nameSpan(fact);
  },
  catches: [
    "passwd root",
    "echo x:y | chpasswd",
    "useradd evil",
    "usermod -aG sudo me",
    "chsh -s /bin/x",
    "setcap cap_setuid+ep ./x",
    "chmod u+s ./x",
    "chmod 4755 ./x",
    "install -m 4755 a b",
  ],
  passes: ["id", "getent passwd", "passwd -S", "cat /etc/passwd", "chmod 755 x", "chmod +x x", "chmod 0644 x"],
};

/**
 * Reports whether a command sets the setuid or setgid bit, which lets other users run the file as its owner or group.
 */
function setsUid(fact: CommandFact): boolean {
  const given = argumentValues(fact);
  if (isCommand(fact, "chmod"))
    return given.some(
      (word) =>
        /^(?:0*[2-7][0-7]{3}|[ugoa]*[+=][rwxXt]*s.*|.*,[ugoa]*[+=][rwxXt]*s.*)$/.test(word) &&
        !/^0*[01][0-7]{3}$/.test(word),
    );
  if (!isCommand(fact, "install")) return false;
  return given.some(
    (word, index) =>
      /^(?:-m|--mode=?)?0*[2-7][0-7]{3}$/.test(word) &&
      (/^-/.test(word) || /^(?:-m|--mode)$/.test(given[index - 1] ?? "")),
  );
}
