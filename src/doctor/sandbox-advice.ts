import { release } from "node:os";
import type { SandboxCapabilities } from "../core/launch.ts";
import type { UnsupportedFeature } from "../core/sandbox-level.ts";
import { isRestricted } from "./apparmor.ts";
import { existsOn, type Machine, readMachineFile } from "./finding.ts";

/** The first Landlock ABI that restricts everything that the sandbox needs, including signals and abstract sockets. */
export const FULL_ABI = 6;

/** Promises that a newer Landlock ABI keeps. */
const NEWER: ReadonlySet<UnsupportedFeature> = new Set(["truncate", "ports", "scope-signals", "scope-abstract"]);

/** Reports whether something is not enforced because of an old Landlock ABI, and no other mechanism enforces it. */
export function needsNewerLandlock({ landlock, unsupported: { shared, isolated } }: SandboxCapabilities): boolean {
  const lists = [shared, isolated].flatMap((modes) => Object.values(modes));
  return landlock < FULL_ABI && lists.some((list) => list.some((feature) => NEWER.has(feature)));
}

/** Returns how to enable the mechanisms of the sandbox that do not work on this machine. */
export function adviceFor(machine: Machine, capabilities: SandboxCapabilities): string {
  const { landlock, mounts, isolation, networkNamespace, seccomp, socketBroker } = capabilities;
  const parts = [
    ...(landlock === 0 ? [landlockAdvice(machine)] : []),
    ...(mounts === "none" || !isolation || !networkNamespace ? [namespaceAdvice(machine)] : []),
    ...(seccomp ? [] : ["Use a kernel with CONFIG_SECCOMP_FILTER."]),
    ...(seccomp && !socketBroker ? [brokerAdvice(machine)] : []),
    ...(landlock > 0 && needsNewerLandlock(capabilities) ? [NEWER_KERNEL] : []),
  ];
  return parts.join(" ");
}

const NEWER_KERNEL = `Upgrade to Linux 6.12 or newer, which has Landlock ABI ${FULL_ABI}.`;

function landlockAdvice(machine: Machine): string {
  const active = readMachineFile(machine, "/sys/kernel/security/lsm");
  const [major = 0, minor = 0] = release().split(".").map(Number);
  if (major < 5 || (major === 5 && minor < 13)) return "Landlock: upgrade to Linux 5.13 or newer.";
  if (active !== "" && !active.split(",").includes("landlock")) {
    return `Landlock: boot the kernel with \`lsm=landlock,${active}\`.`;
  }
  if (isContainer(machine)) {
    return "Landlock: use a seccomp profile that allows the Landlock system calls, such as Docker's default since version 23.";
  }
  return "Landlock: use a kernel with CONFIG_SECURITY_LANDLOCK and with `landlock` in its `lsm=` parameter.";
}

/** The settings that forbid user namespaces, with the value that allows them. The first one that applies is named. */
const SETTINGS: readonly { path: string; allows: string; appliesToRoot: boolean }[] = [
  {
    path: "/proc/sys/kernel/unprivileged_userns_clone",
    allows: "kernel.unprivileged_userns_clone=1",
    appliesToRoot: false,
  },
  { path: "/proc/sys/user/max_user_namespaces", allows: "user.max_user_namespaces=15000", appliesToRoot: true },
];

function namespaceAdvice(machine: Machine): string {
  const isRoot = process.getuid?.() === 0;
  const setting = SETTINGS.find(
    ({ path, appliesToRoot }) => (!isRoot || appliesToRoot) && readMachineFile(machine, path) === "0",
  );
  if (!isRoot && isRestricted(machine)) {
    return "Namespaces: AppArmor forbids them; `sallyport doctor --fix` installs a profile for the keeper.";
  }
  if (setting) {
    return `Namespaces: allow user namespaces with \`${isRoot ? "" : "sudo "}sysctl -w ${setting.allows}\`, and in a file in /etc/sysctl.d to keep the setting.`;
  }
  if (isContainer(machine)) {
    return "Namespaces: start the container with `--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined` (docs/guides/run-in-containers.md).";
  }
  if (!existsOn(machine, "/proc/self/ns/user")) return "Namespaces: use a kernel with CONFIG_USER_NS.";
  return "Namespaces: allow `unshare` and `mount` for this process; a seccomp filter or a security module forbids them.";
}

/** Without a broker, commands have no Unix sockets. */
function brokerAdvice(machine: Machine): string {
  const [major = 0, minor = 0] = release().split(".").map(Number);
  if (major < 5 || (major === 5 && minor < 9)) return "Socket broker: upgrade to Linux 5.9 or newer.";
  if (Number(readMachineFile(machine, "/proc/sys/kernel/yama/ptrace_scope")) > 1) {
    return "Socket broker: allow it to inspect commands with `sudo sysctl -w kernel.yama.ptrace_scope=1`.";
  }
  return "Socket broker: allow `seccomp`, `pidfd_getfd` and `process_vm_readv` for this process; a seccomp filter or a security module forbids them.";
}

/** Reports whether this process runs in a container. */
export function isContainer(machine: Machine): boolean {
  if (existsOn(machine, "/.dockerenv") || existsOn(machine, "/run/.containerenv")) return true;
  const groups = readMachineFile(machine, "/proc/1/cgroup");
  return /docker|kubepods|containerd|libpod|lxc/.test(groups);
}
