import type { SandboxEnforcement } from "../core/sandbox-level.ts";
import type { Network } from "../core/settings.ts";
import type { Profile } from "./access.ts";
import type { SandboxPlan } from "./sandbox.ts";

/** The part of a sandbox that is stored with its session, to show it and to explain failures. */
export interface SandboxSnapshot extends SandboxEnforcement {
  profile: Profile;
  network: Network;
  writable: readonly string[];
  /** The workspace whose protected paths apply. Null when the command cannot write to the workspace. */
  workspace: string | null;
  denied: readonly string[];
  /** The Unix sockets that the operator's configuration allows. */
  sockets: readonly string[];
  temporary: string | null;
  /** The shared folders, such as /tmp, that a private directory hides. */
  hidden: readonly string[];
  /** The uid that the command runs as. Null for the gateway's own uid. */
  user: number | null;
}

const OFF: SandboxSnapshot = {
  profile: "off",
  network: "on",
  writable: [],
  workspace: null,
  denied: [],
  sockets: [],
  temporary: null,
  hidden: [],
  user: null,
  level: "none",
  notEnforced: [],
};

/** Encoded plans. Most sessions of a gateway share one plan. */
const encoded = new WeakMap<SandboxPlan, string>();

export function encodeSnapshot(sandboxed: SandboxPlan | null): string | null {
  if (sandboxed === null) return null;
  let text = encoded.get(sandboxed);
  if (text === undefined) {
    const { access, spec, denied, sockets, level, notEnforced } = sandboxed;
    const kept: SandboxSnapshot = {
      profile: level === "none" ? "off" : access.profile,
      network: spec?.network ?? "on",
      writable: spec?.writable ?? [],
      workspace: spec?.temporary ? (spec.writable[0] ?? null) : null,
      denied,
      sockets,
      temporary: spec?.temporary ?? null,
      hidden: spec?.binds.map(({ at }) => at) ?? [],
      user: spec?.user?.uid ?? null,
      level,
      notEnforced,
    };
    text = JSON.stringify(kept);
    encoded.set(sandboxed, text);
  }
  return text;
}

/** The last decoded snapshot, which is usually needed again. */
let lastText: string | null = null;
let last = OFF;

export function decodeSnapshot(text: string | null): SandboxSnapshot {
  if (text === null) return OFF;
  if (text !== lastText) {
    // A row of an older version has no level, so its command does not count as confined.
    last = { ...OFF, ...(JSON.parse(text) as Partial<SandboxSnapshot>) };
    lastText = text;
  }
  return last;
}
