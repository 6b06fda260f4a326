import { isAbsolute, resolve } from "node:path";
import { SYSTEM_CREDENTIALS } from "./credential-paths.ts";
import { withoutNested } from "./denied-paths.ts";
import { LinkResolver } from "./paths/links.ts";
import { isWithin } from "./workspace.ts";

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

/**
 * Returns the paths to mask, with links resolved, because a mount covers the target and not the link. `uids` lists the
 * users that the gateway and its commands run as.
 */
export function maskedPaths(env: Readonly<Record<string, string | undefined>>, uids: readonly number[]): string[] {
  const named = [...LISTENERS, ...SYSTEM_CREDENTIALS.map(({ path }) => path)];
  for (const uid of uids) named.push(`/tmp/tmux-${uid}`, `/tmp/screen-${uid}`);
  for (const variable of ["XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "GPG_AGENT_INFO", "TMUX"]) {
    const socket = env[variable]?.split(/[:,]/)[0];
    if (socket && isAbsolute(socket)) named.push(socket);
  }
  const resolver = new LinkResolver();
  const real = named.filter(isAbsolute).map((path) => resolver.resolve(resolve(path)).real);
  const paths = [...new Set(real)].filter((path) => path.lastIndexOf("/") > 0);
  return withoutNested(paths).sort();
}

/**
 * Sockets of services that only answer questions about names: hosts, users and groups. Libraries connect to them in
 * almost every program. A service that acts for its clients does not belong here (invariant 7).
 */
const NAME_SERVICES = [
  "/run/systemd/resolve/io.systemd.Resolve",
  "/run/systemd/userdb",
  "/run/nscd/socket",
  "/var/lib/sss/pipes/nss",
];

/** The sockets that sandboxed commands can connect to in addition to those in writable paths, with links resolved. */
export interface AllowedSockets {
  builtIn: readonly string[];
  configured: readonly string[];
}

/** Resolves the configured sockets. Sockets of Sallyport itself, in `keepOut`, are left out. */
export function allowedSockets(configured: readonly string[], keepOut: readonly string[]): AllowedSockets {
  const resolver = new LinkResolver();
  const real = (path: string) => resolver.resolve(resolve(path)).real;
  const own = keepOut.map(real);
  const sockets = [...new Set(configured.map(real))];
  return {
    builtIn: [...new Set(NAME_SERVICES.map(real))],
    configured: sockets.filter((path) => !own.some((folder) => isWithin(path, folder))),
  };
}
