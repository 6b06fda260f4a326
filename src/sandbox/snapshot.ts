import type { Network } from "../core/settings.ts";
import type { Profile } from "./access.ts";
import type { SandboxPlan } from "./sandbox.ts";

/** What a session's row keeps of its sandbox: enough to name it, and to explain a failure later. */
export interface SandboxSnapshot {
  profile: Profile;
  network: Network;
  writable: readonly string[];
  /** Whose protected paths stay as they are; null: it cannot write there at all. */
  workspace: string | null;
  denied: readonly string[];
  temporary: string | null;
  /** The number of the user it runs as; null: the gateway's own. */
  user: number | null;
}

const OFF: SandboxSnapshot = {
  profile: "off",
  network: "on",
  writable: [],
  workspace: null,
  denied: [],
  temporary: null,
  user: null,
};

/** Mostly it is the same one again. */
const encoded = new WeakMap<SandboxPlan, string>();

export function encodeSnapshot(sandboxed: SandboxPlan | null): string | null {
  if (sandboxed === null) return null;
  let text = encoded.get(sandboxed);
  if (text === undefined) {
    const { access, spec, denied, unavailable } = sandboxed;
    const kept: SandboxSnapshot = {
      profile: unavailable ? "off" : access.profile,
      network: spec?.network ?? "on",
      writable: spec?.writable ?? [],
      workspace: spec?.temporary ? (spec.writable[0] ?? null) : null,
      denied,
      temporary: spec?.temporary ?? null,
      user: spec?.user?.uid ?? null,
    };
    text = JSON.stringify(kept);
    encoded.set(sandboxed, text);
  }
  return text;
}

/** Mostly it is the same one again here, too. */
let lastText: string | null = null;
let last = OFF;

export function decodeSnapshot(text: string | null): SandboxSnapshot {
  if (text === null) return OFF;
  if (text !== lastText) {
    last = JSON.parse(text) as SandboxSnapshot;
    lastText = text;
  }
  return last;
}
