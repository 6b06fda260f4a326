import type { CommandFact } from "../../core/facts.ts";
import { argumentValues, isCommand, isNamed, nameSet, nameSpan, names, operands, type Rule } from "../rule.ts";

const ALWAYS = nameSet(
  "shutdown reboot halt poweroff telinit pm-suspend pm-hibernate pm-powersave pm-suspend-hybrid kexec rtcwake systemsetup",
);

const SYSTEMD = nameSet(
  "poweroff reboot halt kexec suspend hibernate hybrid-sleep suspend-then-hibernate soft-reboot rescue emergency isolate exit switch-root default",
);

const LOGIND = nameSet("poweroff reboot halt suspend hibernate hybrid-sleep suspend-then-hibernate");
/** Arguments with which the command prints something, or only writes a log entry. */
const ASKS = /^(?:--help|--version|--show|--list-modes|-V|-w|--wtmp-only)$/;

function turnsOff(fact: CommandFact): boolean {
  const [sub = ""] = operands(fact);
  const given = argumentValues(fact);
  for (const name of names(fact)) {
    if (name === "rtcwake" && /(?:^| )(?:-m|--mode)[ =]?(?:show|no)\b/.test(given.join(" "))) continue;
    if (name === "systemsetup" && given.length > 0 && given.every((word) => /^-(?:get|list|help|version)/.test(word)))
      continue;
    if (ALWAYS.has(name)) return !(given.length === 1 && ASKS.test(given[0] ?? ""));
    if (name === "init" && /^[0-6sSqQu]$/.test(sub)) return true;
    if (name === "systemctl" && SYSTEMD.has(sub)) return true;
    if (name === "loginctl" && LOGIND.has(sub)) return true;
    if (name === "acpiconf" && given.includes("-s")) return true;
    if (name === "pmset" && /sleepnow|displaysleepnow/.test(given.join(" "))) return true;
    if (
      /^(?:dbus-send|gdbus|busctl|qdbus)$/.test(name) &&
      /\b(?:PowerOff|Reboot|Halt|Suspend|Hibernate|HybridSleep|KExec)\b/.test(given.join(" "))
    )
      return true;
    if (name === "ipmitool" && /power|chassis/.test(given.join(" ")) && /off|cycle|reset|soft/.test(given.join(" ")))
      return true;
  }
  return false;
}

export const power: Rule = {
  id: "power",
  tier: "blocked",
  message: "Shuts down, restarts or suspends the machine, or changes its runlevel.",
  suggestion: "Restart only processes that you started, or ask the user to restart the machine.",
  byName: true,
  find: (fact) => (turnsOff(fact) ? nameSpan(fact) : null),
  catches: [
    "shutdown -h now",
    "reboot",
    "/sbin/poweroff",
    "init 0",
    "init 6",
    "telinit 0",
    "systemctl poweroff",
    "systemctl --force reboot",
    "loginctl suspend",
    "nohup halt &",
    "rtcwake -m mem -s 60",
    "env -i reboot",
    "busctl call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager PowerOff b 1",
  ],
  passes: [
    "man 8 reboot",
    "systemctl status",
    "git init",
    "echo reboot",
    "grep -r shutdown docs/",
    "npm init -y",
    "reboot --help",
    "which poweroff",
    "last reboot",
  ],
};

const POLICY_OFF = nameSet("stop disable mask kill");
const GUARDS =
  /^(?:firewalld|ufw|nftables|iptables|ip6tables|apparmor|auditd|fail2ban|selinux-autorelabel|netfilter-persistent|shorewall|crowdsec|ossec|wazuh-agent|falcon-sensor|clamav-daemon|sallyport)(?:\.service)?$/;

/** Programs that change access control, with the arguments that only show or check something. */
const SECURITY_TOOLS: Record<string, RegExp> = {
  setenforce: /^$/,
  "aa-teardown": /^-[hd]$/,
  "aa-disable": /^$/,
  "aa-complain": /^$/,
  setsebool: /^$/,
  apparmor_parser: /(?:^| )(?:-[a-zA-Z]*[QNp]|--skip-kernel-load|--names|--preprocess)(?: |$)/,
  semodule: /^(?:-l\S*|--list\S*|-v|--verbose| )+$/,
  csrutil: /^(?:status|netboot list|authenticated-root status)?$/,
  spctl: /^(?:--list|--status|--assess|-a\b)/,
};

