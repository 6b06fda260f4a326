import type { CommandFact } from "../../core/facts.ts";
import { argumentValues, isNamed, nameSet, nameSpan, names, operands, type Rule } from "../rule.ts";

const KERNEL = nameSet("modprobe insmod rmmod depmod dkms kmod-load ksplice livepatch sysrq bpftool");

function changesHost(fact: CommandFact): boolean {
  const given = argumentValues(fact);
  const text = given.join(" ");
  const [sub = "", verb = ""] = operands(fact);
  for (const name of names(fact)) {
    if (KERNEL.has(name))
      return (
        !given.some((word) => /^(?:-n|--dry-run|--show.*|-c|--help|--version|-V|-D)$/.test(word)) &&
        !(name === "bpftool" && /\b(?:show|list|dump|probe|version|help)\b/.test(text)) &&
        !(name === "dkms" && sub === "status")
      );
    if (
      name === "sysctl" &&
      (given.some((word) => /^(?:-w|--write|-p.*|--load.*|--system)$/.test(word)) ||
        operands(fact).some((word) => word.includes("=")))
    )
      return true;
    if (
      name === "hostname" &&
      (operands(fact).length > 0 || given.some((word) => /^(?:-F|-b|--file|--boot)/.test(word)))
    )
      return true;
    if (name === "domainname" || name === "nisdomainname") return operands(fact).length > 0;
    if (
      name === "hostnamectl" &&
      /^(?:set-|hostname$|chassis$|deployment$|location$|icon-name$)/.test(sub) &&
      (sub.startsWith("set-") || verb !== "")
    )
      return true;
    if (name === "timedatectl" && /^(?:set-|ntp-|revert)/.test(sub)) return true;
    if (name === "localectl" && sub.startsWith("set-")) return true;
    if (
      name === "date" &&
      given.some(
        (word, index) =>
          /^(?:-[a-zA-Z]*s|--set)/.test(word) ||
          (/^\d{8,12}(?:\.\d\d)?$/.test(word) && !/^-[a-zA-Z]*[rdfv]$/.test(given[index - 1] ?? "")),
      )
    )
      return true;
    if (name === "hwclock" && given.some((word) => /^(?:-[swa]|--(?:systohc|hctosys|set|adjust))/.test(word)))
      return true;
    if (name === "ntpdate" || name === "rdate" || name === "chronyd" || name === "ntpd")
      return !given.some((word) => /^-[a-zA-Z]*[qdpQ]$/.test(word) && !/^(?:ntpd|chronyd)-q$/.test(name + word));
    if (name === "dmesg" && given.some((word) => /^-[a-zA-Z]*[CcDEn]|^--(?:clear|read-clear|console)/.test(word)))
      return true;
    if (
      name === "ip" &&
      /\b(?:flush|del|delete|add|set|change|replace)\b/.test(text) &&
      !/\b(?:show|list|get)\b/.test(text)
    )
      return true;
    if ((name === "ifconfig" || name === "iwconfig") && operands(fact).length > 1) return true;
    if (/^(?:ifdown|ifup|dhclient|route|arp|tc|ethtool|brctl|nmtui|rfkill|wg-quick)$/.test(name)) {
      if (name === "route" || name === "arp") return /\b(?:add|del|delete|flush|change)\b|-[ds]\b/.test(text);
      if (name === "tc") return /\b(?:add|del|delete|change|replace)\b/.test(text);
      if (name === "ethtool") return given.some((word) => /^-[A-Zsprt]/.test(word) && !/^-[STPV]$/.test(word));
      if (name === "rfkill") return /block/.test(sub);
      if (name === "brctl") return !sub.startsWith("show");
      if (name === "wg-quick") return sub !== "strip";
      return true;
    }
    if (
      name === "nmcli" &&
      given.some((word) => /^(?:off|on|down|up|delete|modify|add|disconnect|connect|reload|edit|import)$/.test(word)) &&
      !given.some((word) => /^(?:show|status|list|monitor|s)$/.test(word))
    )
      return true;
    if (name === "networksetup" && given.some((word) => word.startsWith("-set"))) return true;
    if (
      name === "resolvectl" &&
      /^(?:dns|domain|revert|flush-caches|reset.*|llmnr|mdns|dnssec|dnsovertls)$/.test(sub) &&
      operands(fact).length > 2
    )
      return true;
    if (name === "update-alternatives" && given.some((word) => /^--(?:set|install|remove|config|auto)/.test(word)))
      return true;
    if (name === "journalctl" && /--(?:vacuum|rotate|flush|relinquish)/.test(text)) return true;
    if (name === "ldconfig")
      return (
        !/-p\b|--print-cache/.test(text) && !(/-\w*N/.test(text) && /-\w*X/.test(text)) && !/^-n (?!\/)/.test(text)
      );
    if (name === "wall") return true;
    if (name === "setpci") return text.includes("=");
    if (name === "systemd-tmpfiles") return /--(?:purge|remove)/.test(text) && !text.includes("--dry-run");
    if (
      name === "crash" ||
      name === "devmem" ||
      name === "devmem2" ||
      name === "wrmsr" ||
      name === "outb" ||
      name === "i2cset"
    )
      return true;
    if (name === "quotaon" && /^(?:-\w*p|--print-state)/.test(text)) continue;
    if (name === "quotaoff" || name === "quotaon" || name === "edquota" || name === "setquota") return true;
    if (name === "ulimit" || name === "prlimit") continue;
    if (name === "cpupower") return !/\b(?:\w+-info|info|monitor|help)\b/.test(text);
    if (name === "tuned-adm") return !/^(?:list|active|recommend|verify|profile_info|profile_mode|)$/.test(sub);
    if (name === "cgset" || name === "cgdelete" || name === "chcpu") return !/info|list|-g\b|active/.test(sub);
  }
  return false;
}

