import type { Network } from "../core/settings.ts";
import type { Profile } from "./access.ts";
import type { Sandboxed } from "./sandbox.ts";

/** What a session's row keeps of its sandbox: enough to name it, and to explain a failure later. */
export interface RememberedSandbox {
  profile: Profile;
  network: Network;
  writable: readonly string[];
  /** Whose protected spots stay as they are; null: it cannot write there at all. */
  workspace: string | null;
  denied: readonly string[];
  temporary: string | null;
  /** The number of the user it runs as; null: the gateway's own. */
  user: number | null;
}

const OFF: RememberedSandbox = {
  profile: "off",
  network: "on",
  writable: [],
  workspace: null,
  denied: [],
  temporary: null,
  user: null,
};

/** Mostly it is the same one again. */
const written = new WeakMap<Sandboxed, string>();

export function remember(sandboxed: Sandboxed | null): string | null {
  if (sandboxed === null) return null;
  let text = written.get(sandboxed);
  if (text === undefined) {
    const { bounds, spec, denied, unavailable } = sandboxed;
    const kept: RememberedSandbox = {
      profile: unavailable ? "off" : bounds.profile,
      network: spec?.network ?? "on",
      writable: spec?.writable ?? [],
      workspace: spec?.temporary ? (spec.writable[0] ?? null) : null,
      denied,
      temporary: spec?.temporary ?? null,
      user: spec?.user?.uid ?? null,
    };
    text = JSON.stringify(kept);
    written.set(sandboxed, text);
  }
  return text;
}

/** Mostly it is the same one again here, too. */
let lastText: string | null = null;
let last = OFF;

export function recall(text: string | null): RememberedSandbox {
  if (text === null) return OFF;
  if (text !== lastText) {
    last = JSON.parse(text) as RememberedSandbox;
    lastText = text;
  }
  return last;
}
