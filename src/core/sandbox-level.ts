/**
 * How much of the sandbox is enforced for a command.
 *
 * - `full`: everything that docs/sandbox.md promises for its profile.
 * - `partial`: some promises are not kept; `notEnforced` names them.
 * - `none`: nothing confines the command.
 *
 * @example
 * ```ts
 * const { sandbox } = gateway.check("ls");
 * if (sandbox?.level !== "full") console.log("Commands that cannot be analyzed require approval.");
 * ```
 */
export type SandboxLevel = "full" | "partial" | "none";

/**
 * A promise of the sandbox that is not kept on a machine. docs/sandbox.md describes each.
 *
 * @example
 * ```ts
 * const { sandbox } = gateway.check("ls");
 * console.log(sandbox?.notEnforced.includes("mounts")); // false
 * ```
 */
export type UnsupportedFeature =
  | "landlock"
  | "truncate"
  | "scope-abstract"
  | "scope-signals"
  | "ports"
  | "mounts"
  | "metadata"
  | "ipc"
  | "denied-later"
  | "namespaces"
  | "seccomp"
  | "processes"
  | "mask-monitor"
  | "network"
  | "user";

/**
 * The part of a command's sandbox that the kernel enforces.
 *
 * @example
 * ```ts
 * const { sandbox } = gateway.check("ls");
 * if (sandbox?.level !== "full") console.log(sandbox?.notEnforced);
 * ```
 */
export interface SandboxEnforcement {
  /** The level. */
  level: SandboxLevel;
  /** The promises that are not kept. Empty with `full`, and if the sandbox is off. */
  notEnforced: readonly UnsupportedFeature[];
}
