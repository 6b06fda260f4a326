/** What keeps a command in bounds, as text. */

import { shownLine } from "../text/visible.ts";
import { networkText } from "./access.ts";
import type { SandboxPlan } from "./sandbox.ts";
import type { SandboxSnapshot } from "./snapshot.ts";

/** `workspace-write`, `isolated, network off`: what `inspect` and `list` show. */
export function sandboxLabel({ profile, network }: Pick<SandboxSnapshot, "profile" | "network">): string {
  return network === "on" ? profile : `${profile}, ${networkText(network)}`;
}

/** As a person who is asked reads it, and what their yes is bound to (promise 2). */
export function confinementText({ access, spec, unavailable }: SandboxPlan): string {
  const { profile, network } = access;
  const user = spec?.user ? `as user ${spec.user.uid}` : "with your own rights";
  if (unavailable) return `none, since nothing here can confine it: it runs ${user}`;
  if (profile === "off") {
    const net = network === "on" ? "" : `; ${networkText(network)}`;
    return `none: it runs ${user}${net}`;
  }
  const places = [...access.writable, ...(spec?.temporary ? ["its temporary folder"] : [])];
  const writes = places.length === 0 ? "writes nothing" : `writes only to ${places.join(", ")}`;
  return [`${profile}: it ${writes}`, networkText(network), ...(spec?.user ? [`runs ${user}`] : [])].join("; ");
}

/** By the names the keeper gives them. */
const UNSUPPORTED: Record<string, string> = {
  landlock: "this kernel has no Landlock, so mounts alone keep files",
  truncate: "files outside can be cut short (needs Landlock ABI 3)",
  "ioctl-dev": "devices can be controlled (needs Landlock ABI 5)",
  "scope-abstract": "abstract sockets of others can be reached (needs Landlock ABI 6)",
  "scope-signals": "other processes of the user can be signalled (needs Landlock ABI 6)",
  ports: "TCP ports are not limited (needs Landlock ABI 4)",
  udp: "UDP is let through for names, to any port",
  mounts: "no mount namespace, so protected paths in the workspace can be written and what is denied within it read",
  metadata: "no mount namespace, so owners, permissions and times of files outside can be changed",
  "denied-later": "a denied path within the workspace does not exist yet and is not held back if it appears",
  namespaces: "not all namespaces could be had",
  "net-namespace": "no network namespace, so there is no loopback either",
  seccomp: "system calls are not filtered",
};

/** One line, however many there are. */
export function unsupportedWarning(gaps: readonly string[]): string {
  const parts = gaps.map((gap) => UNSUPPORTED[gap] ?? gap);
  return `sandbox: not all of it holds here: ${parts.join("; ")}. \`sallyport doctor\` says how to get there.`;
}

export function unavailableWarning(): string {
  return "sandbox: nothing here can confine the command, so it ran with your own rights. `sallyport doctor` says why.";
}

/** Made while the command ran: nothing could be put over what was not there. */
export function newProtectedPathsWarning(paths: readonly string[]): string {
  const shown = paths.slice(0, 5).map(shownLine).join(", ");
  return `sandbox: ${shown} came to be while it ran, and may run something later: look at it before you use it there.`;
}

export function rootWarning(): string {
  return "sandbox: commands run as root; name an ordinary user in the operator's configuration (`user`, docs/sandbox.md).";
}
