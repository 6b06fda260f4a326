import type { UnsupportedFeature } from "../core/sandbox-level.ts";

/** What it means that a feature is not supported. */
interface NotEnforced {
  /** What a command can do, or what is not prevented: part of a list after "Not enforced:". */
  what: string;
  /** What enforces it. */
  needs: string;
}

/** The promises that a machine may not keep, by their names. Every surface takes its words from here. */
export const NOT_ENFORCED: Record<UnsupportedFeature, NotEnforced> = {
  mounts: {
    what: "protected paths, denied paths in writable folders, and masked system files can be accessed",
    needs: "a mount namespace",
  },
  metadata: {
    what: "the mode, owner and times of files outside the writable paths can be changed",
    needs: "a mount namespace",
  },
  ipc: {
    what: "System V shared memory, semaphores and message queues are shared with other programs of the user",
    needs: "an IPC namespace",
  },
  landlock: {
    what: "denied paths that are created while a command runs, and device files, have only their own permissions",
    needs: "Landlock (Linux 5.13)",
  },
  truncate: {
    what: "files outside the writable paths can be truncated",
    needs: "a mount namespace, or Landlock ABI 3 (Linux 6.2)",
  },
  "scope-signals": {
    what: "other processes of the user can be signaled",
    needs: "a PID namespace, or Landlock ABI 6 (Linux 6.12)",
  },
  "scope-abstract": {
    what: "abstract Unix sockets of other processes can be connected to",
    needs: "Landlock ABI 6 (Linux 6.12)",
  },
  ports: { what: "TCP is not restricted to the listed ports", needs: "Landlock ABI 4 (Linux 6.7)" },
  "denied-later": {
    what: "a denied path in a writable folder does not exist yet and is not protected if a command creates it",
    needs: "the path to exist before the command starts",
  },
  namespaces: {
    what: "`isolated` commands see other processes and the temporary files of the machine",
    needs: "user, PID, IPC and UTS namespaces",
  },
  seccomp: { what: "system calls are not filtered", needs: "seccomp filters (CONFIG_SECCOMP_FILTER)" },
  "mask-monitor": {
    what: "masks that break while a command runs are not all detected",
    needs: "free inotify instances and watches (`fs.inotify.max_user_instances`)",
  },
  network: { what: "the network is not restricted", needs: "the native executor" },
  user: { what: "commands run as the user of the gateway", needs: "the native executor" },
};

/** Returns what is not enforced, as one clause. A name that only another version knows is shown as it is. */
export function notEnforcedText(features: readonly string[]): string {
  const known: Record<string, NotEnforced | undefined> = NOT_ENFORCED;
  return features.map((name) => known[name]?.what ?? name).join("; ");
}