export const host: Rule = {
  id: "host-state",
  tier: "deny",
  byName: true,
  message: "Changes the kernel, clock, host name or network configuration of the machine.",
  suggestion: "Read the current setting, and ask the user to change it.",
  find: (fact) => (changesHost(fact) ? nameSpan(fact) : null),
  catches: [
    "modprobe -r ext4",
    "insmod x.ko",
    "sysctl -w kernel.panic=1",
    "sysctl vm.swappiness=1",
    "hostname evil",
    "hostnamectl set-hostname evil",
    "date -s 2020-01-01",
    "timedatectl set-time 2020-01-01",
    "ip link set eth0 down",
    "ip route flush table main",
    "ifconfig eth0 down",
    "nmcli networking off",
    "dmesg -C",
    "hwclock -w",
  ],
  passes: [
    "hostname",
    "hostname -f",
    "sysctl -a",
    "sysctl kernel.hostname",
    "date",
    "date +%s",
    "ip addr show",
    "ip a",
    "ifconfig",
    "dmesg",
    "lsmod",
    "modinfo ext4",
    "date -d yesterday",
    "timedatectl",
  ],
};

const READS = nameSet(
  "status show list-units list-unit-files list-timers list-sockets list-jobs list-dependencies list-machines list-automounts list-paths is-active is-enabled is-failed is-system-running cat help get-default show-environment log-level log-target whoami",
);

/** Actions allowed on existing user services. New services would run without supervision. */
const USER_UNITS = nameSet("start stop restart reload try-restart daemon-reload reset-failed");

