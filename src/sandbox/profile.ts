/** What the kernel keeps a command from. */
export type Profile = "off" | "workspace-write" | "read-only" | "isolated";

/** `read-only` and `isolated` each keep from something that the other does not. */
export const STRICTER: Record<Profile, readonly Profile[]> = {
  off: ["workspace-write", "read-only", "isolated"],
  "workspace-write": ["read-only", "isolated"],
  "read-only": [],
  isolated: [],
};
