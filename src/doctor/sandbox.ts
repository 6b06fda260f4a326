import { loadConfig } from "../config/load.ts";
import type { SandboxCapabilities } from "../core/launch.ts";
import { sandboxTier } from "../executor/native/probe.ts";
import { commandUser } from "../sandbox/user.ts";
import { type Finding, ok, warn } from "./finding.ts";

const NAME = "sandbox";
/** The ABI from which signals and abstract sockets are kept apart, too. */
const WHOLE_ABI = 6;

const GET_LANDLOCK =
  "Use a kernel with CONFIG_SECURITY_LANDLOCK, and `landlock` in `lsm=` on its command line; in a container, a seccomp profile that lets Landlock's calls through.";
const GET_NAMESPACES =
  "Let user namespaces be made: `sysctl kernel.unprivileged_userns_clone=1` (Debian) or `kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu); in a container, a seccomp profile that lets `unshare` and `mount` through.";

/** How far this machine gets with confining commands, and how to get further. */
export function checkSandbox(): Finding {
  return sandboxFinding(sandboxTier());
}

export function sandboxFinding(tier: SandboxCapabilities): Finding {
  const { landlock, mounts, isolation, networkNamespace, seccomp } = tier;
  if (landlock === 0 && mounts === "none") {
    return warn(NAME, "nothing can confine commands here, so what nobody can analyse is asked about", GET_LANDLOCK);
  }
  const has = [
    ...(landlock > 0 ? [`Landlock ABI ${landlock}`] : []),
    ...(mounts === "none" ? [] : [mounts === "root" ? "mounts as root" : "mounts through user namespaces"]),
    ...(seccomp ? ["seccomp"] : []),
    ...(isolation ? ["isolation"] : []),
    ...(networkNamespace ? ["a network of its own"] : []),
  ].join(", ");
  if (landlock === 0) return warn(NAME, `${has}; no Landlock, so mounts alone keep files`, GET_LANDLOCK);
  if (mounts === "none") {
    return warn(
      NAME,
      `${has}; protected spots of a workspace and files' owners and modes are not kept`,
      GET_NAMESPACES,
    );
  }
  if (!seccomp) return warn(NAME, `${has}; system calls are not filtered`, "Use a kernel with CONFIG_SECCOMP_FILTER.");
  if (landlock < WHOLE_ABI) {
    const fix = "Linux 6.12 brings Landlock ABI 6.";
    return warn(NAME, `${has}; signals and abstract sockets are not kept apart`, fix);
  }
  if (!isolation) return warn(NAME, `${has}; the profile \`isolated\` cannot be had whole`, GET_NAMESPACES);
  if (!networkNamespace) return warn(NAME, `${has}; with the network off there is no loopback`, GET_NAMESPACES);
  return ok(NAME, `all of it: ${has}`);
}

/** Least privilege: root's commands are better somebody else's. */
export function checkCommandUser(): Finding {
  const name = "run as";
  const { user } = loadConfig({ workspace: process.cwd() }).settings;
  const other = commandUser(user);
  if (other) return ok(name, `${other.name} (uid ${other.ids.uid})`);
  if (process.getuid?.() !== 0) return ok(name, `you (uid ${process.getuid?.()})`);
  const fix = "Name an ordinary user as `user` in the operator's sallyport.json, and give them the workspace.";
  return warn(name, "root, with few capabilities left", fix);
}