function opensWall(fact: CommandFact): boolean {
  const given = argumentValues(fact);
  const text = given.join(" ");
  const [sub = "", ...rest] = operands(fact);
  for (const name of names(fact)) {
    if (
      /^(?:ip6?tables|ebtables|arptables)(?:-legacy|-nft)?$/.test(name) &&
      given.some((word) =>
        /^(?:-[FXZDPIARNE]|--(?:flush|delete-chain|delete|policy|insert|append|zero|replace|new-chain|rename-chain))/.test(
          word,
        ),
      )
    )
      return true;
    if (/^ip6?tables-restore/.test(name)) return !given.some((word) => /^(?:-t|--test)$/.test(word));
    if (
      name === "nft" &&
      !given.some((word) => /^(?:-c|--check)$/.test(word)) &&
      (/\b(?:flush|delete|destroy|add|insert|replace|reset|create)\b/.test(text) ||
        given.includes("-f") ||
        given.includes("--file"))
    )
      return true;
    if (name === "ufw" && !/^(?:status|version|show|app|help)?$/.test(sub) && !given.includes("--dry-run")) return true;
    if (
      name === "firewall-cmd" &&
      given.some((word) =>
        /^--(?:add|remove|set|panic|reload|complete-reload|runtime-to-permanent|delete|new|change|load|passthrough|lockdown-o)/.test(
          word,
        ),
      )
    )
      return true;
    if (name === "pfctl" && given.some((word) => /^-[a-zA-Z]*[dFef]/.test(word) && !/^-[a-zA-Z]*n/.test(word)))
      return true;
    if (name === "ipset" && /^(?:flush|destroy|del|add|create|restore|swap|rename)$/.test(sub)) return true;
    if (name === "netsh" && /firewall/.test(text)) return true;
    const off = SECURITY_TOOLS[name];
    if (off) return !off.test(text);
    if (name === "semanage" && !/ -[a-zA-Z]*l| --(?:list|extract|help)|^export\b| -E\b/.test(text)) return true;
    if (name === "auditctl" && given.some((word) => /^-[eDdAawW]/.test(word))) return true;
    if (
      /^(?:systemctl|rc-service|rc-update|chkconfig|update-rc\.d)$/.test(name) &&
      (POLICY_OFF.has(sub) || /\b(?:off|remove|del|disable|stop)\b/.test(text)) &&
      [sub, ...rest].some((word) => GUARDS.test(word))
    )
      return true;
    if (name === "service" && GUARDS.test(sub) && /^(?:stop|disable)$/.test(rest[0] ?? "")) return true;
  }
  return false;
}

export const security: Rule = {
  id: "security-off",
  tier: "blocked",
  message: "Disables or changes the firewall or the access control of the system.",
  suggestion:
    "Read the current rules with `iptables -L`, `ufw status` or `getenforce`, and ask the user to make the change.",
  byName: true,
  find: (fact) => (opensWall(fact) ? nameSpan(fact) : null),
  catches: [
    "iptables -F",
    "iptables --flush",
    "nft flush ruleset",
    "ufw disable",
    "systemctl disable firewalld",
    "systemctl stop ufw",
    "setenforce 0",
    "aa-teardown",
    "firewall-cmd --panic-off",
    "service iptables stop",
    "ip6tables -P INPUT ACCEPT",
  ],
  passes: [
    "iptables -L",
    "iptables -S",
    "ufw status",
    "nft list ruleset",
    "getenforce",
    "systemctl status firewalld",
    "firewall-cmd --list-all",
  ],
};

const BOOT_TOOLS = nameSet(
  "grub-install grub2-install grub-mkconfig grub2-mkconfig update-grub update-grub2 grub-set-default grub-reboot grub2-set-default grub-editenv grub2-editenv efibootmgr update-initramfs mkinitramfs mkinitcpio dracut lilo extlinux syslinux bless nvram kernel-install installkernel systemd-firstboot update-rc.d chkconfig rc-update kernelstub bcdedit",
);

/** The arguments with which these programs only show or check something. */
const SHOWS_BOOT: Record<string, RegExp> = {
  efibootmgr: /^(?:-v|--verbose|-u|--unicode| )*$/,
  chkconfig: /^(?:--list.*|[\w.@-]*)$/,
  "rc-update": /^(?:show.*|-v|--verbose|-a|--all| )*$/,
  "update-rc.d": /^-n\b/,
  bless: /(?:^| )(?:--info|--getBoot)/,
  dracut: /^(?:--list-modules|--print-cmdline)/,
  "grub-editenv": /(?:^| )list$/,
  "grub2-editenv": /(?:^| )list$/,
  "grub-mkconfig": /^(?!.*(?:-o|--output))/,
  "grub2-mkconfig": /^(?!.*(?:-o|--output))/,
  "kernel-install": /^(?:|inspect.*|list.*)$/,
  kernelstub: /(?:^| )(?:-p|--print-config|-c|--dry-run)(?: |$)/,
  mkinitcpio: /^(?!.*(?:-[pPgUd]\b|--(?:preset|allpresets|generate|uki|generatedir)))/,
  nvram: /^(?:-x?p|[\w:%][\w:%-]*)$/,
};

export const boot: Rule = {
  id: "boot",
  tier: "blocked",
  message: "Changes the boot loader, the kernel that boots, or the services that start at boot.",
  suggestion: "Describe the change, and ask the user to make it.",
  byName: true,
  find: (fact) => {
    const [sub = ""] = operands(fact);
    const text = argumentValues(fact).join(" ");
    if (names(fact).some((name) => SHOWS_BOOT[name]?.test(text))) return null;
    if (isNamed(fact, BOOT_TOOLS)) return nameSpan(fact);
    if (isCommand(fact, "systemctl") && sub === "set-default") return nameSpan(fact);
    if (isCommand(fact, "bootctl") && /^(?:install|remove|update|set-|random-seed|cleanup|unlink|kernel-)/.test(sub))
      return nameSpan(fact);
    return null;
  },
  catches: [
    "grub-install /dev/sda",
    "update-grub",
    "efibootmgr -b 0 -B",
    "update-initramfs -u",
    "systemctl set-default multi-user.target",
    "bootctl install",
  ],
  passes: ["ls /boot/grub", "efibootmgr -v", "systemctl get-default", "bootctl status"],
};
