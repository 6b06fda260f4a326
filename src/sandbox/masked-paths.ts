import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { nearestReal } from "./workspace.ts";

/**
 * Where those listen who run what they are told to, or act with a person's powers: service managers and message buses,
 * multiplexers, screens, key agents. Whoever may connect there is out of the sandbox (promise 7). Reading is not the
 * matter, so they need no rules, which would have to follow every change in folders as busy as /tmp.
 */
const LISTENERS = [
  "/run/docker.sock",
  "/run/containerd",
  "/run/podman",
  "/run/crio",
  "/run/systemd/private",
  "/run/systemd/io.systemd.ManagedOOM",
  "/run/dbus",
  "/run/libvirt",
  "/run/snapd.socket",
  "/run/snapd-snap.socket",
  "/run/udev/control",
  "/run/screen",
  "/run/buildkit",
  "/run/lxd.socket",
  "/var/lib/lxd",
  "/var/snap/lxd",
  "/var/lib/incus",
  "/tmp/.X11-unix",
  "/tmp/.ICE-unix",
];

/** Everybody's secrets. They are always there, so that hiding them is enough. */
const SECRETS = ["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers.d"];

/** By where they are: the kernel puts something over a place, not over a link to it. */
export function maskedPaths(
  env: Readonly<Record<string, string | undefined>>,
  uid = process.getuid?.() ?? 0,
): string[] {
  const named = [...LISTENERS, ...SECRETS, `/run/user/${uid}`, `/tmp/tmux-${uid}`, `/tmp/screen-${uid}`];
  for (const variable of ["XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "GPG_AGENT_INFO", "TMUX"]) {
    const socket = env[variable]?.split(/[:,]/)[0];
    if (socket && isAbsolute(socket)) named.push(socket);
  }
  return [...new Set(named.filter(isAbsolute).map(realPath))].filter((path) => path.lastIndexOf("/") > 0).sort();
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

/** Whoever reads these can act as the person they belong to. */
const CREDENTIALS =
  words(`.ssh .gnupg .aws .azure .config/gcloud .config/doctl .kube .netrc .authinfo .authinfo.gpg .npmrc
  .yarnrc.yml .pypirc .git-credentials .config/git/credentials .config/gh .config/glab-cli .config/hub .docker
  .config/containers/auth.json .password-store .vault-token .terraform.d/credentials.tfrc.json .cargo/credentials
  .cargo/credentials.toml .gem/credentials .config/op .config/rclone .s3cfg .boto .pgpass .my.cnf .local/share/keyrings
  .local/share/kwalletd .claude/.credentials.json .codex/auth.json .gemini/oauth_creds.json`);

/** Passwords are typed in the wrong place every day. */
const HISTORIES = words(`.bash_history .zsh_history .zhistory .histfile .sh_history .ksh_history .history
  .local/share/fish/fish_history .python_history .node_repl_history .irb_history .psql_history .mysql_history
  .sqlite_history .rediscli_history .lesshst`);

/** Cookies are as good as passwords. */
const BROWSERS =
  words(`.mozilla .librewolf .thunderbird .config/google-chrome .config/google-chrome-beta .config/chromium
  .config/BraveSoftware .config/microsoft-edge .config/vivaldi .config/opera snap/firefox snap/chromium
  .var/app/org.mozilla.firefox .var/app/com.google.Chrome .var/app/org.chromium.Chromium`);

/** What of a home no confined command reads, wherever that home is. */
export const DENIED_IN_HOME: readonly string[] = [...CREDENTIALS, ...HISTORIES, ...BROWSERS];

interface DenyInput {
  /** Of the gateway and, where commands run as another, of that user. */
  homes: readonly string[];
  /** Sallyport's own folders: the state and the operator's configuration (promise 7). */
  keepOut: readonly string[];
  /** What the operator and the workspace add. */
  added: readonly string[];
}

/** Everything that is denied, by where it is or would be. Once per configuration: it follows links. */
export function deniedPaths({ homes, keepOut, added }: DenyInput): string[] {
  const named = [
    ...keepOut,
    ...homes
      .filter((home) => home.startsWith("/") && home !== "/")
      .flatMap((home) => DENIED_IN_HOME.map((name) => join(home, name))),
    ...added,
  ];
  const folders = new Map<string, string>();
  return withoutNested([...new Set(named.flatMap((path) => realPaths(path, folders)))]);
}

/** The name itself, and where it leads if it is a link: taking away one alone would leave the other. */
function realPaths(path: string, folders: Map<string, string>): string[] {
  const name = join(realFolder(dirname(path), folders), basename(path));
  try {
    if (isMissing(path)) return [name];
    const target = realpathSync.native(path);
    return target === name ? [name] : [name, target];
  } catch {
    return [name];
  }
}

/** Where a folder is or would be. `known`: those that were looked for before. */
function realFolder(folder: string, known: Map<string, string>): string {
  let real = known.get(folder);
  if (real !== undefined) return real;
  if (isMissing(folder)) real = join(realFolder(dirname(folder), known), basename(folder));
  else {
    const found = nearestReal(folder);
    real = join(found.real, ...found.missing);
  }
  known.set(folder, real);
  return real;
}

/** Most are, and a look takes less than a failed attempt to follow. */
function isMissing(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false; // not to be looked at
  }
}

/** What lies in another denied folder needs no mention of its own. */
function withoutNested(paths: string[]): string[] {
  const all = new Set(paths);
  return paths.filter((path) => {
    for (let above = dirname(path); above !== "/"; above = dirname(above)) if (all.has(above)) return false;
    return true;
  });
}
