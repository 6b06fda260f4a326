import type { UnsupportedFeature } from "../core/sandbox-level.ts";

/** What it means that a feature is not supported. */
interface NotEnforced {
  /** The promise that is not kept: part of a list after "Not enforced:". */
  what: string;
  /** What enforces it. */
  needs: string;
}

/** The promises that a machine may not keep, by their names. Every surface takes its words from here. */
export const NOT_ENFORCED: Record<UnsupportedFeature, NotEnforced> = {
  mounts: {
    what: "protected paths, the private /tmp, denied paths in writable folders, masked system files",
    needs: "a mount namespace",
  },
  metadata: {
    what: "the protection of modes, owners and times of files outside the writable paths",
    needs: "a mount namespace",
  },
  ipc: {
    what: "separate System V IPC objects (shared memory, semaphores, message queues)",
    needs: "an IPC namespace",
  },
  landlock: {
    what: "denied paths that are created while a command runs, device files",
    needs: "Landlock (Linux 5.13)",
  },
  truncate: {
    what: "the protection of files outside the writable paths against truncation",
    needs: "a mount namespace, or Landlock ABI 3 (Linux 6.2)",
  },
  "scope-signals": {
    what: "the restriction of signals to the command's own processes",
    needs: "a PID namespace, Landlock ABI 6 (Linux 6.12), or a broker (Linux 5.5)",
  },
  "scope-abstract": {
    what: "the restriction of abstract Unix sockets",
    needs: "Landlock ABI 6 (Linux 6.12), or seccomp filters",
  },
  ports: { what: "the list of TCP ports", needs: "Landlock ABI 4 (Linux 6.7)" },
  "denied-later": {
    what: "a denied path in a writable folder that does not exist yet",
    needs: "the path to exist before the command starts",
  },
  namespaces: {
    what: "the separate namespaces of `isolated`",
    needs: "user, PID, IPC and UTS namespaces",
  },
  seccomp: { what: "the restriction of system calls", needs: "seccomp filters (CONFIG_SECCOMP_FILTER)" },
  "mask-monitor": {
    what: "the detection of masks that break while a command runs",
    needs: "free inotify instances and watches (`fs.inotify.max_user_instances`)",
  },
  processes: {
    what: "the protection of files that other processes of the user have access to, through /proc",
    needs: "Landlock (Linux 5.13), or a PID namespace",
  },
  network: { what: "the network mode", needs: "the native executor" },
  user: { what: "the user of commands", needs: "the native executor" },
};

/** Returns what is not enforced, as one clause. A name that only another version knows is shown as it is. */
export function notEnforcedText(features: readonly string[]): string {
  const known: Record<string, NotEnforced | undefined> = NOT_ENFORCED;
  return features.map((name) => known[name]?.what ?? name).join("; ");
}

/** Returns the same with what enforces each part. */
export function notEnforcedDetails(features: readonly UnsupportedFeature[]): string {
  return features.map((name) => `${NOT_ENFORCED[name].what} (needs ${NOT_ENFORCED[name].needs})`).join("; ");
}
