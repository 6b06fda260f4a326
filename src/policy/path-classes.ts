/** Classifies paths: those that must not be deleted or written, and those that agents can use freely. */
import type { Target } from "../core/facts.ts";
import { isInside } from "../shell/path.ts";
import type { RuleContext } from "./rule.ts";

const SYSTEM = [
  "/bin",
  "/boot",
  "/etc",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/proc",
  "/root",
  "/sbin",
  "/sys",
  "/usr",
  "/var",
  "/opt",
  "/srv",
  "/run",
  "/nix",
  "/snap",
  "/System",
  "/Library",
  "/Applications",
  "/private/etc",
  "/private/var",
  "/efi",
];

/** Folders whose direct entries must not be deleted as a whole. */
const VITAL_PARENTS = new Set([
  "/",
  "/home",
  "/Users",
  "/usr",
  "/var",
  "/boot",
  "/lib",
  "/System",
  "/Library",
  "/usr/lib",
  "/usr/local",
  "/var/lib",
  "/private",
  "/private/var",
]);

const SCRATCH = [
  "/tmp",
  "/var/tmp",
  "/private/tmp",
  "/private/var/tmp",
  "/var/folders",
  "/private/var/folders",
  "/dev/shm",
  "/run/user",
];

const PERSONAL =
  /^(?:Documents|Desktop|Downloads|Pictures|Music|Videos|Movies|Public|Templates|Library|\.config|\.local|\.ssh|\.gnupg|\.aws|\.kube|\.mozilla|\.password-store)$/;

/** Paths in a home directory that hold credentials, or that run when a shell, session or tool starts. */
const PERSONAL_FILES =
  /^(?:\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|mkshrc|cshrc|tcshrc|login|logout|inputrc|xinitrc|xprofile|xsession|xsessionrc|pam_environment|netrc|npmrc|yarnrc|yarnrc\.yml|pypirc|gitconfig|git-credentials|gemrc|curlrc|wgetrc|vimrc|exrc|emacs|tmux\.conf|screenrc|pgpass|my\.cnf|vault-token|forward|rhosts|shosts|hushlogin|crontab|envrc|condarc|editrc|lesskey|gdbinit|irbrc|pythonrc)|\.(?:ssh|gnupg|aws|azure|kube|docker|gcloud|password-store|emacs\.d|vim|oh-my-zsh|bashrc\.d|bash_completion\.d|profile\.d|zsh|subversion)(?:\/.*)?|\.config\/(?:git|gh|gcloud|systemd|autostart|fish|nushell|environment\.d|sallyport|rclone|op|containers|nvim|pip|bash|zsh|plasma-workspace|hub|helm|containers)(?:\/.*)?|\.local\/(?:state\/sallyport|share\/(?:keyrings|systemd|autostart|applications|bash-completion))(?:\/.*)?|\.cargo\/(?:credentials(?:\.toml)?|config(?:\.toml)?|env)|\.m2\/settings\.xml|\.gradle\/(?:gradle\.properties|init\.gradle)|Library\/(?:LaunchAgents|Keychains)(?:\/.*)?)$/;

/** Returns the folder that a glob lists, and whether the pattern matches only some of its entries (`narrow`). */
function reach(target: Target): { path: string; contents: boolean; narrow: boolean } {
  if (!target.glob) return { path: target.path, contents: false, narrow: false };
  const parts = target.path.split("/");
  const at = parts.findIndex((part) => /[*?[]|[@!+]\(/.test(part));
  if (at < 0) return { path: target.path, contents: false, narrow: false };
  const folder = parts.slice(0, at).join("/") || "/";
  const rest = parts.slice(at);
  // `*` matches every entry of the folder; `*.o`, `build*` and `*/x` match only some of them.
  const narrow =
    rest.length > 1 ||
    !/^(?:\*+|\.\*|\?\*|\*\.\*|\.\[!?\^?[^\]]*\]\*?|\.\?\?\*|\[[^\]]*\]\*|\.\.?\?\*|\?+)$/.test(rest[0] ?? "");
  return { path: folder, contents: true, narrow };
}

/**
 * Reports whether deleting the target would destroy the system or the user's work: the root directory, a home
 * directory, a system folder, or a folder that contains the workspace.
 */
export function isVital(target: Target, scene: RuleContext): boolean {
  const { path, contents, narrow } = reach(target);
  if (path === "/") return true;
  if (isInside(path, scene.workspace) && path !== scene.home) return false;
  if (contents && narrow) return VITAL_PARENTS.has(path) && path !== scene.home;
  if (SCRATCH.includes(path)) return !contents;
  const parent = path.slice(0, path.lastIndexOf("/")) || "/";
  if (path === scene.home || VITAL_PARENTS.has(path)) return true;
  if (VITAL_PARENTS.has(parent) && !(contents && SCRATCH.some((folder) => isInside(path, folder)))) {
    return !isInside(path, scene.home) || path === scene.home;
  }
  if (isScratch(path)) return false;
  return isInside(scene.workspace, path) || isInside(scene.home, path);
}

function isScratch(path: string): boolean {
  return SCRATCH.some((folder) => path.startsWith(`${folder}/`));
}

/** Reports whether agents can use the path freely: it is in the workspace or in a temporary folder. */
export function isFree(path: string, scene: RuleContext): boolean {
  return isInside(path, scene.workspace) || isScratch(path);
}

/** Reports whether the path belongs to the system or another user, holds credentials, or runs at startup. */
export function isProtected(path: string, scene: RuleContext): boolean {
  if (path === "/") return true;
  const own = isInside(path, scene.home) && path !== scene.home ? path.slice(scene.home.length + 1) : null;
  if (own !== null && PERSONAL_FILES.test(own)) return true;
  if (isInside(path, scene.workspace) || isScratch(path) || SCRATCH.includes(path)) return false;
  if (own !== null) return false;
  if (/^\/proc\/(?:self|thread-self|\d+)\/(?:oom_score_adj|comm|fd\/|coredump_filter)/.test(path)) return false;
  if (path === scene.home) return false;
  return (
    SYSTEM.some((folder) => isInside(path, folder)) || /^\/(?:home|Users)\/[^/]+(?:\/|$)/.test(path) || path === "/home"
  );
}

/** Reports whether the target is a folder of personal files or settings directly in the home directory. */
export function isPersonal(target: Target, scene: RuleContext): boolean {
  const { path } = reach(target);
  if (!isInside(path, scene.home) || path === scene.home || isInside(path, scene.workspace)) return false;
  return PERSONAL.test(path.slice(scene.home.length + 1));
}

const HARMLESS_DEVICE =
  /^\/dev\/(?:null|zero|full|random|urandom|tty|stdin|stdout|stderr|ptmx|fd(?:\/.*)?|pts(?:\/.*)?|shm(?:\/.*)?|mqueue(?:\/.*)?|tty[A-Za-z]*\d*|tcp\/.*|udp\/.*)$/;

/** Reports whether the path is a device to which writing can do harm, such as a disk or memory. */
export function isDevice(path: string): boolean {
  return path.startsWith("/dev/") && !HARMLESS_DEVICE.test(path);
}

export function isPseudoNetwork(path: string): boolean {
  return /^\/dev\/(?:tcp|udp)(?:\/|$)/.test(path);
}
