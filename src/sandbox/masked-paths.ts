import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { LinkResolver } from "./links.ts";

/**
 * Folders with the sockets of programs that run commands or act with the user's privileges for their clients: container
 * daemons, service managers, message buses, terminal multiplexers, X servers. A command that connects to one can leave
 * the sandbox (invariant 7). Whole folders are masked, because a mask on a socket disappears when the program creates
 * its socket again, and cannot cover one that does not exist yet. Single sockets are listed only where their folder is
 * also used for other purposes. Reading these paths is harmless, so they are masked by mounts only: Landlock rules would
 * have to follow every change in busy folders such as /run.
 */
const LISTENERS = `/run/user /run/dbus /run/screen /run/uscreens /run/tmux /run/containerd /run/docker /run/podman
  /run/crio /run/buildkit /run/k3s /run/libvirt /run/lxd /run/incus /var/lib/lxd /var/snap/lxd /var/lib/incus /run/pcscd
  /run/docker.sock /run/snapd.socket /run/snapd-snap.socket /run/lxd.socket /run/udev/control /run/systemd/private
  /run/systemd/io.systemd.ManagedOOM /tmp/.X11-unix /tmp/.ICE-unix`.split(/\s+/);

/** System-wide secrets, with the names that the programs which replace them use in the meantime. */
const SYSTEM_SECRETS = `/etc/shadow /etc/shadow- /etc/shadow+ /etc/gshadow /etc/gshadow- /etc/gshadow+ /etc/sudoers
  /etc/sudoers.d`.split(/\s+/);

/**
 * Returns the paths to mask, with links resolved, because a mount covers the target and not the link. `uids` lists the
 * users that the gateway and its commands run as.
 */
export function maskedPaths(env: Readonly<Record<string, string | undefined>>, uids: readonly number[]): string[] {
  const named = [...LISTENERS, ...SYSTEM_SECRETS];
  for (const uid of uids) named.push(`/tmp/tmux-${uid}`, `/tmp/screen-${uid}`);
  for (const variable of ["XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "GPG_AGENT_INFO", "TMUX"]) {
    const socket = env[variable]?.split(/[:,]/)[0];
    if (socket && isAbsolute(socket)) named.push(socket);
  }
  const paths = [...new Set(named.filter(isAbsolute).map(realPath))].filter((path) => path.lastIndexOf("/") > 0);
  return withoutNested(paths).sort();
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    try {
      return `${realpathSync.native(dirname(path))}/${path.slice(path.lastIndexOf("/") + 1)}`;
    } catch {
      return path;
    }
  }
}

const words = (text: string): string[] => text.split(/\s+/).filter(Boolean);

/** Credentials with which a reader can act as the user. */
const CREDENTIALS =
  words(`.ssh .gnupg .aws .azure .config/gcloud .config/doctl .kube .netrc .authinfo .authinfo.gpg .npmrc
  .yarnrc.yml .pypirc .git-credentials .config/git/credentials .config/gh .config/glab-cli .config/hub .docker
  .config/containers/auth.json .password-store .vault-token .terraform.d/credentials.tfrc.json .cargo/credentials
  .cargo/credentials.toml .gem/credentials .config/op .config/rclone .s3cfg .boto .pgpass .my.cnf .local/share/keyrings
  .local/share/kwalletd .claude/.credentials.json .codex/auth.json .gemini/oauth_creds.json`);

/** Histories, which may contain passwords that were typed at the wrong prompt. */
const HISTORIES = words(`.bash_history .zsh_history .zhistory .histfile .sh_history .ksh_history .history
  .local/share/fish/fish_history .python_history .node_repl_history .irb_history .psql_history .mysql_history
  .sqlite_history .rediscli_history .lesshst`);

/** Browser profiles, whose cookies grant the same access as passwords. */
const BROWSERS =
  words(`.mozilla .librewolf .thunderbird .config/google-chrome .config/google-chrome-beta .config/chromium
  .config/BraveSoftware .config/microsoft-edge .config/vivaldi .config/opera snap/firefox snap/chromium
  .var/app/org.mozilla.firefox .var/app/com.google.Chrome .var/app/org.chromium.Chromium`);

/** Paths in a home directory that are denied to all sandboxed commands. */
export const DENIED_IN_HOME: readonly string[] = [...CREDENTIALS, ...HISTORIES, ...BROWSERS];

interface DenyInput {
  /** The home directories of the gateway's user and of the user that commands run as. */
  homes: readonly string[];
  /** The state folder and the operator's configuration folder (invariant 7). */
  keepOut: readonly string[];
  /** The paths in `denied` of the operator's and the workspace's configuration. */
  added: readonly string[];
  /**
   * Whether commands run as root, whom file permissions do not keep from the system's secrets. A mask disappears when
   * its file is replaced, as `useradd` does; a file that is denied stays unreadable.
   */
  root: boolean;
}

interface DeniedPaths {
  /** The denied paths, resolved as far as they exist. Of a link, both the link and its target are denied. */
  denied: string[];
  /** The links that lead to them. A command that could replace one would choose what the path refers to. */
  links: string[];
}

/** Returns all denied paths. */
export function deniedPaths({ homes, keepOut, added, root }: DenyInput): DeniedPaths {
  const named = [
    ...keepOut,
    ...homes
      .filter((home) => home.startsWith("/") && home !== "/")
      .flatMap((home) => DENIED_IN_HOME.map((name) => join(home, name))),
    ...(root ? SYSTEM_SECRETS : []),
    ...added,
  ];
  const resolver = new LinkResolver();
  const denied = new Set<string>();
  const links = new Set<string>();
  for (const path of named) {
    const found = resolver.resolve(path);
    denied.add(join(resolver.resolve(dirname(path)).real, basename(path))).add(found.real);
    for (const link of found.links) links.add(link);
  }
  return { denied: withoutNested([...denied]), links: [...links] };
}

/** Removes paths that are inside another path of the list. */
function withoutNested(paths: string[]): string[] {
  const all = new Set(paths);
  return paths.filter((path) => {
    for (let above = dirname(path); above !== "/"; above = dirname(above)) if (all.has(above)) return false;
    return true;
  });
}