function changesServices(fact: CommandFact): boolean {
  const given = argumentValues(fact);
  const [sub = "", verb = ""] = operands(fact);
  if (/^\/etc\/(?:init\.d|rc\.d)\//.test(fact.executable.written ?? "")) return sub !== "status";
  for (const name of names(fact)) {
    if (name === "systemctl" && given.includes("--user")) return sub !== "" && !READS.has(sub) && !USER_UNITS.has(sub);
    if (name === "systemctl" && showsUnits(given, operands(fact))) return false;
    if (name === "systemctl") return sub !== "" && !READS.has(sub);
    if (name === "loginctl") return sub !== "" && !/^(?:list-|show-|session-status|user-status|seat-status)/.test(sub);
    if (name === "service")
      return !(given.includes("--status-all") || verb === "status" || verb === "" || sub === "--status-all");
    if (name === "rc-service")
      return (
        verb !== "status" &&
        verb !== "" &&
        !given.some((word) => /^(?:-[Zelr]|--dry-run|--exists|--list|--resolve)$/.test(word))
      );
    if (name === "launchctl")
      return !/^(?:list|print.*|blame|help|version|manager.*|dumpstate|hostinfo|procinfo|error|variant|)$/.test(sub);
    if (name === "initctl") return !/^(?:list|status|version|help|)$/.test(sub);
    if (name === "supervisorctl") return !/^(?:status|tail|maintail|avail|pid|version|help|)$/.test(sub);
    if (name === "sv" || name === "s6-svc" || name === "svc") return !/^(?:status|s|check|)$/.test(sub);
    if (name === "crontab") return !given.includes("-l") && !given.includes("-V");
    if (name === "at" || name === "batch") return !given.some((word) => /^-[lVc]/.test(word));
    if (name === "anacron") return !given.includes("-T");
    if (name === "atrm" || name === "fcrontab" || name === "incrontab") return !given.includes("-l");
    if (name === "invoke-rc.d") return !given.includes("--query");
  }
  return false;
}

/** Reports whether `systemctl` only shows a setting: some commands change it if they get a further argument. */
function showsUnits(given: readonly string[], [sub = "", ...rest]: readonly string[]): boolean {
  if (/^service-log-(?:level|target)$/.test(sub)) return rest.length <= 1;
  if (sub === "service-watchdogs") return rest.length === 0;
  return given.includes("--dry-run") || (sub === "kill" && rest[0] === "help");
}

export const services: Rule = {
  id: "services",
  tier: "deny",
  byName: true,
  message: "Starts, stops or schedules processes outside this session, where they are not supervised or recorded.",
  suggestion: "Start a long-running process as a background session, and ask the user to manage system services.",
  find: (fact) => (changesServices(fact) ? nameSpan(fact) : null),
  catches: [
    "systemctl stop sshd",
    "systemctl --user enable x",
    "service nginx restart",
    "crontab -",
    "crontab -r",
    "crontab x",
    "at now",
    "launchctl load x",
    "loginctl terminate-user me",
  ],
  passes: [
    "systemctl status sshd",
    "systemctl list-units",
    "systemctl",
    "service nginx status",
    "crontab -l",
    "atq",
    "launchctl list",
  ],
};

const SIGNALERS = nameSet("kill pkill killall killall5 skill snice");

function killsOthers(fact: CommandFact): boolean {
  if (!isNamed(fact, SIGNALERS)) return false;
  const given = argumentValues(fact);
  const name = names(fact)[0] ?? "";
  if (name === "killall5") return true;
  if (name === "kill") {
    if (given.some((word) => /^(?:-l|-L|--list|-0)$/.test(word)) || (given[0] === "-s" && given[1] === "0"))
      return false;
    const first = given[0] ?? "";
    const takes = /^(?:-s|-n|--signal|-q|--queue)$/.test(first);
    const signal = takes ? 2 : /^-(?:\d+|[A-Za-z]\w*)$/.test(first) || first.startsWith("--signal=") ? 1 : 0;
    const pids = given.slice(signal).filter((word) => word !== "--");
    // `kill -1 99` sends signal 1; `kill -9 -1` and `kill -- -1` signal every process.
    return (
      pids.some((pid) => /^(?:0*1|-0*1)$/.test(pid)) ||
      (signal === 1 && pids.length === 0 && first === "-1" && given.length > 1)
    );
  }
  const byUser = given.findIndex((word) => /^(?:-u|-U|--user|--euid|--uid)$/.test(word));
  if (byUser >= 0 && operands(fact).length <= 2) return true;
  if (given.some((word) => /^(?:-u.|--(?:user|euid|uid)=)/.test(word))) return true;
  const patterns = given.filter((word) => !word.startsWith("-"));
  return (
    patterns.some(
      (pattern) =>
        /^(?:\.|\.\*|\^?\.?\*?\$?|init|systemd|launchd|sshd|sallyport|keeper|dockerd|containerd|dbus-daemon|Xorg|gnome-shell)$/.test(
          pattern,
        ) || pattern === "",
    ) || given.some((word) => /^(?:-v|--inverse)$/.test(word))
  );
}

export const processes: Rule = {
  id: "kill-others",
  tier: "deny",
  message: "Sends a signal to init, to a system service, to every process, or to all processes of a user.",
  suggestion: "Signal only processes that you started, by their process IDs.",
  find: (fact) => (killsOthers(fact) ? fact.span : null),
  catches: [
    "kill -9 1",
    "kill 1",
    "kill -9 -1",
    "kill -KILL -- -1",
    "kill -s TERM 1",
    "pkill -9 -u root",
    "killall -u me",
    "killall5",
    "pkill -9 .",
    "pkill systemd",
  ],
  passes: [
    "kill 12345",
    "kill -9 12345",
    "kill -1 12345",
    "kill %1",
    "kill -0 1",
    "kill -l",
    "pkill node",
    "pkill -f 'vite dev'",
    "killall node",
  ],
};
