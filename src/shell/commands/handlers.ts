/** Selects the models of a command by its name, ignoring version suffixes and variants. */
import { versionless } from "../path.ts";
import type { Call, Runner } from "../walk/call.ts";
import { ar, cloudCopy, cpio, rsync, sevenZip, tar, zip } from "./archives.ts";
import { echoOutput, printfOutput } from "./builtin-output.ts";
import { FILE_COMMANDS, files } from "./files.ts";
import { git } from "./git.ts";
import { awk, editor, INTERPRETERS, interpreter, make, sed, sqlite } from "./interpreters.ts";
import { apt, cargo, cmake, cmd, dpkg, go, maven, multicall, npm, rpm, runInEnvironment } from "./packages.ts";
import { base64, cat, tee } from "./pass-through.ts";
import { bwrap, env, prefix } from "./prefix.ts";
import { PREFIXES } from "./prefixes.ts";
import { ansible, container, containerExec, kubectl, socat, ssh } from "./remote.ts";
import { SHELLS, shell } from "./shells.ts";
import { escapingProgram } from "./stdin-code.ts";
import {
  at,
  concurrently,
  entr,
  flock,
  hyperfine,
  multiplexer,
  sops,
  su,
  TEXT_OPTIONS,
  textOperands,
  textOption,
  watch,
} from "./texts.ts";
import { fd, find, list, parallel, xargs } from "./xargs-find.ts";

type Handler = (call: Call, run: Runner) => void;

const handlers = new Map<string, Handler>();

function add(names: readonly string[], ...parts: Handler[]): void {
  for (const name of names) {
    const known = handlers.get(name);
    const all = known ? [known, ...parts] : parts;
    const [only] = all;
    handlers.set(name, all.length === 1 && only ? only : (call, run) => all.forEach((part) => void part(call, run)));
  }
}

/** Programs that are modeled only because their input can contain commands for a shell. */
const ESCAPING = "ftp sftp lftp ncftp telnet mail mailx mutt s-nail tig ranger vifm info pg man".split(" ");

let built = false;

/** Builds the table of handlers. Called on first use, because the model tables import each other. */
function build(): void {
  built = true;
  add(Object.keys(PREFIXES), prefix);
  add(Object.keys(FILE_COMMANDS), files);
  add(
    Object.keys(TEXT_OPTIONS).filter((name) => name !== "hyperfine"),
    textOption,
  );
  add(Object.keys(INTERPRETERS), interpreter);
  add(SHELLS, shell);
  add(["env", "genv"], env);
  add(["bwrap"], bwrap);
  add(["xargs", "gxargs"], xargs);
  add(["parallel"], parallel);
  add(["find", "gfind"], find);
  add(["fd", "fdfind"], fd);
  add(["ls", "dir"], list);
  add(["tar", "gtar"], tar);
  add(["rsync"], rsync);
  add(["zip"], zip);
  add(["7z", "7za", "7zr", "7zz", "rar", "unrar"], sevenZip);
  add(["cpio"], cpio);
  add(["ar"], ar);
  add(["rclone", "aws", "gsutil"], cloudCopy);
  add(["git"], git);
  add(["ssh", "scp", "sftp", "autossh", "mosh"], ssh);
  add(["docker", "podman", "nerdctl", "docker-compose", "podman-compose"], container);
  add(["kubectl", "oc", "k3s"], kubectl);
  add(["lxc", "incus", "lxc-attach", "adb", "wsl", "machinectl"], containerExec);
  add(["npx", "pnpx", "bunx", "npm", "pnpm", "yarn", "bun"], npm);
  add(["uv", "conda", "mamba", "micromamba", "mise", "asdf", "rbenv", "pyenv", "nix"], runInEnvironment);
  add(["apt", "apt-get", "aptitude", "apt-cache"], apt);
  add(["dpkg", "dpkg-deb"], dpkg);
  add(["rpm", "rpmbuild"], rpm);
  add(["mvn", "mvnw"], maven);
  add(["ansible"], ansible);
  add(["socat"], socat);
  add(["sops"], sops);
  add(["pee", "mispipe"], textOperands);
  add(["go"], go);
  add(["cargo"], cargo);
  add(["cmake"], cmake);
  add(["busybox", "toybox", "coreutils", "ld.so", "ld-linux", "ld-musl"], multicall);
  add(["cmd", "cmd.exe"], cmd);
  add(["awk", "gawk", "mawk", "nawk"], awk);
  add(["sed", "gsed"], sed);
  add(["vi", "vim", "nvim", "view", "ex", "ed", "less", "more", "most", "emacs", "nano"], editor);
  add(["sqlite3", "sqlite"], sqlite);
  add(["make", "gmake", "bmake", "just", "ninja"], make);
  add(["watch"], watch);
  add(["concurrently"], concurrently);
  add(["hyperfine"], hyperfine);
  add(["entr"], entr);
  add(["flock"], flock);
  add(["su", "sg", "runuser", "capsh"], su);
  add(["at", "batch"], at);
  add(["tmux", "screen", "zellij", "dtach", "abduco", "byobu", "dvtm", "mc"], multiplexer);
  add(ESCAPING, escapingProgram);
  add(["cat"], cat);
  add(["tee", "sponge"], tee);
  add(["base64"], base64);
  add(["echo"], (call) => {
    call.output = echoOutput(call);
  });
  add(["printf"], (call) => {
    call.output = printfOutput(call);
  });
}

export function handlerOf(name: string): Handler | undefined {
  if (!built) build();
  if (name === "") return undefined;
  return handlers.get(name) ?? handlers.get(folded(name));
}

function folded(name: string): string {
  if (/^ld-linux|^ld-musl/.test(name)) return "ld-linux";
  if (/^(?:mkfs|fsck)[._]/.test(name)) return name.slice(0, 4);
  return versionless(name.replace(/\.exe$/, ""));
}

/**
 * Commands whose arguments decide what is destroyed, stopped or changed. Unknown arguments make the text unanalyzable.
 */
const SENSITIVE = new Set(
  (
    "kill pkill killall killall5 systemctl service init telinit shutdown hostname hostnamectl sysctl iptables ip6tables nft ufw " +
    "mount umount swapoff swapon modprobe rmmod insmod fdisk sfdisk parted gdisk sgdisk wipefs blkdiscard mkswap cryptsetup " +
    "mdadm losetup lvremove vgremove pvremove zpool zfs btrfs hdparm nvme dmsetup crontab chpasswd usermod useradd userdel " +
    "loginctl rtcwake kexec tune2fs resize2fs badblocks ip ifconfig date hwclock timedatectl setenforce docker podman"
  ).split(" "),
);

export function isSensitive(name: string): boolean {
  return (
    SENSITIVE.has(name) ||
    name in FILE_COMMANDS ||
    name === "rsync" ||
    name === "tar" ||
    name === "find" ||
    /^mkfs(?:\.|$)|^mke2fs$/.test(name)
  );
}
