import { shownLine } from "../text/visible.ts";
import { networkText } from "./access.ts";
import type { SandboxPlan } from "./sandbox.ts";
import type { SandboxSnapshot } from "./snapshot.ts";

/** Returns a short name of a sandbox, such as `workspace-write` or `isolated, network off`. */
export function sandboxLabel({ profile, network }: Pick<SandboxSnapshot, "profile" | "network">): string {
  return network === "on" ? profile : `${profile}, ${networkText(network)}`;
}

/** Describes a sandbox to the approver. The approval is bound to this text (invariant 2). */
export function confinementText({ access, spec, unavailable }: SandboxPlan): string {
  const { profile, network } = access;
  const user = spec?.user ? `as user ${spec.user.uid}` : "with your privileges";
  if (unavailable) return `none, because this machine cannot sandbox commands: runs ${user}`;
  if (profile === "off") {
    const net = network === "on" ? "" : `; ${networkText(network)}`;
    return `none: runs ${user}${net}`;
  }
  const paths = [...access.writable, ...(spec?.temporary ? ["its temporary directory"] : [])];
  const writes = paths.length === 0 ? "cannot write files" : `can write only to ${paths.join(", ")}`;
  return [`${profile}: ${writes}`, networkText(network), ...(spec?.user ? [`runs ${user}`] : [])].join("; ");
}

/** Descriptions of unsupported features, by the keeper's names for them. */
const UNSUPPORTED: Record<string, string> = {
  landlock: "without Landlock, only mounts and permissions protect files",
  truncate: "truncating files outside the writable paths is not prevented (requires Landlock ABI 3)",
  "ioctl-dev": "ioctl calls on devices are not restricted (requires Landlock ABI 5)",
  "scope-abstract": "connections to abstract Unix sockets are not restricted (requires Landlock ABI 6)",
  "scope-signals": "signals to other processes of the user are not restricted (requires Landlock ABI 6)",
  ports: "TCP ports are not restricted (requires Landlock ABI 4)",
  udp: "UDP, which DNS needs, is not restricted to port 53",
  mounts: "without a mount namespace, protected and denied paths in the workspace are not protected",
  metadata: "without a mount namespace, changing the owner, mode and times of other files is not prevented",
  "denied-later": "a denied path in the workspace does not exist yet and is not protected if the command creates it",
  namespaces: "some namespaces could not be created",
  "net-namespace": "without a network namespace, there is no loopback interface",
  seccomp: "system calls are not filtered",
};

/** Returns one warning for all sandbox features that are not supported. */
export function unsupportedWarning(gaps: readonly string[]): string {
  const parts = gaps.map((gap) => UNSUPPORTED[gap] ?? gap);
  return `sandbox: not fully supported on this machine: ${parts.join("; ")} (see \`sallyport doctor\`)`;
}

export function unavailableWarning(): string {
  return "sandbox: not supported on this machine; the command ran with your privileges (see `sallyport doctor`)";
}

/**
 * Returns the warning for protected paths created during the run: a path that does not exist cannot be mounted over.
 */
export function newProtectedPathsWarning(paths: readonly string[]): string {
  const shown = paths.slice(0, 5).map(shownLine).join(", ");
  return `sandbox: the command created ${shown}, which other programs may execute outside the sandbox; inspect it before use`;
}

export function rootWarning(): string {
  return "sandbox: commands run as root; set `user` in the operator's configuration to an unprivileged user (see docs/sandbox.md)";
}
