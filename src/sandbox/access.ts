import { join } from "node:path";
import { callerHome } from "../core/caller.ts";
import { SallyportError } from "../core/error.ts";
import type { RunRequest } from "../core/request.ts";
import type { Network, Settings } from "../core/settings.ts";
import { isWithin, nearestReal } from "./workspace.ts";

/** A named set of restrictions that the kernel enforces on a command. */
export type Profile = "off" | "workspace-write" | "read-only" | "isolated";

/** The profiles that are stricter than each profile. `read-only` and `isolated` restrict different things. */
export const STRICTER: Record<Profile, readonly Profile[]> = {
  off: ["workspace-write", "read-only", "isolated"],
  "workspace-write": ["read-only", "isolated"],
  "read-only": [],
  isolated: [],
};

/** The part of a sandbox that a request can change. */
export interface Access {
  profile: Profile;
  network: Network;
  /** The resolved paths that the command can write to, in addition to its temporary directory. Unused with `off`. */
  writable: readonly string[];
}

export interface BasePaths {
  workspace: string;
  home: string;
}

/** Expands `~` to the gateway's home directory and resolves relative paths in the workspace. */
export function expandPath(path: string, { workspace, home }: BasePaths): string {
  if (path === "~" || path.startsWith("~/")) return join(home || callerHome(), path.slice(1));
  return path.startsWith("/") ? path : join(workspace, path);
}

/** Returns the configured access. Writable paths that do not exist are left out until they are created. */
export function configuredAccess(settings: Settings, places: BasePaths): Access {
  const { sandbox: profile, network } = settings;
  if (profile === "read-only") return { profile, network, writable: [] };
  const named = settings.writable.flatMap((path) => {
    const { real, missing } = nearestReal(expandPath(path, places));
    return missing.length === 0 ? [real] : [];
  });
  return { profile, network, writable: [...new Set([places.workspace, ...named])] };
}

type AccessRequest = Pick<RunRequest, "sandbox" | "network" | "writable">;

/**
 * Returns the requested access, with configured values for omitted fields. Throws for a path that no approval allows.
 */
export function requestedAccess(
  { sandbox, network, writable = [] }: AccessRequest,
  {
    configured,
    writing,
    places,
    denied,
  }: { configured: Access; writing: Access; places: BasePaths; denied: readonly string[] },
): Access {
  const profile = sandbox ?? configured.profile;
  const named = writable.map((path) => writableOf(path, places, denied));
  const usual = profile === "read-only" ? [] : writing.writable;
  return { profile, network: network ?? configured.network, writable: [...new Set([...usual, ...named])] };
}

function writableOf(path: string, places: BasePaths, denied: readonly string[]): string {
  const { real, missing } = nearestReal(expandPath(path, places));
  const place = join(real, ...missing);
  if (denied.some((one) => isWithin(place, one))) throw deniedPath(path);
  if (missing.length > 0) throw missingPath(path, real);
  return real;
}

function deniedPath(path: string): SallyportError {
  const message = `The path ${JSON.stringify(path)} in \`writable\` is masked for every sandboxed command.`;
  return new SallyportError("PathOutOfScope", message, [
    {
      action: "check_scope",
      hint: "Use another path, or run the command without the sandbox, which requires approval.",
    },
  ]);
}

function missingPath(path: string, nearest: string): SallyportError {
  return new SallyportError("InvalidRequest", `The path ${JSON.stringify(path)} in \`writable\` does not exist.`, [
    { action: "check_scope", hint: `Use an existing path, such as \`${nearest}\`.` },
  ]);
}

export function networkText(network: Network): string {
  if (typeof network === "string") return `network ${network}`;
  if (network.ports.length === 0) return "no ports";
  // The kernel cannot restrict UDP to a port, so port 53 allows all of it.
  return `ports ${network.ports.join(" ")}${network.ports.includes(53) ? " and all UDP" : ""}`;
}
