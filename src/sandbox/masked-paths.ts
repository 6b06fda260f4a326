import { realpathSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";

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
export function hiddenPlaces(
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
